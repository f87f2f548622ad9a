/** The audit in the panel: its page, its export, and the lines that the panel itself leaves. */
import { expect, test } from 'vitest'
import { ApiError } from '../../../lib/errors.ts'
import { createPanel, type Visitor } from '../../../lib/panel/index.ts'
import { deliveryOf, relayOf } from './relay.ts'
import { admin, createTestPanel } from './support.ts'

const ada: Visitor = { ...admin, address: '203.0.113.7' }
const field = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? ''

test('each change in the panel leaves its line, with the visitor and the address', async () => {
  const { post, get, community } = await createTestPanel(ada)
  const before = (await community.audit.list({ network: '1' })).items.length
  const once = async (path: string) => ({ once: field((await get(path)).text, 'once') })
  await post('1/keys', { ...(await once('1/keys/new')), name: 'Export', access: '*:read' })
  const key = (await community.keys.list('1')).find(({ name }) => name === 'Export')
  await post(`1/keys/${key?.id}/revoke`)
  const address = { url: 'https://hooks.example.org/a', name: 'Shop', which: 'every', order: 'none' }
  const added = await post('1/webhooks', { ...(await once('1/webhooks/new')), ...address, token: 'given-key' })
  const [endpoint] = await community.endpoints.list('1')
  await post(`1/webhooks/${endpoint?.id}/edit`, { ...address, order: 'fifo' })
  const rotated = await post(`1/webhooks/${endpoint?.id}/rotate`, {
    ...(await once(`1/webhooks/${endpoint?.id}/rotate`)),
    ...{ sent: '1', token: 'make', secrets: 'make', keepOldSeconds: '3600' },
  })
  const revealed = await post(`1/webhooks/${endpoint?.id}/reveal`)
  for (const action of ['pause', 'resume', 'remove']) await post(`1/webhooks/${endpoint?.id}/${action}`)
  const { items } = await community.audit.list({ network: '1' })
  const lines = items.slice(0, items.length - before).toReversed()
  expect(lines.map(({ action }) => action)).toEqual([
    ...['key.created', 'key.revoked', 'endpoint.added', 'endpoint.updated', 'endpoint.token_rotated', 'endpoint.secrets_rotated'],
    ...['endpoint.revealed', 'endpoint.disabled', 'endpoint.enabled', 'endpoint.deleted'],
  ])
  for (const line of lines) expect(line).toMatchObject({ actor: 'ada@example.org', address: '203.0.113.7' })
  const secrets = [added, rotated, revealed].flatMap(({ text }) =>
    [...text.matchAll(/ value="([^"]+)" readonly/g)].map(([, value]) => value ?? ''),
  )
  expect(secrets.length).toBeGreaterThan(2)
  for (const secret of ['given-key', ...secrets]) expect(JSON.stringify(items)).not.toContain(secret)
})

