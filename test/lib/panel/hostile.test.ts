/** Requests that no browser of a friend sends. */
import { expect, test } from 'vitest'
import { deliveryOf, relayOf } from './relay.ts'
import { admin, createTestPanel } from './support.ts'

const own = { 'sec-fetch-site': 'same-origin' }
const form = { ...own, 'content-type': 'application/x-www-form-urlencoded' }

test.each([
  ['JSON', 'application/json', '{"name":"a","access":"*"}'],
  ['a multipart form', 'multipart/form-data; boundary=x', '--x--'],
  ['text', 'text/plain', 'name=a&access=*'],
  ['another charset', 'application/x-www-form-urlencoded; charset=utf-16', 'name=a&access=*'],
  ['two types', 'application/x-www-form-urlencoded, text/plain', 'name=a&access=*'],
])('%s is no form: 415', async (_, type, body) => {
  const { send, community } = await createTestPanel()
  const before = await community.keys.list('1')
  expect((await send('1/keys', { method: 'POST', headers: { ...own, 'content-type': type }, body })).status).toBe(415)
  expect(await community.keys.list('1')).toEqual(before)
})

test('a compressed form, one with too many fields and one that is too large are refused', async () => {
  const { send, post } = await createTestPanel()
  const compressed = { method: 'POST', headers: { ...form, 'content-encoding': 'gzip' }, body: 'name=a&access=*' }
  expect((await send('1/keys', compressed)).status).toBe(415)
  expect(
    (
      await post(
        '1/keys',
        Array.from({ length: 1001 }, () => ['a', 'b']),
      )
    ).status,
  ).toBe(413)
  const announced = { method: 'POST', headers: { ...form, 'content-length': '65537' }, body: 'x'.repeat(65_537) }
  expect((await send('1/keys', announced)).status).toBe(413)
})

test('names of prototypes are names like any other, in forms, filters and news', async () => {
  const { get, post, community } = await createTestPanel(admin, { relay: relayOf({ 1: [deliveryOf('d1')] }) })
  const { id } = await community.endpoints.upsert({ network: '1', url: 'https://hooks.example.org/a', token: true })
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    for (const path of ['1/webhooks', `1/webhooks/${id}`, '1/keys']) {
      const { status, text } = await get(`${path}?done=${name}`)
      expect([path, status, /native code|\[object/.test(text), text.includes('class="note good"')]).toEqual([
        path,
        200,
        false,
        false,
      ])
    }
    expect((await get(`1/deliveries?${name}=1`)).status).toBe(200)
    expect((await get(`1/webhooks/events/${name}`)).status).toBe(404)
    expect((await get(`1/reference/${name}`)).status).toBe(404)
    expect((await post('1/keys', { [name]: '1', name, access: 'chosen', scopes: name })).status).toBe(422)
  }
  expect(Object.hasOwn(Object.prototype, '1')).toBe(false)
})

test.each([
  ['assets/', 404],
  ['assets/..%2f..%2fetc%2fpasswd', 404],
  ['assets/x.css/..%2f..%2f..%2fpackage.json', 404],
  ['1/%2e%2e/2/keys', 404],
  ['1/..%2f2%2fkeys', 404],
  ['2%2fkeys', 404],
  ['%31/keys', 404],
  ['1/keys/%2e%2e%2f/revoke', 404],
  // A browser resolves dots before it asks.
  ['assets/../1/keys', 200],
])('a visitor of one network gets from %j no other page', async (path, status) => {
  const { get } = await createTestPanel({ ...admin, networks: ['1'] })
  const { text, ...seen } = await get(path)
  expect([seen.status, /<h1>(?:Not found|API keys)/.test(text)]).toEqual([status, true])
})

test.each(['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'])('%s changes nothing on any path', async (method) => {
  const { send, community } = await createTestPanel(admin, { relay: relayOf({ 1: [deliveryOf('d1', { state: 'dead' })] }) })
  const { id } = await community.endpoints.upsert({ network: '1', url: 'https://hooks.example.org/a', token: true })
  const state = async () => [await community.keys.list('1'), await community.endpoints.list('1')]
  const before = await state()
  const [key] = await community.keys.list('1')
  const paths = [
    '1/keys',
    `1/keys/${key?.id}/revoke`,
    '1/webhooks',
    `1/webhooks/${id}/pause`,
    `1/webhooks/${id}/remove`,
    `1/webhooks/${id}/test`,
  ]
  for (const path of ['', '1', ...paths, '1/deliveries/resend', '1/deliveries/d1/resend', '1/overview', '1/reference']) {
    const { status, text, headers } = await send(path, { method, headers: form })
    if (method === 'HEAD') expect(text).toBe('')
    else expect([path, status, headers.get('allow')]).toEqual([path, 405, expect.stringMatching(/GET|POST/)])
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('cache-control')).toBe('no-store')
  }
  expect(await state()).toEqual(before)
})

