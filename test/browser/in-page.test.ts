/** The packed library in a page of a real browser: the API runs there, over the storage in memory. */
import { execFile } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../support/directory.ts'
import { packed } from '../support/packed.ts'
import { shared } from '../support/shared.ts'
import { connect, isInstalled } from './browser.ts'

const page = `
import { createCommunity } from './package/dist/lib/index.js'
import { memoryStorage } from './package/dist/adapters/storage/memory.js'

const records = []
const outbox = { append: async (commits) => void records.push(...commits.flat()), close: async () => {} }
const community = createCommunity({ storage: memoryStorage({ outbox }) })
const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' }
const { network } = await community.networks.create({ subdomain: 'paint-pals', title: 'Paint Pals', owner })
const { token } = await community.keys.create({ network: network.id, name: 'Page', scopes: ['*'] })

globalThis.ask = async (method, path, value) => {
  const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
  const body = value && JSON.stringify(value)
  const url = 'https://community.example/admin/v1/networks/paint-pals' + path
  const answer = await community.fetch(new Request(url, { method, headers, body }))
  return [answer.status, await answer.json()]
}
globalThis.events = () => records.filter(({ kind, audience }) => kind === 'event' && audience === 'integration').map(({ body }) => JSON.parse(body).event_type)
document.title = 'ready'
`

const tarball = await packed()

/** The page's script in one file, bundled as for browsers. */
async function bundled(): Promise<string> {
  const directory = temporaryDirectory()
  await promisify(execFile)('tar', ['-xzf', tarball, '-C', directory])
  await symlink(join(import.meta.dirname, '..', '..', 'node_modules'), join(directory, 'node_modules'))
  await writeFile(join(directory, 'page.js'), page)
  const build = await rolldown({ cwd: directory, input: 'page.js', platform: 'browser' })
  const { output } = await build.generate({ format: 'esm' })
  await build.close()
  const [{ code, imports }] = output
  expect(imports).toEqual([])
  return code
}

test('the library and the storage in memory import no module of Node', async () => {
  expect((await bundled()).match(/\b(?:from|import|import\(|require\()\s*["'](?:node:)?[\w/]+["']/g)).toBeNull()
})

test.skipIf(!isInstalled)('they serve requests in a page, and write events', async () => {
  const script = await bundled()
  const server = createServer((request, response) => {
    const isScript = request.url === '/page.js'
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' })
    response.end(isScript ? script : '<!doctype html><script type="module" src="/page.js"></script>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const browser = await connect(await shared('browser'))
  try {
    const context = await browser.newContext()
    const tab = await context.newPage()
    const thrown: string[] = []
    tab.on('pageerror', ({ message }) => thrown.push(message))
    await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    await expect.poll(async () => [await tab.title(), thrown], { timeout: 60_000 }).toEqual(['ready', []])

    const made = `ask('POST', '/members', { email: 'bo@example.org', first_name: 'Bo', last_name: 'Birch', member_type: 'full' })`
    expect(await tab.evaluate(made)).toMatchObject([201, { email: 'bo@example.org', first_name: 'Bo' }])
    expect(await tab.evaluate(`ask('GET', '/members')`)).toMatchObject([200, { items: [{}, {}] }])
    expect(await tab.evaluate(`ask('POST', '/members', { email: 'nobody' })`)).toMatchObject([422, {}])
    expect(await tab.evaluate('events()')).toEqual(['MemberJoinedHook'])
    // A group of requests, which the storage takes one after the other.
    const many = `Promise.all(Array.from({ length: 20 }, (_, place) => ask('POST', '/spaces', { name: 'Space ' + place })))`
    expect((await tab.evaluate(many)) as object).toHaveLength(20)
    expect(thrown).toEqual([])
    await context.close()
  } finally {
    await browser.close()
    server.closeAllConnections()
    server.close()
  }
})
