/** The examples of docs/client.md, run unchanged against a server, and what they print. */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { shared } from '../support/shared.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')

/** The server of the examples: a network with its owner, and a place for files. */
const server = `
import { createServer } from 'node:http'
import { createCommunity as create } from 'folkmoot'
import { toNodeListener } from 'folkmoot/node'
import { ports } from 'folkmoot/ports'
import { memoryStorage as memory } from 'folkmoot/storage/memory'

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
const { token } = await hosting.keys.create({ network: ours.id, name: 'Connector', scopes: ['*'] })
`

test('the examples of docs/client.md print the documented lines', async () => {
  const page = await readFile(join(root, 'docs', 'client.md'), 'utf8')
  const blocks = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code)
  const printed = [...page.matchAll(/^This prints (.*?)\.(?:\s|$)/gms)].flatMap(([, sentence = '']) =>
    [...sentence.matchAll(/`([^`]+)`/g)].map(([, text]) => text),
  )
  const file = join(await shared('package'), 'client-page.mjs')
  await writeFile(file, `${server}\n${blocks.join('\n')}\nprocess.exit(0)\n`)
  const { stdout } = await run(process.execPath, [file])
  expect(stdout.trim().split('\n')).toEqual(printed)
  expect(printed.length).toBeGreaterThanOrEqual(blocks.length)
})
