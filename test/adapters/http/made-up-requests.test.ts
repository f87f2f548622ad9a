/** Requests that came over no connection: `inject` of Fastify makes them, and so do adapters of function platforms. */
import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { communityPlugin, panelPlugin } from '../../../adapters/http/fastify.ts'
import { communityMiddleware, panelMiddleware } from '../../../adapters/http/node.ts'
import { createPanel } from '../../../lib/panel/index.ts'
import { createTestCommunity } from '../../support/community.ts'

test('`inject` of Fastify gets every response, of whatever length, and the process lives', async () => {
  const { community, token } = await createTestCommunity({ allowHttp: true })
  const app = Fastify()
  await app.register(communityPlugin(community))
  await app.register(panelPlugin(createPanel(community, { authorize: () => null })))
  const long = await app.inject({ url: '/admin/v1/spec.json' })
  expect([long.statusCode, Object.keys(long.json().paths).length]).toEqual([200, expect.any(Number)])
  const headers = { authorization: `Bearer ${token}`, expect: '100-continue' }
  const made = await app.inject({ method: 'POST', url: '/admin/v1/networks/1/tags', headers, payload: { title: 'Gärtner 🌱' } })
  expect([made.statusCode, made.json().title]).toEqual([201, 'Gärtner 🌱'])
  expect((await app.inject({ url: '/admin/v1/networks/1/me' })).statusCode).toBe(401)
  expect((await app.inject({ url: '/admin/panel/' })).statusCode).toBe(403)
})

/** As an adapter makes them of an event: a socket of few properties, no raw headers, numbers among the headers, the body parsed. */
function madeUp(method: string, url: string, headers: Record<string, string>, body?: string) {
  const socket = { encrypted: true, remoteAddress: '203.0.113.7', on() {}, off() {}, once() {}, destroy() {} }
  const request = new IncomingMessage(socket as unknown as Socket)
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  Object.assign(request, { method, url, headers: { host: 'api.test', ...headers, ...length }, complete: true })
  if (body !== undefined) Object.assign(request, { body: Buffer.from(body) })
  const response = new ServerResponse(request)
  const chunks: Buffer[] = []
  const keep = (chunk: unknown): void => void (chunk && chunks.push(Buffer.from(chunk as string)))
  const ended = new Promise<void>((resolve) => {
    Object.assign(response, {
      // Nothing ever drains there.
      write: (chunk: unknown) => {
        keep(chunk)
        return false
      },
      end: (chunk: unknown) => {
        keep(chunk)
        resolve()
        return response
      },
    })
  })
  return { request, response, ended, text: () => Buffer.concat(chunks).toString() }
}

test('a function platform whose adapter makes requests up gets every response', async () => {
  const { community, token } = await createTestCommunity()
  const middleware = communityMiddleware(community)
  const ask = async (...parts: Parameters<typeof madeUp>) => {
    const { request, response, ended, text } = madeUp(...parts)
    middleware(request, response, () => response.end('the application'))
    await ended
    return { status: response.statusCode, body: JSON.parse(text()) }
  }
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  expect(await ask('GET', '/admin/v1/networks/1/me', headers)).toMatchObject({ status: 200, body: { network_id: '1' } })
  expect(await ask('POST', '/admin/v1/networks/1/tags', headers, '{"title":"Gardener"}')).toMatchObject({ status: 201 })
  expect(await ask('GET', '/admin/v1/spec.json', headers)).toMatchObject({ status: 200, body: { paths: {} } })
  expect(await ask('GET', '/admin/v1/networks/1/me', {})).toMatchObject({ status: 401 })
})

test('the panel of a function platform responds', async () => {
  const { community } = await createTestCommunity()
  const panel = createPanel(community, { authorize: () => ({ actor: 'ada', networks: 'all', access: 'read' }) })
  const { request, response, ended, text } = madeUp('GET', '/admin/panel/1/keys', {})
  panelMiddleware(panel)(request, response, () => response.end('the application'))
  await ended
  expect(text()).toContain('API keys')
})