test('a filter with a value twice, one that is too long and one of control characters list nothing and resend nothing', async () => {
  const relay = relayOf({ 1: [deliveryOf('d1')] })
  const { get, post } = await createTestPanel(admin, { relay })
  const wrong = [
    'state=dead&state=pending',
    `event_id=${'x'.repeat(201)}`,
    'event_id=a%00b',
    'event_id=a%0d%0ab',
    `event_type=${'x'.repeat(101)}`,
    `endpoint_id=${'1'.repeat(21)}`,
  ]
  for (const query of wrong) {
    expect([query, (await get(`1/deliveries?${query}`)).status]).toEqual([query, 422])
    expect((await get(`1/deliveries/resend?all=1&${query}`)).status).toBe(422)
    expect((await post('1/deliveries/resend', [...new URLSearchParams(`all=1&${query}`)])).status).toBe(422)
  }
  expect([relay.filters, relay.resends]).toEqual([[], []])
  expect((await get(`1/deliveries?event_id=${'x'.repeat(9000)}`)).status).toBe(414)
  for (const after of ['a%00b', 'x'.repeat(301), 'a%20b']) expect((await get(`1/deliveries?after=${after}`)).status).toBe(422)
})

test('ids that cannot be ids are not found, and no fault', async () => {
  const { get, post, faults } = await createTestPanel(admin, { relay: relayOf() })
  for (const id of ['abc', '__proto__', '%00', '-1', '1e3', '99999999999999999999', '%F0%9F%98%80', '%zz', 'x'.repeat(500)]) {
    for (const path of [
      `1/webhooks/${id}`,
      `1/webhooks/${id}/edit`,
      `1/keys/${id}/revoke`,
      `1/deliveries/${id}`,
      `1/deliveries/resends/${id}`,
    ])
      expect([path, (await get(path)).status]).toEqual([path, 404])
    for (const path of [`1/webhooks/${id}/pause`, `1/webhooks/${id}/rotate`, `1/deliveries/${id}/resend`])
      expect([path, (await post(path)).status]).toEqual([path, 404])
    expect([404, 422]).toContain((await post(`1/keys/${id}/revoke`)).status)
  }
  expect(faults).toEqual([])
})

test('names and addresses with line ends and markup reach no header and no markup', async () => {
  const { get, post, community } = await createTestPanel()
  const hostile = 'a\r\nSet-Cookie: x=1\r\n\r\n<script>'
  const { headers } = await post('1/keys', { name: hostile, access: '*' })
  expect(headers.get('set-cookie')).toBeNull()
  for (const url of [
    'https://a.example.org/\r\nx: y',
    'https://user:pass@example.org/',
    'http://169.254.169.254/',
    'data:text/html,x',
    '//example.org',
  ])
    await post('1/webhooks', { url, name: hostile, secrets: 'make', sent: '1' })
  for (const { id } of await community.endpoints.list('1')) {
    const page = await get(`1/webhooks/${id}`)
    expect(page.headers.get('set-cookie')).toBeNull()
    expect(page.text).not.toContain('<script>\n')
    expect(page.text).not.toMatch(/href="(?:javascript|data:text)/)
  }
})

test('a list of networks without the one in the address, or with strange entries, opens no other', async () => {
  for (const networks of [[], ['9'], ['__proto__'], [Number.NaN], ['1 '], ['01'], ['*'], ['all'], ['']] as (
    | string
    | number
  )[][]) {
    const { get, post, community } = await createTestPanel({ ...admin, networks })
    expect([networks, (await get('1/keys')).status, (await post('1/keys', { name: 'a', access: '*' })).status]).toEqual([
      networks,
      404,
      404,
    ])
    expect((await get('')).status).toBe(200)
    expect(await community.keys.list('1')).toHaveLength(1)
  }
})

test('each change needs its own action, and a list without it is a 403', async () => {
  const relay = relayOf({ 1: [deliveryOf('d1', { state: 'dead' })] })
  const { get, post, community } = await createTestPanel({ ...admin, access: [] }, { relay })
  const { id } = await community.endpoints.upsert({ network: '1', url: 'https://hooks.example.org/a', token: true })
  const [key] = await community.keys.list('1')
  const changes = [
    '1/keys',
    `1/keys/${key?.id}/revoke`,
    '1/webhooks',
    `1/webhooks/${id}/edit`,
    `1/webhooks/${id}/rotate`,
    `1/webhooks/${id}/pause`,
  ]
  const more = [
    `1/webhooks/${id}/resume`,
    `1/webhooks/${id}/remove`,
    `1/webhooks/${id}/test`,
    '1/deliveries/resend',
    '1/deliveries/d1/resend',
    '1/deliveries/resends/r1/stop',
  ]
  for (const path of [...changes, ...more])
    expect([path, (await post(path, { name: 'a', access: '*', id: 'd1' })).status]).toEqual([path, 403])
  const forms = [
    '1/keys/new',
    `1/keys/${key?.id}/revoke`,
    '1/webhooks/new',
    '1/webhooks/channel',
    `1/webhooks/${id}/edit`,
    `1/webhooks/${id}/rotate`,
    `1/webhooks/${id}/remove`,
  ]
  for (const path of [...forms, '1/deliveries/resend?id=d1']) expect([path, (await get(path)).status]).toEqual([path, 403])
  expect([relay.tested, relay.resends]).toEqual([[], []])
})

test('a page that refuses has the navigation and a way back, also where the form could not be read', async () => {
  const { get, post } = await createTestPanel()
  for (const { status, text } of [
    await get('1/keys/77/revoke'),
    await get('1/keys?status=odd'),
    await post(
      '1/keys',
      Array.from({ length: 1001 }, () => ['a', 'b']),
    ),
  ]) {
    expect(status).toBeGreaterThan(403)
    expect(text).toMatch(/aria-label="Panel"[\s\S]*1\/members"[\s\S]*href="[./]*1\/keys">Back<\/a>/)
  }
})
