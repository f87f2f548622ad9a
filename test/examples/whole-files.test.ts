/** The fold-outs "Whole file" of the pages: they are current, and each of them is a program that runs alone. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { blocksOf, pathOf, setups, wholeFilesOf, withWholeFiles } from '../../scripts/whole-files.ts'
import { shared } from '../support/shared.ts'

const run = promisify(execFile)

/** The server that the examples of the client call, with a file that it can download. */
const server = `
import { createServer } from 'node:http'
import { createCommunity } from 'folkmoot'
import { toNodeListener } from 'folkmoot/node'
import { ports } from 'folkmoot/ports'
import { memoryStorage } from 'folkmoot/storage/memory'

const http = createServer((request, response) => {
  const path = new URL(request.url, 'http://here').pathname
  if (path === '/picture') response.writeHead(200, { 'content-type': 'image/png', 'content-length': 3 }).end('...')
  else listener(request, response)
})
await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve))
export const baseUrl = 'http://127.0.0.1:' + http.address().port
const assets = { put: async () => baseUrl + '/picture', remove: async () => {} }
const community = createCommunity({ storage: memoryStorage(), allowHttp: true, ports: ports({ assets }) })
const listener = toNodeListener(community)
const owner = { email: 'grace@example.org', first_name: 'Grace', last_name: 'Oak' }
const { network } = await community.networks.create({ subdomain: 'paint-pals', title: 'Paint Pals', owner })
export const { token } = await community.keys.create({ network: network.id, name: 'Connector', scopes: ['*'] })
`

const here = (code: string): string =>
  code
    .replace(
      "const baseUrl = 'https://api.example.org'\nconst token = process.env.TOKEN\n",
      "import { baseUrl, token } from './server.mjs'\n",
    )
    // The ports of the page may be taken on this machine.
    .replace(/\.listen\(\d+\)/g, ".listen(0, '127.0.0.1')")

describe.each(Object.entries(setups))('docs/%s.md', (name, setup) => {
  test('has the fold-outs that `npx node scripts/whole-files.ts` writes', async () => {
    const page = await readFile(pathOf(name), 'utf8')
    const state = withWholeFiles(page, setup) === page ? 'current' : 'out of date: run `npx node scripts/whole-files.ts`'
    expect(state).toBe('current')
    expect(blocksOf(page).length).toBeGreaterThan(0)
  })

  test('has whole files that each run alone', async () => {
    const files = wholeFilesOf(await readFile(pathOf(name), 'utf8'))
    expect(files.length).toBeGreaterThan(0)
    const directory = await mkdtemp(join(await shared('package'), 'whole-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    await writeFile(join(directory, 'server.mjs'), server)
    await Promise.all(
      files.map(async (code, place) => {
        await mkdir(join(directory, String(place), 'data', 'outbox'), { recursive: true })
        await writeFile(join(directory, `file-${place}.mjs`), here(code))
      }),
    )
    // One process for all of them: each is a module of its own, in a folder of its own.
    const all = `const root = process.cwd()
for (let place = 0; place < ${files.length}; place++) {
  process.chdir(root + '/' + place)
  await import('./file-' + place + '.mjs').catch((error) => {
    console.error('whole file ' + place + ': ' + error.stack)
    process.exit(1)
  })
}
process.exit(0)`
    await writeFile(join(directory, 'all.mjs'), all)
    await run(process.execPath, ['--no-warnings', 'all.mjs'], { cwd: directory })
  })
})
