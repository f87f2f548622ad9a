import { expect, test } from 'vitest'
import { catalogue } from '../../../lib/events/catalogue.ts'
import type { RelayAdmin } from '../../../lib/panel/index.ts'
import { noticeNames } from '../../../lib/panel/pages/webhooks/events.ts'
import { deliveryOf, relayOf } from './relay.ts'
import { admin, createTestPanel } from './support.ts'

const url = 'https://hooks.example.org/a'

test('an endpoint made by a form shows its token and secret once, and wants the chosen events', async () => {
  const { get, post, community } = await createTestPanel()
  const made = await post('1/webhooks', [
    ['url', url],
    ['name', 'Billing'],
    ['which', 'chosen'],
    ['events', 'PostCreatedHook'],
    ['events', 'MemberJoinedHook'],
    ['order', 'subject'],
    ['rate_per_second', '2.5'],
    ['sent', '1'],
    ['secrets', 'make'],
  ])
  expect(made.status).toBe(201)
  const [endpoint] = await community.endpoints.list('1')
  expect(endpoint).toMatchObject({
    ...{ url, name: 'Billing', events: ['PostCreatedHook', 'MemberJoinedHook'] },
    ...{ order: 'subject', rate_per_second: 2.5, signed: true },
  })
  const [key = ''] = /(?<=id="token" [^>]*value=")[^"]+/.exec(made.text) ?? []
  const [secret = ''] = /(?<=id="secret" [^>]*value=")whsec_[^"]+/.exec(made.text) ?? []
  expect([key.length, secret.length]).toEqual([43, 50])
  for (const path of ['1/webhooks', `1/webhooks/${endpoint?.id}`, `1/webhooks/${endpoint?.id}/edit`]) {
    const { status, text } = await get(path)
    expect(status).toBe(200)
    expect(text).toContain('Billing')
    expect(text).not.toContain(key)
    expect(text).not.toContain(secret)
  }
})

