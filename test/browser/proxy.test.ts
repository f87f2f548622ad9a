/** `folkmoot serve` behind a proxy that ends TLS, and the panel in Express, Fastify and Hono, in a real browser. */
import { createServer, type IncomingMessage, type RequestListener, request, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import express from 'express'
import fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { panelMiddleware } from '../../adapters/http/node.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { serve } from '../../daemon/server/serve/serve.ts'
import { createCommunity } from '../../lib/index.ts'
import { createPanel, type Panel } from '../../lib/panel/index.ts'
import { certificateFor } from '../support/certificate.ts'
import { shared } from '../support/shared.ts'
import { type Browser, connect, isInstalled } from './browser.ts'
import { keyboardOf } from './keyboard.ts'

describe.skipIf(!isInstalled)('the panel behind a proxy and in hosts, in Chromium', () => {
  const closing: (() => unknown)[] = []
  let browser: Browser
  beforeAll(async () => {
    browser = await connect(await shared('browser'))
  })
  afterAll(async () => {
    await browser.close()
    for (const close of closing.reverse()) await close()
  })

  async function listen(server: ReturnType<typeof createServer>): Promise<number> {
    closing.push(() => {
      server.closeAllConnections()
      server.close()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  }

  /** A proxy with a certificate of this run, which ends TLS and takes the prefix `/tenant` away. */
  async function tlsProxyTo(target: string): Promise<string> {
    const pem = certificateFor('localhost')
    const forward: RequestListener = (incoming, outgoing) => {
      const headers = { ...incoming.headers, 'x-forwarded-proto': 'https', 'x-forwarded-host': incoming.headers.host }
      const path = incoming.url?.replace(/^\/tenant/, '') ?? '/'
      const onward = request(new URL(path, target), { method: incoming.method, headers }, (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers)
        response.pipe(outgoing)
      })
      incoming.pipe(onward)
    }
    return `https://localhost:${await listen(createTlsServer(pem, forward))}/tenant`
  }

  test('behind a prefix and TLS the link lets in with a Secure __Host- cookie, a key is made, and signing out ends it', async () => {
    const lines: string[] = []
    const out = { line: (text: string) => void lines.push(text), warn: () => {} }
    const lists = { webhookUrl: [], webhookToken: [], webhookTokenFile: [], fault: [] }
    const flags = { demo: true, trustProxy: true, json: true, port: 0, host: '127.0.0.1', storage: 'memory:' }
    const server = await serve({ ...flags, ...lists }, out)
    closing.push(() => server.close())
    const { url, panel } = JSON.parse(lines[0] ?? '')
    const outside = await tlsProxyTo(url)
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    const page = await context.newPage()
    await page.goto(panel.replace(url, outside))
    const [cookie] = await context.cookies()
    expect(cookie).toMatchObject({ name: expect.stringMatching(/^__Host-/), secure: true, httpOnly: true, sameSite: 'Strict' })
    await page.getByRole('link', { name: 'API keys' }).first().click()
    await page.getByRole('link', { name: 'Create a key' }).first().click()
    await page.getByLabel('Name').fill('By proxy')
    await page.getByLabel('Read everything').check()
    await page.getByRole('button', { name: 'Create the key' }).click()
    await page.getByText('is shown this once').waitFor()
    expect(page.url()).toContain(outside)
    const keys = keyboardOf(page)
    await keys.follow('Sign out', 'You are signed out')
    expect(keys.problems).toEqual([])
    expect(await context.cookies()).toEqual([])
    await context.close()
  })

  const hosts: Readonly<Record<string, (panel: Panel) => Promise<RequestListener>>> = {
    async Express(panel) {
      const app = express()
      app.use(express.urlencoded({ extended: true }), panelMiddleware(panel))
      return app
    },
    async Fastify(panel) {
      const middleware = panelMiddleware(panel)
      const app = fastify()
      app.addHook('onRequest', (asked, reply, done) => middleware(asked.raw, reply.raw, () => done()))
      await app.ready()
      return (incoming: IncomingMessage, outgoing: ServerResponse) => app.routing(incoming, outgoing)
    },
    async Hono(panel) {
      // Names that the compiler does not follow: their types need those of the DOM.
      const [hono, server]: string[] = ['hono', '@hono/node-server']
      const { Hono } = await import(hono ?? '')
      const { getRequestListener } = await import(server ?? '')
      const app = new Hono()
      app.use(async ({ req }: { req: { raw: Request } }, next: () => Promise<void>) => (await panel(req.raw)) ?? next())
      return getRequestListener(app.fetch)
    },
  }

  test.each(Object.keys(hosts))('in %s a key is created, shown once, and revoked', async (name) => {
    const community = createCommunity({ storage: memoryStorage() })
    const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' }
    await community.networks.create({ id: '1', subdomain: 'paint-pals', title: 'Paint Pals', owner })
    const panel = createPanel(community, { authorize: () => ({ actor: 'ada', networks: ['1'], access: 'all' }) })
    const listener = await hosts[name]?.(panel)
    const port = await listen(createServer(listener))
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`http://127.0.0.1:${port}/admin/panel/1/keys/new`)
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('Read everything').check()
    await page.getByRole('button', { name: 'Create the key' }).click()
    await page.getByText('is shown this once').waitFor()
    await page.reload()
    await page.getByText('This form was sent before').first().waitFor()
    expect(await page.locator('#token').count()).toBe(0)
    await page.goBack()
    await page.getByRole('link', { name: 'API keys' }).first().click()
    await page.getByRole('link', { name: `Revoke ${name}` }).click()
    await page.getByRole('button', { name: 'Revoke the key' }).click()
    await page.getByText('The key is revoked.').waitFor()
    expect((await community.keys.list('1')).map(({ status }) => status)).toEqual(['Revoked'])
    await context.close()
  })
})
