/** The examples of docs/client.md, run unchanged against a server, and what they print. */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../support/directory.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const source = (path: string): string => `'${pathToFileURL(join(root, path))}'`

/** The server of the examples: a network with its owner, and a place for files. */
const server = (): string => `
import { createServer } from 'node:http'
import { createCommunity as create } from ${source('lib/index.ts')}
import { toNodeListener } from ${source('adapters/http/node.ts')}
import { ports } from ${source('adapters/ports/index.ts')}
import { memoryStorage as memory } from ${source('adapters/storage/memory.ts')}

const files = new Map()
const http = createServer((request, response) => {
  const file = files.get(request.url)
  if (file) response.writeHead(200, { 'content-type': 'image/png', 'content-length': file.length }).end(file)
  else listener(request, response)
})
await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve))
const baseUrl = 'http://127.0.0.1:' + http.address().port
const assets = {
  put: async (bytes, { id }) => {
    files.set('/' + id, bytes)
    return baseUrl + '/' + id
  },
  remove: async () => {},
}
const hosting = create({ storage: memory(), allowHttp: true, ports: ports({ assets }) })
const listener = toNodeListener(hosting)
const { network: ours } = await hosting.networks.create({
  subdomain: 'paint-pals',
  title: 'Paint Pals',
  owner: { email: 'grace@example.org', first_name: 'Grace', last_name: 'Oak' },
})
const { token } = await hosting.keys.create({ network_id: ours.id, name: 'Connector', scopes: ['*'] })
`

test('the examples of docs/client.md print the documented lines', async () => {
  const page = await readFile(join(root, 'docs', 'client.md'), 'utf8')
  const { exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const blocks = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) =>
    code.replace(/'folkmoot(\/[\w/-]+)?'/g, (_, below = '') =>
      source(exports[`.${below}`].default.replace('./dist/', '').replace(/\.js$/, '.ts')),
    ),
  )
  const printed = [...page.matchAll(/^This prints (.*?)\.(?:\s|$)/gms)].flatMap(([, sentence = '']) =>
    [...sentence.matchAll(/`([^`]+)`/g)].map(([, text]) => text),
  )
  const file = join(temporaryDirectory(), 'client-page.ts')
  await writeFile(file, `// @ts-nocheck\n${server()}\n${blocks.join('\n')}\nprocess.exit(0)\n`)
  const { stdout } = await run(process.execPath, [file])
  expect(stdout.trim().split('\n')).toEqual(printed)
  expect(printed.length).toBeGreaterThanOrEqual(blocks.length)
})
