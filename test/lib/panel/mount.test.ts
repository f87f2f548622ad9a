/** The panel behind prefixes and in hosts that speak in `Request` and `Response`. */
import { expect, test } from 'vitest'
import { createTestPanel } from './support.ts'

test('behind a proxy that removes a prefix, every link and way leads back through the proxy', async () => {
  const { panel, community } = await createTestPanel()
  await community.endpoints.upsert({ network: '1', url: 'https://hooks.example.org/a', token: true })
  const outside = 'https://public.test/tenant/admin/panel/'
  /** Asks as the proxy does: the panel sees neither the public host nor the prefix. */
  const ask = (url: string) => panel(new Request(url.replace('https://public.test/tenant', 'http://10.0.0.7:4000')))
  const seen = new Set<string>()
  const waiting = [outside, `${outside}1`]
  for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
    const here = url
    if (seen.has(here) || /reference\/|events\//.test(here)) continue
    seen.add(here)
    const response = await ask(here)
    expect([here, response && response.status < 400]).toEqual([here, true])
    const text = (await response?.text()) ?? ''
    const location = response?.headers.get('location')
    const links = [...text.matchAll(/ (?:href|src|action)="([^"#]+)"/g)].map(([, link]) => link ?? '')
    for (const link of [...links, ...(location ? [location] : [])]) {
      const target = new URL(link.replaceAll('&amp;', '&'), here).href
      if (target === 'data:,') continue
      expect([here, target.startsWith(outside)]).toEqual([here, true])
      // A form is not followed: it would change something.
      if (!text.includes(`action="${link}"`)) waiting.push(target)
    }
  }
  expect(seen.size).toBeGreaterThan(15)
})

interface HonoApp {
  use(handler: (context: { req: { raw: Request } }, next: () => Promise<void>) => Promise<Response | undefined>): unknown
  get(path: string, handler: () => Response): unknown
  fetch(request: Request): Promise<Response>
}

test('in Hono the panel is a middleware before the routes of the host', async () => {
  const { panel } = await createTestPanel()
  // A name that the compiler does not follow: the types of Hono need those of the DOM.
  const name: string = 'hono'
  const { Hono } = (await import(name)) as { Hono: new () => HonoApp }
  const app = new Hono()
  app.use(async ({ req }, next) => {
    const response = await panel(req.raw)
    if (response) return response
    await next()
    return undefined
  })
  app.get('/', () => new Response('the application'))
  const made = await app.fetch(
    new Request('https://panel.test/admin/panel/1/keys', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      body: 'name=Hono&access=*',
    }),
  )
  expect(made.status).toBe(201)
  expect(await (await app.fetch(new Request('https://panel.test/'))).text()).toBe('the application')
})
