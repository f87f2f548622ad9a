import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { afterEach, expect, test } from 'vitest'
import { panelMiddleware } from '../../../adapters/http/node.ts'
import { createPanel } from '../../../lib/panel/index.ts'
import { createTestCommunity } from '../../support/community.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function createMounted(parser: express.RequestHandler[] = []) {
  const { community } = await createTestCommunity()
  const panel = createPanel(community, {
    authorize: ({ headers }) =>
      headers.get('cookie') === 'session=ada' ? { actor: 'ada', networks: 'all', access: 'all' } : null,
    basePath: '/settings/panel',
  })
  const app = express()
  app.use(...parser, panelMiddleware(panel))
  app.use(express.text({ type: '*/*' }), (request, response) => {
    response.send(`the application got ${request.body}`)
  })
  return { community, origin: await listen(app) }
}

const headers = { cookie: 'session=ada', 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
const body = 'name=Express&access=*'

test.each([
  ['nothing parses bodies', []],
  ['the host parses forms', [express.urlencoded({ extended: false })]],
])('in Express a form makes a key where %s', async (_, parser) => {
  const { community, origin } = await createMounted(parser)
  const made = await fetch(`${origin}/settings/panel/1/keys`, { method: 'POST', headers, body })
  expect(made.status).toBe(201)
  expect((await community.keys.list('1')).map(({ name }) => name)).toContain('Express')
  expect((await fetch(`${origin}/settings/panel/1/keys`)).status).toBe(403)
})

test('a request for another path is left to the application, with its body', async () => {
  const { origin } = await createMounted()
  const answer = await fetch(`${origin}/settings`, { method: 'POST', headers, body })
  expect(await answer.text()).toBe(`the application got ${body}`)
})

test('a form that is too large is refused, and the server lives', async () => {
  const { origin } = await createMounted()
  const large = { method: 'POST', headers, body: `name=${'x'.repeat(200_000)}` }
  expect((await fetch(`${origin}/settings/panel/1/keys`, large)).status).toBe(413)
  expect((await fetch(`${origin}/settings/panel/1/keys`, { headers })).status).toBe(200)
})
