/** The panel's rules for every request: policy, forgery, access, prefixes, faults. */
import { expect, test } from 'vitest'
import { createPanel } from '../../../lib/panel/index.ts'
import { script } from '../../../lib/panel/ui/script.ts'
import { style } from '../../../lib/panel/ui/style.ts'
import { admin, createTestPanel } from './support.ts'

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

test.each(['', '1/keys', '1/keys/new', '1/nowhere', '9/keys', 'assets/none.css'])(
  'the response to %j has the policy headers, and no style or handler in the page',
  async (path) => {
    const { get } = await createTestPanel()
    const { headers, text } = await get(path)
    expect(headers.get('content-security-policy')).toBe(policy)
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(text).not.toMatch(/ (?:style|on\w+)=|<style|javascript:/i)
  },
)

test('assets are named by their content, kept for ever, and open to everybody', async () => {
  const { get, send } = await createTestPanel(null)
  const links = (await get('1/keys')).text.match(/assets\/[0-9a-f]{16}\.(?:css|js)/g) ?? []
  expect(links).toHaveLength(2)
  const files = await Promise.all(links.map((link) => get(link)))
  expect(files.map(({ status, headers }) => [status, headers.get('content-type'), headers.get('cache-control')])).toEqual([
    [200, 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
    [200, 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
  ])
  expect(await send(links[0] ?? '', { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
})

test('the script is below 3 KB and the style sheet about 10 KB', () => {
  expect(new TextEncoder().encode(script).length).toBeLessThan(3072)
  expect(new TextEncoder().encode(style).length).toBeLessThan(11_000)
})

const form = { 'content-type': 'application/x-www-form-urlencoded' }

test.each([
  ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://panel.test' }],
  ['a sibling domain', { 'sec-fetch-site': 'same-site' }],
  ['the address bar', { 'sec-fetch-site': 'none' }],
  ['another origin', { origin: 'https://evil.test' }],
  ['an opaque origin', { origin: 'null' }],
  ['no browser at all', {}],
])('a change from %s is refused and does nothing', async (_, headers) => {
  const { send, community } = await createTestPanel()
  const before = await community.keys.list('1')
  const body = 'name=forged&access=*'
  expect((await send('1/keys', { method: 'POST', headers: { ...form, ...headers }, body })).status).toBe(403)
  expect(await community.keys.list('1')).toEqual(before)
})

test('a browser without Sec-Fetch-Site is believed by its Origin, which is the public one behind a proxy', async () => {
  const init = (origin: string) => ({ method: 'POST', headers: { ...form, origin }, body: 'name=a&access=*' })
  const { send } = await createTestPanel()
  expect((await send('1/keys', init('https://panel.test'))).status).toBe(201)
  const behind = await createTestPanel(admin, { publicUrl: 'https://public.test/some/path' })
  expect((await behind.send('1/keys', init('https://public.test'))).status).toBe(201)
  expect((await behind.send('1/keys', init('https://panel.test'))).status).toBe(403)
})

test('on plain HTTP pages keep the Origin of their forms, by another referrer policy', async () => {
  const { panel } = await createTestPanel()
  const of = async (url: string, headers = {}) =>
    (await panel(new Request(`${url}/admin/panel/1/keys`, { headers })))?.headers.get('referrer-policy')
  expect(await of('http://intranet')).toBe('same-origin')
  expect(await of('http://127.0.0.1:4000')).toBe('no-referrer')
  expect(await of('http://intranet', { 'sec-fetch-site': 'none' })).toBe('no-referrer')
})

test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('a reader gets a 403 for %s on every path', async (method) => {
  const { send } = await createTestPanel({ ...admin, access: 'read' })
  for (const path of ['', '1/keys', '1/keys/5/revoke', '1/nowhere', '9/keys'])
    expect((await send(path, { method, headers: { 'sec-fetch-site': 'same-origin' } })).status).toBe(403)
})

test('a visitor with a list of actions makes those changes alone', async () => {
  const { post, community } = await createTestPanel({ ...admin, access: ['keys.create'] })
  expect((await post('1/keys', { name: 'a', access: '*' })).status).toBe(201)
  const [key] = await community.keys.list('1')
  expect((await post(`1/keys/${key?.id}/revoke`)).status).toBe(403)
})

test('the panel is closed without a visitor', async () => {
  const { get, post } = await createTestPanel(null)
  expect((await get('1/keys')).status).toBe(403)
  expect((await get('')).status).toBe(403)
  expect((await post('1/keys', { name: 'a', access: '*' })).status).toBe(403)
})

test('another network gets the response of one that does not exist', async () => {
  const { get, post, community } = await createTestPanel({ ...admin, networks: ['demo'] })
  expect((await get('1/keys')).status).toBe(200)
  const [foreign, missing] = [await get('2/keys'), await get('9/keys')]
  expect(foreign).toMatchObject({ status: 404, text: missing.text })
  expect((await post('2/keys', { name: 'a', access: '*' })).status).toBe(404)
  expect(await community.keys.list('2')).toEqual([])
})

test('a single network opens directly, several are a list', async () => {
  const one = await createTestPanel({ ...admin, networks: [1] })
  expect((await one.get('')).headers.get('location')).toBe('./1/overview')
  const all = await createTestPanel()
  const { status, text } = await all.get('')
  expect({ status, links: text.match(/\.\/\d+\/\w+/g) }).toEqual({ status: 200, links: ['./1/overview', './2/overview'] })
})

test('many networks are a list in pages, and a page that cannot be is refused', async () => {
  const { get, community } = await createTestPanel()
  const owner = { email: 'owner@example.org', first_name: 'Bob', last_name: 'Host' }
  for (let id = 3; id <= 101; id++)
    await community.networks.create({ id, subdomain: `network-${id}`, title: `Network ${id}`, owner })
  const [first, second] = [(await get('')).text, (await get('?after=100')).text]
  expect([first.match(/\.\/\d+\/overview/g)?.length, first.includes('href="./?after=100"')]).toEqual([100, true])
  expect(second.match(/\.\/\d+\/overview/g)).toEqual(['./101/overview'])
  expect((await get('?after=x')).status).toBe(422)
})

test('hostile names are shown as text', async () => {
  const { get, post } = await createTestPanel()
  const name = `"><script>alert(1)</script><img src=x onerror='alert(2)'>`
  expect((await post('1/keys', { name, access: '*' })).text).not.toContain('<script>alert')
  const { text } = await get('1/keys')
  expect(text).not.toContain('<script>alert')
  expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
})

test.each(['', '/community/settings/panel'])(
  'the panel at %j links relatively, and leaves other paths alone',
  async (basePath) => {
    const { get, panel } = await createTestPanel(admin, { basePath })
    const { status, text } = await get('1/keys/new')
    expect(status).toBe(200)
    const links = [...text.matchAll(/ (?:href|src|action)="([^"]*)"/g)].map(([, link]) => link)
    expect(links.filter((link) => !/^(?:\.\.?\/|#main$|data:,$)/.test(link ?? ''))).toEqual([])
    if (basePath === '') return
    expect(await panel(new Request('https://panel.test/community/settings'))).toBeUndefined()
    expect(await panel(new Request(`https://panel.test${basePath}2/keys`))).toBeUndefined()
    const bare = await panel(new Request(`https://panel.test${basePath}`))
    expect([bare?.status, bare?.headers.get('location')]).toEqual([308, 'panel/'])
  },
)

test('a form is bounded, and one that breaks off is refused', async () => {
  const { send, post } = await createTestPanel()
  expect((await post('1/keys', { name: 'x'.repeat(70_000), access: '*' })).status).toBe(413)
  const headers = { ...form, 'sec-fetch-site': 'same-origin' }
  const broken = new ReadableStream({
    pull(controller) {
      controller.error(new Error('the client is gone'))
    },
  })
  const init = { method: 'POST', headers, body: broken, duplex: 'half' as const }
  expect((await send('1/keys', init)).status).toBe(400)
  const json = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: '{}' }
  expect((await send('1/keys', json)).status).toBe(415)
})

test('a storage that fails is a page without internals, and the host is notified of it', async () => {
  const { community, faults } = await createTestPanel()
  const networks = { ...community.networks, find: () => Promise.reject(new Error('secret of the database')) }
  const panel = createPanel({ ...community, networks }, { authorize: () => admin, onError: (error) => faults.push(error) })
  const response = await panel(new Request('https://panel.test/admin/panel/1/keys'))
  expect(response?.status).toBe(500)
  expect(await response?.text()).not.toContain('secret of the database')
  expect(faults).toEqual([new Error('secret of the database')])
})

test('a mistake of the host in authorize closes the panel', async () => {
  const { community } = await createTestPanel()
  const faults: string[] = []
  const wrong = { actor: 'ada', networks: 'all', access: ['keys.destroy'] } as never
  const panel = createPanel(community, { authorize: () => wrong, onError: (error) => faults.push(String(error)) })
  expect((await panel(new Request('https://panel.test/admin/panel/1/keys')))?.status).toBe(500)
  expect(faults.join()).toContain("`access` must be 'all', 'read' or a list of keys.create")
})

test.each([
  [true, 'a boolean'],
  ['ada@example.org', 'a string'],
  [['ada'], 'a list'],
])('authorize that returns %j closes the panel, and its report says what to return', async (given, got) => {
  const { panel, faults } = await createTestPanel(given as never)
  expect((await panel(new Request('https://panel.test/admin/panel/1/keys')))?.status).toBe(500)
  expect(String(faults)).toBe(
    `TypeError: authorize: return { actor, networks, access }, or null for a visitor without access; got ${got}`,
  )
})

test('anything but a community is refused when the panel is made', async () => {
  const { community } = await createTestPanel()
  for (const given of [undefined, {}, Promise.resolve(community)])
    expect(() => createPanel(given as never, { authorize: () => null })).toThrow(
      'createPanel: the first argument must be a community, as createCommunity returns it. If it is a Promise, await it first',
    )
})

test('a relay that is undefined, as the view of one that was not awaited, is refused; a panel needs none', async () => {
  const { community } = await createTestPanel()
  const { view } = Promise.resolve({ view: {} }) as { view?: never }
  expect(() => createPanel(community, { authorize: () => null, relay: view } as never)).toThrow(
    /^createPanel: option `relay` is undefined, so .*await startRelay\(…\)/,
  )
  expect(createPanel(community, { authorize: () => null })).toBeInstanceOf(Function)
})

test('wrong options are named, each with its remedy', async () => {
  const { community } = await createTestPanel()
  expect(() => createPanel(community, { basePath: 'panel/', brand: { accent: 'red' } } as never)).toThrow(
    'createPanel: option `authorize` must be a function, got undefined; option `basePath` must be',
  )
})