test('the relay is called in the name of the visitor, and its work leaves a line if it was done', async () => {
  const relay = relayOf({ '1': [deliveryOf('5'), deliveryOf('6')] })
  const { post, community } = await createTestPanel(ada, { relay })
  const { id } = await community.endpoints.upsert({ network: '1', url: 'https://hooks.example.org/a', token: 'k' })
  const told = async () => {
    const { items } = await community.audit.list({ network: '1', actor: 'ada@example.org', order: 'oldest' })
    return items.map(({ action, subject, details }) => ({ action, subject, details }))
  }
  await post(`1/webhooks/${id}/test`)
  await post('1/deliveries/5/resend')
  await post('1/deliveries/resend', [
    ['id', '5'],
    ['id', '6'],
    ['rate', '100'],
  ])
  await post('1/deliveries/resend', { all: '1', state: 'dead', endpoint_id: id, rate: '1' })
  await post('1/deliveries/resends/r3/stop')
  const endpoint = { type: 'endpoint', id, name: 'hooks.example.org' }
  const network = { type: 'network', id: '1', name: null }
  /** Each work has a line before it, and one after it. */
  const pair = (action: string, subject: object, asked: object, done: object) => [
    { action: 'work.requested', subject, details: { work: action, ...asked, work_id: expect.any(String) } },
    { action, subject, details: { ...asked, ...done, work_id: expect.any(String) } },
  ]
  const one = { type: 'delivery', id: '5', name: null }
  const selected = { ids: ['5', '6'], per_second: 100 }
  const all = { filter: { endpoint_id: id, state: 'dead' }, per_second: 1 }
  const expected = [
    ...pair('endpoint.tested', endpoint, {}, { outcome: 'delivered', status: 204 }),
    ...pair('deliveries.resent', one, { ids: ['5'], per_second: 1 }, { matched: 10, resend: 'r1' }),
    ...pair('deliveries.resent', network, selected, { matched: 10, resend: 'r2' }),
    ...pair('deliveries.resent', endpoint, all, { matched: 10, resend: 'r3' }),
    ...pair('deliveries.resend_stopped', network, { resend: 'r3' }, { resent: 3 }),
  ]
  expect(await told()).toEqual(expected)
  // Nothing is done: another network's resend, an endpoint that the relay does not have, a relay that is away.
  await post('2/deliveries/resends/r3/stop')
  relay.testAnswer = undefined
  await post(`1/webhooks/${id}/test`)
  relay.resend = async () => {
    throw new Error('away')
  }
  expect((await post('1/deliveries/5/resend')).status).toBe(502)
  const later = (await told()).slice(expected.length)
  expect(later.map(({ action, details }) => [action, details['work']])).toEqual([
    ...['work.requested', 'work.failed'].map((action) => [action, 'endpoint.tested']),
    ...['work.requested', 'work.failed'].map((action) => [action, 'deliveries.resent']),
  ])
})

test.each([
  ['in trouble', new ApiError(503, { error: 'no room' })],
  ['broken', new Error('no such table')],
])('while the audit is %s, nothing is asked of the relay, and the page names the storage', async (_name, error) => {
  const relay = relayOf({ '1': [deliveryOf('5')] })
  const { community } = await createTestPanel(ada, { relay })
  const refusing = { ...community.audit, record: () => Promise.reject(error) }
  const by: typeof community.by = (actor) => ({ ...community.by(actor), audit: refusing })
  let asked = 0
  relay.resend = async () => {
    asked++
    throw new Error('must not be asked')
  }
  const panel = createPanel({ ...community, by }, { authorize: () => ada, relay: relay.admin, onError: () => {} })
  const headers = { 'sec-fetch-site': 'same-origin' }
  const response = await panel(new Request('https://panel.test/admin/panel/1/deliveries/5/resend', { method: 'POST', headers }))
  expect([response?.status, (await response?.text())?.includes('The storage is busy'), asked]).toEqual([503, true, 0])
})

test('the page is the newest first, with its filters in the address, and its export the oldest first', async () => {
  const { get, community, clock } = await createTestPanel()
  const { id } = await community.endpoints.upsert({ network: '1', url: 'https://hooks.example.org/a', name: 'Shop', token: 'k' })
  for (let minute = 0; minute < 120; minute++) {
    clock.advance(60_000)
    const calls = community.by({ actor: minute % 2 === 0 ? 'ada' : 'bob' })
    await (minute % 2 === 0 ? calls.endpoints.disable('1', id) : calls.endpoints.enable('1', id))
  }
  const count = (text: string) => text.match(/<th scope="row">/g)?.length ?? 0
  const first = (await get('1/audit')).text
  expect([count(first), first.includes('aria-current="page">Audit')]).toEqual([50, true])
  const older = /href="[^"]*(audit\?after=[^"]*)">Older/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? ''
  expect(older).toMatch(/^audit\?after=\d+$/)
  expect(count((await get(`1/${older}`)).text)).toBe(50)
  expect(count((await get('1/audit?actor=bob&action=endpoint.disabled')).text)).toBe(0)
  expect(count((await get('1/audit?action=endpoint.added')).text)).toBe(1)
  expect(count((await get('1/audit?from=2026-11-20T10:00&to=2026-11-20T10:05&actor=ada')).text)).toBe(2)
  expect((await get(`1/audit?subject=endpoint:${id}`)).text).toContain(`audit?subject=endpoint%3A${id}&amp;after=`)
  expect((await get('1/audit?actor=nobody')).text).toContain('No entry matches')

  const all = await get('1/audit/export')
  expect(all.headers.get('content-disposition')).toBe('attachment; filename="audit-1.ndjson"')
  const entries = all.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; action: string })
  expect(entries.length).toBeGreaterThan(120)
  expect(entries.map((entry) => entry.id)).toEqual(
    entries.map((entry) => entry.id).toSorted((one, other) => Number(one) - Number(other)),
  )
  expect((await get('1/audit/export?action=endpoint.added')).text.trimEnd().split('\n')).toHaveLength(1)
  expect((await get('1/audit/export?actor=nobody')).text).toBe('')
})

