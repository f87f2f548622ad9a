/** The Worker of docs/examples, with the variables that docs/hosts.md gives `wrangler dev`, which speaks plain HTTP. */
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createCommunity } from '../../lib/index.ts'

const docs = join(import.meta.dirname, '..', '..', 'docs')
const page = readFileSync(join(docs, 'hosts.md'), 'utf8')
const example = readFileSync(join(docs, 'examples', 'workers.ts'), 'utf8')

type Environment = Readonly<Record<string, string>>

/** The module of the example, as each start of `wrangler dev` evaluates it. */
function worker(): { fetch(request: Request, environment: Environment): Promise<Response> } {
  const code = stripTypeScriptTypes(example)
    .replace(/^import .*$/gm, '')
    .replace('export default', 'return')
  return new Function('createCommunity', 'memoryStorage', code)(createCommunity, memoryStorage)
}

const [command = ''] = /^npx wrangler dev .*$/m.exec(page) ?? []
const variables: Environment = Object.fromEntries(
  [...command.matchAll(/--var (\w+):(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
)

test('the command of docs/hosts.md for `wrangler dev` serves the request of the page', async () => {
  expect(example).toContain(command)
  const [, header = '', url = ''] = /^curl -H 'Authorization: (Bearer only[^']*)' (http:\S+)$/m.exec(page) ?? []
  const request = () => new Request(url, { headers: { authorization: header } })
  const response = await worker().fetch(request(), variables)
  expect([response.status, await response.json()]).toMatchObject([200, { name: 'Ada Ash' }])
  const { ALLOW_HTTP: _, ...inProduction } = variables
  expect((await worker().fetch(request(), inProduction)).status).toBe(403)
})