test('the page of an endpoint leads to who changed it', async () => {
  const { get, post, community } = await createTestPanel()
  await post('1/webhooks', { url: `${url}2`, name: 'Another' })
  await post('1/webhooks', { url, name: 'Billing' })
  const { id = '' } = (await community.endpoints.list('1')).find(({ name }) => name === 'Billing') ?? {}
  const [, link = ''] = /href="[^"]*(1\/audit\?[^"]*)">Changes of this endpoint</.exec((await get(`1/webhooks/${id}`)).text) ?? []
  const { status, text } = await get(link)
  expect(status).toBe(200)
  expect(text).toMatch(/ada@example\.org[\s\S]*endpoint\.added[\s\S]*Billing/)
  expect(text).not.toContain('Another')
})

test('an address that is taken, or none, is refused next to its field, and the choice of events is kept', async () => {
  const { post, community } = await createTestPanel()
  await post('1/webhooks', { url })
  const taken = await post('1/webhooks', [
    ['url', url],
    ['which', 'chosen'],
    ['events', 'PostCreatedHook'],
  ])
  expect(taken.status).toBe(422)
  expect(taken.text).toContain('Address has already been taken by another endpoint')
  expect(taken.text).toMatch(/value="PostCreatedHook" checked/)
  const wrong = (await post('1/webhooks', { url: 'javascript:alert(1)', rate_per_second: 'many' })).text
  expect(wrong).toContain('id="url-wrong"')
  expect(wrong).toContain('id="rate_per_second-wrong"')
  expect((await post('1/webhooks', { url: `${url}2`, which: 'chosen' })).text).toContain('id="events-wrong"')
  expect(await community.endpoints.list('1')).toHaveLength(1)
})

test('an address that relays refuse by default is taken with a warning, and port 0 is refused', async () => {
  const { get, post, community } = await createTestPanel()
  const added = await post('1/webhooks', { url: 'https://10.0.0.1/hook' })
  expect([added.status, added.text]).toEqual([201, expect.stringContaining('10.0.0.1 is not a public address')])
  expect(added.text).toContain('(setting <code>allowAddresses</code> or <code>allowPrivate</code>)')
  const [{ id } = { id: '' }] = await community.endpoints.list('1')
  expect((await get(`1/webhooks/${id}?done=saved`)).text).toContain('Relays refuse this address, unless their settings allow it')
  expect((await get(`1/webhooks/${id}`)).text).not.toContain('Relays refuse this address')
  expect((await post('1/webhooks', { url })).text).not.toContain('Relays refuse this address')
  expect((await post('1/webhooks', { url: 'https://example.org:0/' })).text).toContain('Address must have another port than 0')
})

test('a relay whose settings are known says itself which addresses it refuses', async () => {
  const refuses = (address: string) => (address.startsWith('https:') ? `${address} is not of this house` : undefined)
  const { post } = await createTestPanel(admin, { relay: { ...relayOf().admin, refuses } })
  expect((await post('1/webhooks', { url: 'http://127.0.0.1:4000/hook' })).text).not.toMatch(/refuses? this address/)
  expect((await post('1/webhooks', { url })).text).toContain(`The relay refuses this address: ${url} is not of this house.`)
})

test('an endpoint is edited, paused, resumed, rotated and deleted by forms', async () => {
  const { get, post, community } = await createTestPanel()
  await post('1/webhooks', { url })
  const [{ id } = { id: '' }] = await community.endpoints.list('1')
  const endpoint = () => community.endpoints.find('1', id)

  expect((await post(`1/webhooks/${id}/edit`, { url: `${url}/b`, name: 'New', which: 'every', order: 'fifo' })).status).toBe(303)
  expect(await endpoint()).toMatchObject({ url: `${url}/b`, name: 'New', events: null, order: 'fifo' })
  await post(`1/webhooks/${id}/pause`)
  expect(await endpoint()).toMatchObject({ enabled: false })
  expect((await get(`1/webhooks/${id}?done=paused`)).text).toContain('Its events wait until it is resumed.')
  await post(`1/webhooks/${id}/resume`)
  expect(await endpoint()).toMatchObject({ enabled: true })

  expect((await get(`1/webhooks/${id}/rotate`)).text).toContain('A week')
  const rotated = await post(`1/webhooks/${id}/rotate`, { sent: '1', token: 'make', secrets: 'make', keepOldSeconds: '3600' })
  expect(rotated.text).toMatch(/id="token" .+id="secret" [^>]*value="whsec_/s)
  expect((await endpoint())?.old_token_until).toBe('2026-11-20T11:00:00.000Z')
  const nothing = await post(`1/webhooks/${id}/rotate`, { sent: '1' })
  expect([nothing.status, nothing.text.includes('token or secrets is required')]).toEqual([422, false])
  expect(nothing.text).toContain('Token or secrets is required')

  const question = (await get(`1/webhooks/${id}/remove`)).text
  for (const part of ['Delete New?', 'Preview: 1 endpoint goes']) expect(question).toContain(part)
  expect((await post(`1/webhooks/${id}/remove`)).headers.get('location')).toBe('../../../1/webhooks?done=removed')
  expect(await endpoint()).toBeUndefined()
  expect((await get(`1/webhooks/${id}`)).status).toBe(404)
})

test("the host's own endpoint is shown and cannot be changed", async () => {
  const { get, post, community } = await createTestPanel()
  const { id } = await community.endpoints.upsert({ network: '1', url, token: true, audience: 'host' })
  expect((await get(`1/webhooks/${id}`)).text).toContain('own endpoint')
  for (const action of ['pause', 'edit', 'rotate', 'remove'])
    expect((await post(`1/webhooks/${id}/${action}`, { url, token: 'make' })).status).toBe(404)
})

test('the state of endpoints comes from the relay, and hostile responses to a test are text', async () => {
  const relay = relayOf()
  const { get, post, community } = await createTestPanel(admin, {
    relay,
    clock: { now: () => Date.parse('2026-11-20T10:00:30Z') },
  })
  const { id } = await community.endpoints.upsert({ network: '1', url, token: true })
  relay.endpoints.push({ endpoint_id: id, activity: 'circuit open', reason: '<b>refused</b>', pending: 1234, hours: [[30, 10]] })
  const { text } = await get('1/webhooks')
  expect(text).toContain('<span class="badge bad">On hold: keeps failing</span>')
  expect(text).toContain('1,234')
  expect(text).toContain('75 %')
  expect(text.match(/<g>/g)).toHaveLength(24)
  expect(text).toContain('aria-label="Last day: 30 delivered, 10 failed"')
  expect(text).toContain('&lt;b&gt;refused')

  relay.testAnswer = { outcome: 'status', status: 500, reason: 'HTTP 500', milliseconds: 12, answer: '<script>alert(1)</script>' }
  const tested = await post(`1/webhooks/${id}/test`)
  expect(relay.tested).toEqual([`1 ${id}`])
  expect(tested.text).toContain('&lt;script&gt;alert(1)')
  expect(tested.text).not.toContain('<script>alert')
})

test('a test is of an event of choice, and the form offers each event once', async () => {
  const relay = relayOf()
  const { get, post, community } = await createTestPanel(admin, { relay })
  const { id } = await community.endpoints.upsert({ network: '1', url, token: true })
  const { text } = await get(`1/webhooks/${id}`)
  const offered = [...text.matchAll(/<option value="(\w+)Hook"/g)].map(([, name]) => name)
  expect(offered.toSorted()).toEqual(Object.keys(catalogue).toSorted())
  expect((await post(`1/webhooks/${id}/test`, { event_type: 'PostCreatedHook' })).text).toContain(
    'PostCreatedHook, with example data',
  )
  expect((await post(`1/webhooks/${id}/test`, { event_type: 'NothingHook' })).status).toBe(422)
  expect(relay.tested).toEqual([`1 ${id} PostCreatedHook`])
})

test('an endpoint on hold is tried now after a question, in the name of the visitor', async () => {
  const relay = relayOf()
  const { get, post, community } = await createTestPanel(admin, {
    relay,
    clock: { now: () => Date.parse('2026-11-20T10:00:30Z') },
  })
  const ids: string[] = []
  for (const name of ['Held', 'Told to wait', 'Well', 'Disabled'])
    ids.push((await community.endpoints.upsert({ network: '1', url: `${url}/${ids.length}`, token: true, name })).id)
  const [held = '', later = '', well = '', disabled = ''] = ids
  const due = '2026-11-20T10:30:00.000Z'
  relay.endpoints.push(
    { endpoint_id: held, name: 'Held', circuit: 'open', activity: 'circuit open', pending: 2 },
    { endpoint_id: later, pending: 1, next_attempt_at: due },
    { endpoint_id: well },
    { endpoint_id: disabled, state: 'disabled', circuit: 'open', activity: 'disabled' },
  )
  const offers = async (id: string) => (await get(`1/webhooks/${id}`)).text.includes('>Try now</a>')
  expect(await Promise.all(ids.map(offers))).toEqual([true, false, false, false])
  const question = (await get(`1/webhooks/${held}/try`)).text
  for (const part of ['Try Held now?', '2 deliveries wait.']) expect(question).toContain(part)
  expect((await post(`1/webhooks/${held}/try`)).headers.get('location')).toBe(`../../../1/webhooks/${held}?done=tried`)
  expect(relay.closed).toEqual([held])
  expect((await post('1/webhooks/99/try')).status).toBe(404)
  const { items } = await community.audit.list({ network: '1', per_page: 2 })
  expect(items.map(({ action, actor }) => [action, actor])).toContainEqual(['endpoint.circuit_closed', 'ada@example.org'])
})

test('the page of an endpoint has its latest attempts and how long its receiver took over the day', async () => {
  const relay = relayOf({
    1: [
      deliveryOf('new', { state: 'pending', attempts: 0, last_attempt_at: null, last_outcome: null, milliseconds: null }),
      deliveryOf('quick', { last_attempt_at: '2026-11-20T09:10:00.000Z', milliseconds: 12 }),
      deliveryOf('late', {
        last_attempt_at: '2026-11-20T09:50:00.000Z',
        state: 'dead',
        last_outcome: 'status',
        last_status: 503,
        milliseconds: 2340,
      }),
    ],
  })
  const { get, community } = await createTestPanel(admin, {
    relay,
    clock: { now: () => Date.parse('2026-11-20T10:00:30Z') },
  })
  const { id } = await community.endpoints.upsert({ network: '1', url, token: true })
  const durations = [90, 0, 0, 0, 9, 0, 0, 0, 0, 0, 1]
  relay.endpoints.push({ endpoint_id: id, hours: [[99, 1]], durations, slowest: 31_000 })
  const { text } = await get(`1/webhooks/${id}`)
  expect(text).toContain('aria-label="Response time of the last day, p95 of each hour: p50 6 ms, p95 183 ms, slowest 31,000 ms"')
  expect(text).toContain('10:00 UTC: p50 6 ms, p95 183 ms, slowest 31,000 ms')
  expect(text).toContain('09:00 UTC: no response')
  const attempts = text.slice(text.indexOf('aria-label="Latest attempts"'), text.indexOf('<h2>Settings'))
  expect([...attempts.matchAll(/deliveries\/(\w+)"/g)].map(([, each]) => each)).toEqual(['late', 'quick'])
  expect(attempts).toMatch(/Error response<.*503<.*2,340 ms/s)
  expect(relay.filters).toEqual([{ endpoint_id: id }])
})

test('a count that the relay has capped has a plus sign', async () => {
  const relay = relayOf()
  const { get, community } = await createTestPanel(admin, { relay })
  const { id } = await community.endpoints.upsert({ network: '1', url, token: true })
  relay.endpoints.push({ endpoint_id: id, pending: 100_000 })
  for (const path of ['1/webhooks', `1/webhooks/${id}`]) expect((await get(path)).text).toContain('100,000+')
})

test('pages work when there is no relay, or when it is away', async () => {
  const without = await createTestPanel()
  expect((await without.get('1/webhooks')).text).toContain('No relay is connected')
  const away = () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7'))
  const calls = Object.keys(relayOf()).concat(Object.getOwnPropertyNames(relayOf().admin))
  const gone = Object.fromEntries(calls.map((name) => [name, away])) as unknown as RelayAdmin
  const { get, faults, community } = await createTestPanel(admin, { relay: gone })
  const { id } = await community.endpoints.upsert({ network: '1', url, token: true })
  for (const path of ['1/webhooks', `1/webhooks/${id}`]) {
    const { status, text } = await get(path)
    expect(status).toBe(200)
    expect(text).toContain('The relay does not respond now')
    expect(text).not.toContain('ECONNREFUSED')
  }
  expect(faults).toHaveLength(2)
})

test('every event has an example, and the form offers each once', async () => {
  const { get } = await createTestPanel()
  const form = (await get('1/webhooks/new')).text
  const names = [...form.matchAll(/name="events" value="(\w+)Hook"/g)].map(([, name]) => name ?? '')
  const events = Object.keys(catalogue)
  expect(names.toSorted()).toEqual([...events, ...noticeNames].toSorted())
  for (const name of events) {
    const { status, text } = await get(`1/webhooks/events/${name}`)
    expect([name, status, text.includes(`&quot;${name}Hook&quot;`)]).toEqual([name, 200, true])
  }
  expect((await get('1/webhooks/events')).text).toContain('PostCreatedHook')
  expect((await get('1/webhooks/events/Nothing')).status).toBe(404)
})

test('a form that is sent twice adds one endpoint, and rotates its key once', async () => {
  const { get, post, community } = await createTestPanel()
  const onceIn = (text: string): string => /name="once" value="([^"]+)"/.exec(text)?.[1] ?? ''
  const added = { url, once: onceIn((await get('1/webhooks/new')).text) }
  expect([(await post('1/webhooks', added)).status, (await post('1/webhooks', added)).status]).toEqual([201, 409])
  const [{ id } = { id: '' }] = await community.endpoints.list('1')
  const rotated = { token: 'make', once: onceIn((await get(`1/webhooks/${id}/rotate`)).text) }
  const [first, second] = [await post(`1/webhooks/${id}/rotate`, rotated), await post(`1/webhooks/${id}/rotate`, rotated)]
  expect([first.status, second.status]).toEqual([200, 409])
  expect(second.text).not.toContain('id="token"')
})

test('headers are set and removed by the form, and only their names are shown', async () => {
  const { get, post, community } = await createTestPanel()
  const headers = ['headers', 'X-Api-Key: gateway-secret\r\nX-Tenant: 7'] as const
  expect((await post('1/webhooks', [['url', url], ['sent', '1'], [...headers]])).status).toBe(201)
  const [{ id, header_names } = { id: '' }] = await community.endpoints.list('1')
  expect(header_names).toEqual(['X-Api-Key', 'X-Tenant'])
  for (const path of [`1/webhooks/${id}`, `1/webhooks/${id}/edit`]) expect((await get(path)).text).not.toContain('gateway-secret')
  expect((await get(`1/webhooks/${id}`)).text).toContain('X-Api-Key, X-Tenant')
  const change = async (...more: [string, string][]) => {
    const { status } = await post(`1/webhooks/${id}/edit`, [['url', url], ...more])
    return [status, (await community.endpoints.find('1', id))?.header_names]
  }
  expect(await change()).toEqual([303, ['X-Api-Key', 'X-Tenant']])
  expect(await change(['headers', 'Host: x'])).toEqual([422, ['X-Api-Key', 'X-Tenant']])
  expect(await change(['headers', 'no colon'])).toEqual([422, ['X-Api-Key', 'X-Tenant']])
  expect(await change(['headers', 'Authorization: Basic x'])).toEqual([303, ['Authorization']])
  expect(await change(['headers', 'X-Other: 1'])).toEqual([303, ['X-Other']])
  expect(await change(['remove_headers', 'yes'])).toEqual([303, []])
})

test('a visitor who may only edit does not get the key and headers by an address of their own', async () => {
  const visitor = { actor: 'ada', networks: ['1'], access: ['endpoints.update'] } as const
  const { get, post, community, records } = await createTestPanel(visitor)
  const headers = { 'x-gateway': 'the-gateway-secret' }
  const { id } = await community.endpoints.upsert({ network: '1', url, token: 'the-secret-key', headers })
  const attacker = 'https://attacker.example/hook'
  const edit = `1/webhooks/${id}/edit`
  for (const more of [[], [['token', 'mine']], [['headers', 'x-gateway: mine']]] as [string, string][][]) {
    const { status, text } = await post(edit, [['url', attacker], ...more])
    expect([status, text.includes('must be given again')]).toEqual([422, true])
  }
  expect((await community.endpoints.find('1', id))?.url).toBe(url)
  expect((await get(edit)).text).not.toMatch(/the-gateway-secret|the-secret-key/)
  const given: [string, string][] = [
    ['url', attacker],
    ['token', 'mine'],
    ['remove_headers', 'yes'],
  ]
  expect((await post(edit, given)).status).toBe(303)
  expect(records.at(-1)).toMatchObject({ url: attacker, key: 'mine' })
  expect(JSON.stringify(records.at(-1))).not.toMatch(/the-gateway-secret|the-secret-key/)
})

test('allowed addresses are set, shown and removed by the form, and a mistake is shown next to the field', async () => {
  const { get, post, community } = await createTestPanel()
  const given = ['allow_addresses', '192.0.2.5, 198.51.100.0/24\r\n2001:db8::/32'] as const
  expect((await post('1/webhooks', [['url', url], ['sent', '1'], [...given]])).status).toBe(201)
  const [{ id = '', allow_addresses } = {}] = await community.endpoints.list('1')
  expect(allow_addresses).toEqual(['192.0.2.5', '198.51.100.0/24', '2001:db8::/32'])
  for (const path of [`1/webhooks/${id}`, `1/webhooks/${id}/edit`])
    expect((await get(path)).text).toContain('192.0.2.5, 198.51.100.0/24, 2001:db8::/32')
  const change = async (text: string) => {
    const { status } = await post(`1/webhooks/${id}/edit`, [
      ['url', url],
      ['allow_addresses', text],
    ])
    return [status, (await community.endpoints.list('1'))[0]?.allow_addresses]
  }
  expect(await change('example.org')).toEqual([422, allow_addresses])
  expect(await change(' ')).toEqual([303, null])
})

test('a client certificate and an authority are set, shown and removed by the form', async () => {
  const { get, post, community } = await createTestPanel()
  const names = [
    ['client_identity', 'bank-one'],
    ['ca', 'bank-root'],
  ] as const
  expect(
    (await post('1/webhooks', [['url', url], ['sent', '1'], ...names.map(([name, value]) => [name, value] as [string, string])]))
      .status,
  ).toBe(201)
  const [{ id = '' } = {}] = await community.endpoints.list('1')
  for (const path of [`1/webhooks/${id}`, `1/webhooks/${id}/edit`]) {
    const { text } = await get(path)
    expect([text.includes('bank-one'), text.includes('bank-root')]).toEqual([true, true])
  }
  const edit = `1/webhooks/${id}/edit`
  const plain: [string, string][] = [
    ['url', 'http://example.org/hook'],
    ['token', 'k'],
    ['ca', 'bank-root'],
  ]
  const refused = await post(edit, plain)
  expect([refused.status, refused.text.includes('must be null for an http URL')]).toEqual([422, true])
  expect(
    (
      await post(edit, [
        ['url', url],
        ['ca', '/etc/ca.pem'],
      ])
    ).status,
  ).toBe(422)
  expect((await post(edit, [['url', url]])).status).toBe(303)
  expect(await community.endpoints.find('1', id)).toMatchObject({ client_identity: null, ca: null })
})

test('a filter is set, shown, changed and removed by the form, and a mistake is named with its place', async () => {
  const { get, post, community } = await createTestPanel()
  const filter = { path: '/space_id', equals: '2001' }
  const made = await post('1/webhooks', [
    ['url', url],
    ['sent', '1'],
    ['filter', JSON.stringify(filter)],
  ])
  expect(made.status).toBe(201)
  const [{ id = '' } = {}] = await community.endpoints.list('1')
  expect((await get(`1/webhooks/${id}`)).text).toContain('/space_id')
  const change = async (text: string) => {
    const response = await post(`1/webhooks/${id}/edit`, [
      ['url', url],
      ['filter', text],
    ])
    return [response.status, (await community.endpoints.find('1', id))?.filter, response.text] as const
  }
  expect(await change('{"path":"space_id","equals":"1"}')).toEqual([
    422,
    filter,
    expect.stringContaining('must be a JSON pointer'),
  ])
  expect(await change('not JSON')).toEqual([422, filter, expect.any(String)])
  const other = { any: [{ path: '/id', exists: true }] }
  expect((await change(JSON.stringify(other))).slice(0, 2)).toEqual([303, other])
  expect((await change('')).slice(0, 2)).toEqual([303, null])
})

test('a key pair is made by the form, and only its public key is shown, then and later', async () => {
  const { get, post, community } = await createTestPanel()
  const made = await post('1/webhooks', [
    ['url', url],
    ['sent', '1'],
    ['pair', 'make'],
  ])
  const [{ id = '', public_keys: [publicKey = ''] = [] } = {}] = await community.endpoints.list('1')
  expect(publicKey).toMatch(/^whpk_/)
  for (const { text } of [made, await get(`1/webhooks/${id}`)]) {
    expect(text).toContain(publicKey)
    expect(text).not.toContain('whsk_')
  }
})

test('a form of an endpoint that was refused may be sent again, as it was and mended', async () => {
  const { get, post } = await createTestPanel()
  const onceIn = (text: string): string => /name="once" value="([^"]+)"/.exec(text)?.[1] ?? ''
  const once = onceIn((await get('1/webhooks/new')).text)
  const add = async (url: string) => (await post('1/webhooks', { url, once })).status
  expect([await add('no address'), await add('no address'), await add(url), await add(url)]).toEqual([422, 422, 201, 409])
  const id = /webhooks\/(\d+)/.exec((await get('1/webhooks')).text)?.[1] ?? ''
  const form = onceIn((await get(`1/webhooks/${id}/rotate`)).text)
  const rotate = async (keepOldSeconds: string) =>
    (await post(`1/webhooks/${id}/rotate`, { token: 'make', keepOldSeconds, once: form })).status
  expect([await rotate('-1'), await rotate('-1'), await rotate('60'), await rotate('60')]).toEqual([422, 422, 200, 409])
})

/** The names of the fields that a form shows, and of those that are folded away; whether they are unfolded. */
function fieldsOf(text: string) {
  const [whole, open = '', folded = ''] =
    /<details class="card" ?(open)?[^>]*><summary>Advanced[\s\S]*?<\/summary>([\s\S]*)<\/details>/.exec(text) ?? ['']
  const namesIn = (part: string) => [
    ...new Set([...part.matchAll(/<(?:input|select|textarea)[^>]* name="(\w+)"/g)].map(([, name]) => name)),
  ]
  return { shown: namesIn(text.replace(whole, '')).toSorted(), folded: namesIn(folded), isOpen: open === 'open' }
}

test('the form shows address, name and events, and folds the rest', async () => {
  const { get, community } = await createTestPanel()
  const added = fieldsOf((await get('1/webhooks/new')).text)
  expect(added.shown).toEqual(['events', 'name', 'once', 'sent', 'url', 'which'])
  expect(added.folded.toSorted()).toEqual(
    [
      'allow_addresses',
      'ca',
      'client_identity',
      'filter',
      'headers',
      'token',
      'order',
      'pair',
      'rate_per_second',
      'secrets',
    ].toSorted(),
  )
  expect(added.isOpen).toBe(false)
  const { id } = await community.endpoints.upsert({
    network: '1',
    url,
    name: 'Billing',
    token: true,
    events: ['PostCreatedHook'],
  })
  const edited = fieldsOf((await get(`1/webhooks/${id}/edit`)).text)
  expect(edited.shown).toEqual(['events', 'name', 'url', 'which'])
  expect([edited.folded.includes('token'), edited.isOpen]).toEqual([true, false])
})

test.each([
  { url: 'https://b.test/', order: 'fifo' },
  { url: 'https://b.test/', rate_per_second: 5 },
  { url: 'https://b.test/', filter: { path: '/space_id', equals: '1' } },
  { url: 'https://b.test/', allow_addresses: ['192.0.2.1'] },
  { url: 'https://b.test/', client_identity: 'mine' },
  { url: 'https://b.test/', ca: 'ours' },
] as const)('the folded part is open if it has a value: %j', async (attributes) => {
  const { get, community } = await createTestPanel()
  const { id } = await community.endpoints.upsert({ network: '1', token: true, ...attributes })
  expect(fieldsOf((await get(`1/webhooks/${id}/edit`)).text).isOpen).toBe(true)
})

test.each([
  [{ rate_per_second: 'many' }, true],
  [{ headers: 'no colon' }, true],
  [{ filter: '{' }, true],
  [{ token: 'a token of mine' }, true],
  [{ pair: 'make' }, true],
  [{ secrets: '' }, false],
  [{}, false],
])('after a refusal the folded part of the form is open if it has a value or a problem: %j', async (values, isOpen) => {
  const { post } = await createTestPanel()
  const { status, text } = await post('1/webhooks', { url: 'no address', sent: '1', secrets: 'make', ...values })
  expect([status, fieldsOf(text).isOpen]).toEqual([422, isOpen])
})

test('a signature that was turned off stays visible', async () => {
  const { post } = await createTestPanel()
  expect(fieldsOf((await post('1/webhooks', { url: 'no address', sent: '1' })).text).isOpen).toBe(true)
})

test('an address at another server opens the field of the token that it needs', async () => {
  const { post, community } = await createTestPanel()
  const { id } = await community.endpoints.upsert({ network: '1', url, token: true })
  const { status, text } = await post(`1/webhooks/${id}/edit`, { url: 'https://elsewhere.example/', which: 'every' })
  expect([status, fieldsOf(text).isOpen, /id="token-wrong"/.test(text)]).toEqual([422, true, true])
})

test('a problem names its field as the form does', async () => {
  const { post } = await createTestPanel()
  const wrong = (await post('1/webhooks', { url: 'ftp://a.test/', rate_per_second: '-1' })).text
  expect(wrong).toMatch(/id="url-wrong">Address must be/)
  expect(wrong).toMatch(/id="rate_per_second-wrong">Deliveries per second, at most must be/)
})
