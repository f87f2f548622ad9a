/** Pages of another origin that call the API: the examples of docs/hosts.md, run. */
import { readFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import express from 'express'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { communityMiddleware as honoMiddleware } from '../../../adapters/http/hono.ts'
import { communityMiddleware as nodeMiddleware } from '../../../adapters/http/node.ts'
import { untyped } from '../../../bench/http/untyped.ts'
import { createTestCommunity } from '../../support/community.ts'
import { onLoopback } from '../../support/on-loopback.ts'

const { getRequestListener } = await untyped<{ getRequestListener(fetch: unknown): RequestListener }>('@hono/node-server')

const page = await readFile(join(import.meta.dirname, '..', '..', '..', 'docs', 'hosts.md'), 'utf8')
const section = /^## From a browser\n(.*?)^## /ms.exec(page)?.[1] ?? ''
const blocks = [...section.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code)

/** Runs a block of the page on an application. */
async function apply(block: string, app: unknown, communityMiddleware: unknown, community: unknown): Promise<void> {
  const [, name = '', from = ''] = /^import (.*) from '(.*)'$/m.exec(block) ?? []
  const cors = (await untyped<Record<string, unknown>>(from))[name.startsWith('{') ? 'cors' : 'default']
  const body = block.replace(/^import .*$/m, '')
  new Function('cors', 'app', 'communityMiddleware', 'community', body)(cors, app, communityMiddleware, community)
}

const hosts = [
  {
    host: 'Express',
    async start(block: string, community: object) {
      const app = express()
      await apply(block, app, nodeMiddleware, community)
      return onLoopback(app)
    },
  },
  {
    host: 'Hono',
    async start(block: string, community: object) {
      const app = new Hono()
      await apply(block, app, honoMiddleware, community)
      return onLoopback(getRequestListener(app.fetch))
    },
  },
  {
    host: 'any other host',
    async start(block: string, community: object) {
      const respond = new Function('community', `${block.replace('export ', '')}; return respond`)(community)
      return onLoopback(getRequestListener(respond))
    },
  },
]

test('the page has an example of each of these hosts', () => {
  expect(blocks).toHaveLength(hosts.length)
})

test.each(hosts)('in $host a page of the named origin may call the API, and one of another may not', async ({ host, start }) => {
  const { community, token } = await createTestCommunity({ allowHttp: true })
  const origin = await start(blocks[hosts.findIndex((each) => each.host === host)] ?? '', community)
  const url = `${origin}/admin/v1/networks/1/tags`
  const from = async (page: string) => {
    const wish = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type' }
    const preflight = await fetch(url, { method: 'OPTIONS', headers: { origin: page, ...wish } })
    const headers = { origin: page, authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const created = await fetch(url, { method: 'POST', headers, body: '{"title":"Oil"}' })
    const refused = await fetch(url, { headers: { origin: page, authorization: 'Bearer none' } })
    return {
      preflight: [preflight.status, preflight.headers.get('access-control-allow-methods')?.includes('POST')],
      allowed: [preflight, created, refused].map((each) => each.headers.get('access-control-allow-origin')),
      statuses: [created.status, refused.status],
      exposed: created.headers.get('access-control-expose-headers'),
    }
  }
  const own = 'https://app.example.org'
  const { preflight, allowed, statuses, exposed } = await from(own)
  expect(preflight).toEqual([204, true])
  expect(allowed).toEqual([own, own, own])
  expect(statuses).toEqual([201, 401])
  expect(exposed).toContain('retry-after')
  expect((await from('https://evil.example')).allowed).not.toContain('https://evil.example')
})