test.each([
  ['action=key.stolen', 'Action must be one of'],
  ['from=yesterday', 'From must be a date and time in ISO 8601'],
  ['subject=shoe:1', 'Subject.type must be one of network'],
])('the filter %s is refused beside its field, and nothing is listed', async (query, sentence) => {
  const { get } = await createTestPanel()
  const { status, text } = await get(`1/audit?${query}`)
  expect(status).toBe(422)
  expect(text).toContain(sentence)
  expect(text).not.toContain('<th scope="row">')
  expect((await get(`1/audit/export?${query}`)).status).toBe(422)
})

test('hostile names are text, and another network is like one that does not exist', async () => {
  const { community, get } = await createTestPanel({ ...admin, networks: ['1'], access: 'read' })
  const hostile = '<script>alert(1)</script>'
  const by = community.by({ actor: hostile, address: `"><img src=x>` })
  await by.endpoints.upsert({ network: '1', url: 'https://hooks.example.org/a', name: hostile, token: 'k' })
  await by.networks.update('2', { subtitle: 'of the other network' })
  const { text } = await get('1/audit')
  expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(text).not.toMatch(/<script>|<img src=x/)
  for (const path of ['1/audit', '1/audit/export']) expect((await get(path)).text).not.toContain('of the other network')
  for (const path of ['2/audit', '2/audit/export']) expect((await get(path)).status).toBe(404)
})

test('the audit and its export show names and reasons of bans no more than the pages of members do', async () => {
  const { get, community } = await createTestPanel(admin, { maskedFields: ['first_name', 'ban_reason'] })
  const body = { email: 'grace@example.org', first_name: 'Grace', last_name: 'Hopper' }
  const [grace, ben] = [
    await community.call('members.create', { network: '1', body }),
    await community.call('members.create', { network: '1', body: { ...body, email: 'ben@example.org' } }),
  ]
  await community.members.ban('1', grace.id, { reason: 'Sold watches' })
  await community.members.bulk('1', { ids: [ben.id] }, { ban: { reason: 'Sold watches' } })
  for (const path of ['1/audit', '1/audit/export']) {
    const { text } = await get(path)
    expect(text).toContain('member.banned')
    expect(text).toContain('•••')
    for (const hidden of ['Grace', 'Hopper', 'watches']) expect(text, path).not.toContain(hidden)
  }
})

test('details leave out what is not set, and have no JSON for lists and null', async () => {
  const { community, get } = await createTestPanel()
  const acting = community.by({ actor: 'ada@example.org' })
  const url = 'https://hooks.example.org/a'
  const { id } = await acting.endpoints.upsert({
    network: '1',
    url,
    token: true,
    events: ['PostCreatedHook', 'MemberJoinedHook'],
  })
  await acting.endpoints.update('1', id, { rate_per_second: 5, events: null })
  const { text } = await get('1/audit')
  expect(text).toContain('events: PostCreatedHook MemberJoinedHook, ')
  expect(text).toMatch(/events: PostCreatedHook MemberJoinedHook → none|rate_per_second: none → 5/)
  expect(text.slice(text.indexOf('<tbody>'))).not.toMatch(/null|&quot;/)
})
