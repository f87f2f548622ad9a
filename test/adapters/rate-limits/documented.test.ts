/** The example of docs/embedding/limits.md, run unchanged by two processes at once. */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openStorage } from '../../../daemon/server/storage/open.ts'
import { createCommunity } from '../../../lib/index.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { testPostgres, uniqueName } from '../../support/postgres.ts'
import { shared } from '../../support/shared.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..', '..')
const server = await testPostgres()

const project = await shared('package')

/** The example that defines this community. */
async function exampleOf(name: string): Promise<string> {
  const page = await readFile(join(root, 'docs', 'embedding', 'limits.md'), 'utf8')
  const blocks = [...page.matchAll(/```[jt]s\n(.*?)```/gs)].map(([, code = '']) => code)
  const example = blocks.find((code) => code.includes(`const ${name} = `)) ?? ''
  return `import { createCommunity } from 'folkmoot'\n${example}`
}

/** The work of each process: 60 requests, one after another. It ends when the community is closed. */
const requests = (name: string) => `
const left = []
for (let n = 0; n < 60; n++) {
  const request = new Request('https://api.test/admin/v1/networks/demo/me', { headers: { authorization: 'Bearer ' + process.env.TOKEN } })
  const { status, headers } = await ${name}.fetch(request)
  left.push([status, Number(headers.get('ratelimit-remaining'))])
}
await ${name}.close()
console.log(JSON.stringify(left))`

/** A database that no one else uses, as the example uses the default schema. */
async function newDatabase(): Promise<string> {
  const admin = await server.client()
  const name = uniqueName('documented')
  await admin.query(`CREATE DATABASE ${name}`)
  onTestFinished(async () => void (await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)))
  const url = new URL(server.url)
  url.pathname = `/${name}`
  return url.href
}

describe('onMany', () => {
  const name = 'onMany'
  test('two processes with the documented lines let through 100 requests together', async () => {
    const directory = temporaryDirectory()
    const address = await newDatabase()
    const { storage } = await openStorage(address, undefined, () => {})
    const community = createCommunity({ storage })
    const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' }
    const { network } = await community.networks.create({ subdomain: 'demo', title: 'Demo', owner })
    const { token } = await community.keys.create({ network: network.id, name: 'test', scopes: ['*'] })
    await community.close()

    const example = join(project, `${name}.mjs`)
    await writeFile(example, (await exampleOf(name)) + requests(name))
    const start = () =>
      run(process.execPath, [example], { cwd: directory, env: { ...process.env, DATABASE_URL: address, TOKEN: token } })
    const outputs = await Promise.all([start(), start()])
    const responses = outputs.flatMap(({ stdout }) => JSON.parse(stdout) as [number, number][])
    const passed = responses.filter(([status]) => status === 200).map(([, remaining]) => remaining)
    expect(passed.sort((a, b) => b - a)).toEqual(Array.from({ length: 100 }, (_, index) => 99 - index))
    expect(responses.filter(([status]) => status === 429)).toHaveLength(20)
  })
})
