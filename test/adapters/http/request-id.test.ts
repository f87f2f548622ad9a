/** The host's id of a request, as each adapter gets it. */
import type { IncomingMessage } from 'node:http'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { requestId as honoRequestId } from 'hono/request-id'
import { expect, onTestFinished, test } from 'vitest'
import { communityPlugin } from '../../../adapters/http/fastify.ts'
import { communityMiddleware as honoMiddleware } from '../../../adapters/http/hono.ts'
import { communityMiddleware as koaMiddleware } from '../../../adapters/http/koa.ts'
import { communityMiddleware, toNodeListener } from '../../../adapters/http/node.ts'
import { createTestCommunity } from '../../support/community.ts'
import { onLoopback } from '../../support/on-loopback.ts'

const path = '/admin/v1/networks/1/tags'

async function failing() {
  const before = () => {
    throw new Error('broken')
  }
  const { community, token } = await createTestCommunity({ allowHttp: true, hooks: { before, onError: () => {} } })
  return { community, headers: { authorization: `Bearer ${token}`, 'x-request-id': 'given-7' } }
}
type Failing = Awaited<ReturnType<typeof failing>>

async function idAt(origin: string, { headers }: Failing): Promise<string> {
  const response = await fetch(origin + path, { headers })
  expect(response.status).toBe(500)
  return ((await response.json()) as { readonly request_id: string }).request_id
}

const headerOf = ({ headers }: IncomingMessage) => headers['x-request-id']

test('a listener of Node takes the id from its request or its response', async () => {
  const host = await failing()
  expect(await idAt(await onLoopback(toNodeListener(host.community, { requestId: headerOf })), host)).toBe('given-7')
  const api = toNodeListener(host.community, { requestId: (_, response) => response.getHeader('x-request-id') })
  const origin = await onLoopback((request, response) => {
    response.setHeader('x-request-id', 'ours-8')
    api(request, response)
  })
  expect(await idAt(origin, host)).toBe('ours-8')
})

test('Express has the id that earlier middleware has put on the request', async () => {
  const host = await failing()
  const app = express()
  app.use((request, _response, next) => {
    Object.assign(request, { id: 9 })
    next()
  })
  const requestId = (request: IncomingMessage & { readonly id?: unknown }) => request.id
  app.use(communityMiddleware(host.community, { requestId, bodyStallMs: 1000 }))
  expect(await idAt(await onLoopback(app), host)).toBe('9')
})

test('Fastify has its own id by default', async () => {
  const host = await failing()
  const app = Fastify({ requestIdHeader: 'x-request-id' })
  await app.register(communityPlugin(host.community))
  onTestFinished(() => app.close())
  expect(await idAt(await app.listen({ port: 0, host: '127.0.0.1' }), host)).toBe('given-7')
  const other = Fastify()
  await other.register(communityPlugin(host.community, { requestId: ({ id, raw }) => `${id}/${headerOf(raw)}` }))
  onTestFinished(() => other.close())
  expect(await idAt(await other.listen({ port: 0, host: '127.0.0.1' }), host)).toBe('req-1/given-7')
})

test('Hono has the id of its middleware by default', async () => {
  const host = await failing()
  const app = new Hono()
  app.use(honoRequestId())
  app.use(honoMiddleware(host.community))
  const response = await app.request(`http://localhost${path}`, { headers: host.headers })
  expect([response.headers.get('x-request-id'), await response.json()]).toMatchObject(['given-7', { request_id: 'given-7' }])
})

test.each([
  ['node', communityMiddleware, 'communityMiddleware'],
  ['a listener', toNodeListener, 'toNodeListener'],
  ['koa', koaMiddleware, 'communityMiddleware'],
  ['fastify', communityPlugin, 'communityPlugin'],
  ['hono', honoMiddleware, 'communityMiddleware'],
] as const)('%s names every option that it cannot use', async (_, mount, call) => {
  const { community } = await failing()
  const wrong = { requestId: 'x-request-id', requestID: () => 1 }
  expect(() => mount(community, wrong as never)).toThrow(
    `${call}: option \`requestID\` does not exist; did you mean requestId?; option \`requestId\` must be a function, got "x-request-id"`,
  )
  for (const none of [null, '/community', []])
    expect(() => mount(community, none as never)).toThrow(
      `${call}: the options must be an object, as in ${call}(community, { requestId })`,
    )
})
