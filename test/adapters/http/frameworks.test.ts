/** How the middleware fits into applications of the frameworks. Types fail in `npm run check:types`, before the tests run. */
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { communityPlugin } from '../../../adapters/http/fastify.ts'
import { communityMiddleware as honoMiddleware } from '../../../adapters/http/hono.ts'
import { communityMiddleware, panelMiddleware } from '../../../adapters/http/node.ts'
import { createPanel } from '../../../lib/panel/index.ts'
import { createTestCommunity } from '../../support/community.ts'

const me = '/admin/v1/networks/1/me'

test('the variables of a Hono application may be typed', async () => {
  const { community, token } = await createTestCommunity()
  const app = new Hono<{ Variables: { user: string } }>()
  app.use(honoMiddleware(community))
  const answer = await app.request(`https://api.test${me}`, { headers: { authorization: `Bearer ${token}` } })
  expect(answer.status).toBe(200)
})

test('the middleware fits typed applications of Express and Fastify', async () => {
  const { community } = await createTestCommunity()
  const panel = createPanel(community, { authorize: () => null })
  const apps = [
    express().use(communityMiddleware(community, { requestId: (request) => request.headers['x-request-id'] })),
    express().use(panelMiddleware(panel)),
    Fastify().addHook('onRequest', (request, reply, done) => panelMiddleware(panel)(request.raw, reply.raw, done)),
  ]
  expect(apps).toHaveLength(3)
})

test('Fastify is told to register the API on the application, where its paths are found', async () => {
  const { community } = await createTestCommunity({ basePath: '/community' })
  const scoped = Fastify()
  scoped.register(async (scope) => scope.register(communityPlugin(community)), { prefix: '/community' })
  await expect(scoped.ready()).rejects.toThrow(
    "communityPlugin: register it on the application itself, and set `basePath: '/community'` of createCommunity.",
  )
  const elsewhere = Fastify()
  elsewhere.register(communityPlugin(community), { prefix: '/api' })
  await expect(elsewhere.ready()).rejects.toThrow(
    "communityPlugin: option `prefix` is not used: set `basePath: '/api'` of createCommunity instead",
  )
  const same = Fastify()
  same.register(communityPlugin(community), { prefix: '/community' })
  await same.ready()
})
