import { expect, test } from 'vitest'
import { deliveryOf, relayOf } from './relay.ts'
import { admin, createTestPanel } from './support.ts'

const hostile = '<script>alert(1)</script>'

const failed = deliveryOf('f1', {
  ...{ state: 'dead', last_outcome: 'status', last_status: 500, attempts: 2 },
  body: JSON.stringify({ payload: { title: hostile, email: 'carl@example.org', tags: [{ email: 'bob@example.org' }] } }),
  history: [
    {
      number: 2,
      at: '2026-11-20T09:00:01.000Z',
      milliseconds: 31,
      status: 500,
      outcome: 'status',
      answer: hostile,
      answer_headers: 'server: hostile',
      reason: null,
    },
    {
      number: 1,
      at: '2026-11-20T09:00:00.000Z',
      milliseconds: 10_000,
      status: null,
      outcome: 'timeout',
      answer: null,
      answer_headers: null,
      reason: 'no response in time',
    },
  ],
})

test('the filter is in the address, goes to the relay whole, and is kept by the pages', async () => {
  const many = Array.from({ length: 60 }, (_, at) => deliveryOf(`d${at}`))
  const relay = relayOf({ 1: many })
  const { get } = await createTestPanel(admin, { relay })
  const query =
    'endpoint_id=7&event_type=PostCreated&state=dead&outcome=status&http_status=500&event_id=e1&subject=member%3A7&since=2026-11-20T08%3A00&until=2026-11-21T08%3A00'
  const { text } = await get(`1/deliveries?${query}`)
  expect(relay.filters).toEqual([
    {
      ...{ endpoint_id: '7', event_type: 'PostCreatedHook', state: 'dead', outcome: 'status', http_status: 500, event_id: 'e1' },
      subject: 'member:7',
      ...{ since: '2026-11-20T08:00:00.000Z', until: '2026-11-21T08:00:00.000Z' },
    },
  ])
  const [, older = ''] = /href="([^"]+)">Older/.exec(text) ?? []
  const link = older.replaceAll('&amp;', '&')
  expect(link).toContain('state=dead')
  expect((await get(link.replace('../', ''))).text).toContain('event-d59')
  expect(relay.filters[1]).toEqual(relay.filters[0])
})

test('a list that fits on one page has an empty navigation, which the style hides', async () => {
  const { get } = await createTestPanel(admin, { relay: relayOf({ 1: [failed] }) })
  expect((await get('1/deliveries')).text).toContain('<nav class="pager" aria-label="Pages"></nav>')
})

test('a page that is not full, with older deliveries to look through, shows that there may be more', async () => {
  const pages = [[], [failed]].map((items) => Object.assign(relayOf(), { list: async () => ({ items, next: '5' }) }))
  for (const [place, relay] of pages.entries()) {
    const { get } = await createTestPanel(admin, { relay })
    const { text } = await get('1/deliveries?event_type=PostCreated')
    expect([place, text.includes('There are older deliveries to look through')]).toEqual([place, true])
    expect([place, text.includes('No delivery matches so far'), />Older</.test(text)]).toEqual([place, place === 0, true])
  }
  const { get } = await createTestPanel(admin, { relay: relayOf({ 1: [failed] }) })
  expect((await get('1/deliveries?event_type=PostCreated')).text).not.toContain('to look through')
})

test('a filter that cannot be right lists nothing, and resends nothing', async () => {
  const relay = relayOf({ 1: [failed] })
  const { get, post } = await createTestPanel(admin, { relay })
  for (const wrong of ['state=gone', 'http_status=9', 'since=yesterday', 'since=2026-02-31', 'endpoint_id=x', 'outcome=y']) {
    const { status, text } = await get(`1/deliveries?${wrong}`)
    expect([wrong, status, text.includes('event-f1'), /-wrong"/.test(text)]).toEqual([wrong, 422, false, true])
    expect((await post(`1/deliveries/resend`, Object.fromEntries(new URLSearchParams(`all=1&${wrong}`)))).status).toBe(422)
  }
  expect([relay.filters, relay.resends]).toEqual([[], []])
})

test('a delivery shows its attempts, its body when requested, masked fields as dots, and hostile texts as texts', async () => {
  const { get } = await createTestPanel(admin, { relay: relayOf({ 1: [failed] }), maskedFields: ['Email'] })
  const closed = (await get('1/deliveries/f1')).text
  expect(closed).toContain('10,000 ms')
  expect(closed).toContain('No response in time: no response in time')
  expect(closed).toContain('&lt;script&gt;')
  expect(closed).not.toContain('carl@example.org')
  const open = (await get('1/deliveries/f1?body=1')).text
  expect(open).toContain('title')
  expect(open).toContain('••••••')
  for (const secret of ['carl@example.org', 'bob@example.org', '<script>alert']) expect(open).not.toContain(secret)
})

test('the body of an event for the host is never shown: the API keeps its addresses back', async () => {
  const delivery = deliveryOf('m1', { event_type: 'WelcomeEmailRequestedHook', body: '{"payload":{"email":"carl@example.org"}}' })
  const { get } = await createTestPanel(admin, { relay: relayOf({ 1: [delivery] }) })
  for (const path of ['1/deliveries/m1', '1/deliveries/m1?body=1']) {
    const { text } = await get(path)
    expect([path, text.includes('for the host application'), text.includes('carl@example.org')]).toEqual([path, true, false])
  }
})

test('a body that is deep or long is drawn in part', async () => {
  const deep = `${'['.repeat(5000)}1${']'.repeat(5000)}`
  const long = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => at))
  const relay = relayOf({ 1: [deliveryOf('deep', { body: deep }), deliveryOf('long', { body: long })] })
  const { get } = await createTestPanel(admin, { relay })
  expect((await get('1/deliveries/deep?body=1')).status).toBe(200)
  const { text } = await get('1/deliveries/long?body=1')
  expect(text).toContain('17001 more')
})

test('of a text or a name of many megabytes the beginning is drawn', async () => {
  const body = JSON.stringify({ ['n'.repeat(1_000_000)]: 1, title: 'Hello', text: '<'.repeat(15_000_000) })
  const { get } = await createTestPanel(admin, { relay: relayOf({ 1: [deliveryOf('huge', { body })] }) })
  const { text } = await get('1/deliveries/huge?body=1')
  expect(text.length).toBeLessThan(100_000)
  for (const shown of ['&quot;Hello&quot;', '… 999,800 more characters', '… 14,995,000 more characters'])
    expect(text).toContain(shown)
})

test("another network's delivery is not found, and cannot be resent", async () => {
  const relay = relayOf({ 1: [], 2: [failed] })
  const { get, post } = await createTestPanel({ ...admin, networks: ['1'] }, { relay })
  expect((await get('1/deliveries/f1')).status).toBe(404)
  expect((await get('2/deliveries/f1')).status).toBe(404)
  expect((await post('1/deliveries/f1/resend')).status).toBe(404)
  expect((await post('2/deliveries/f1/resend')).status).toBe(404)
  expect((await post('2/deliveries/resend', { all: '1' })).status).toBe(404)
  expect(relay.resends).toEqual([])
})

test('one delivery is resent by its button, in the name of the visitor', async () => {
  const relay = relayOf({ 1: [failed, deliveryOf('p1', { state: 'pending' })] })
  const { get, post } = await createTestPanel({ ...admin, address: '192.0.2.1' }, { relay })
  expect((await get('1/deliveries/p1')).text).not.toContain('p1/resend')
  expect((await post('1/deliveries/f1/resend')).headers.get('location')).toBe('../../../1/deliveries/f1?done=resent')
  const by = { actor: 'ada@example.org', address: '192.0.2.1' }
  expect(relay.resends).toEqual([{ network_id: '1', ids: ['f1'], per_second: 1, ...by }])
})

test('resending all asks with count and filter, is paced, shows progress and can be stopped', async () => {
  const relay = relayOf({ 1: [failed] })
  relay.counted = { count: 500_000, exact: false }
  const { get, post } = await createTestPanel(admin, { relay })
  const question = (await get('1/deliveries/resend?all=1&state=dead&event_type=PostCreatedHook')).text
  expect(question).toContain('Resend 500,000+ deliveries?')
  expect(question).toMatch(/<dt>State<\/dt>\s*<dd>Failed/)
  expect(question).toMatch(/name="state" value="dead"/)
  expect(relay.resends).toEqual([])
  const begun = await post('1/deliveries/resend', { all: '1', state: 'dead', event_type: 'PostCreatedHook', rate: '100' })
  expect(relay.resends).toEqual([
    { network_id: '1', per_second: 100, actor: 'ada@example.org', state: 'dead', event_type: 'PostCreatedHook' },
  ])
  expect(begun.headers.get('location')).toBe('../../1/deliveries/resends/r1?event_type=PostCreatedHook')
  const running = (await get('1/deliveries/resends/r1')).text
  expect(running).toContain('3 of 10 are queued again')
  expect(running).toContain('resends/r1/stop')
  expect((await post('2/deliveries/resends/r1/stop')).status).toBe(404)
  expect((await get('2/deliveries/resends/r1')).status).toBe(404)
  await post('1/deliveries/resends/r1/stop')
  expect((await get('1/deliveries/resends/r1')).text).toContain('Stopped')
})

test('resending what failed, when only waiting deliveries are left, says so and begins nothing', async () => {
  const { get } = await createTestPanel(admin, { relay: relayOf({ 1: [] }) })
  const since = '2026-01-01T00:00'
  const { status, headers } = await get(`1/deliveries/resend?all=1&state=dead&last_attempt_since=${since}`)
  expect(status).toBe(303)
  const back = `1/deliveries?${new URLSearchParams({ last_attempt_since: since, done: 'none' })}`
  expect(headers.get('location')).toBe(`../../${back}`)
  const { text } = await get(back)
  expect(text).toContain('No delivery matches, so nothing is resent.')
  expect(text).toMatch(/waiting one is retried by itself, or by “Try now” on its page/)
})

test('the selected deliveries are resent, and at least one must be selected', async () => {
  const relay = relayOf({ 1: [failed, deliveryOf('f2')] })
  const { get, post } = await createTestPanel(admin, { relay })
  expect((await get('1/deliveries')).text).toMatch(/name="id" value="f2"/)
  expect((await get('1/deliveries/resend?id=f1&id=f2')).text).toContain('Resend 2 deliveries?')
  await post('1/deliveries/resend', [
    ['id', 'f1'],
    ['id', 'f2'],
  ])
  expect(relay.resends).toMatchObject([{ ids: ['f1', 'f2'] }])
  expect((await post('1/deliveries/resend')).status).toBe(422)
})

test('without the right to resend no button is there, and the form is refused', async () => {
  const relay = relayOf({ 1: [failed] })
  const { get, post } = await createTestPanel({ ...admin, access: ['keys.create'] }, { relay })
  expect((await get('1/deliveries')).text).not.toMatch(/resend/i)
  expect((await post('1/deliveries/resend', { all: '1' })).status).toBe(403)
})

test('a waiting delivery says what it waits for instead of a due time in the past', async () => {
  const waiting = deliveryOf('w1', {
    state: 'pending',
    attempts: 0,
    next_attempt_at: '2026-11-20T09:30:00.000Z',
    last_status: 500,
  })
  const relay = relayOf({ 1: [waiting] })
  const { get } = await createTestPanel(admin, { relay, clock: { now: () => Date.parse('2026-11-20T10:00:30Z') } })
  for (const path of ['1/deliveries', '1/deliveries/w1']) expect((await get(path)).text).toContain('due now')
  relay.endpoints.push({ endpoint_id: '7', activity: 'circuit open', next_probe_at: '2026-11-20T10:05:00.000Z' })
  for (const path of ['1/deliveries', '1/deliveries/w1']) {
    const { text } = await get(path)
    expect(text).toContain('on hold: the receiver keeps failing, next try <time datetime="2026-11-20T10:05:00.000Z"')
    expect(text).not.toContain('09:30')
    expect(text).not.toContain('Delivered 500')
  }
})

test('resending all without a state means what failed, and names the endpoint', async () => {
  const relay = relayOf({ 1: [failed] })
  const { get, post, community } = await createTestPanel(admin, { relay })
  const { id } = await community.endpoints.upsert({
    network: '1',
    url: 'https://example.org/hook',
    name: 'Billing',
    token: true,
  })
  expect((await get('1/deliveries')).text).toContain('<span class="sr">Resend </span>all that failed')
  const question = (await get(`1/deliveries/resend?all=1&endpoint_id=${id}`)).text
  expect(question).toMatch(/<dt>Endpoint<\/dt>\s*<dd><bdi>Billing<\/bdi>/)
  expect(question).toMatch(/<dt>State<\/dt>\s*<dd>Failed/)
  await post('1/deliveries/resend', { all: '1', endpoint_id: id })
  await post('1/deliveries/resend', { all: '1', state: 'delivered' })
  expect(relay.resends.map(({ state, endpoint_id }) => ({ state, endpoint_id }))).toEqual([
    { state: 'dead', endpoint_id: id },
    { state: 'delivered', endpoint_id: undefined },
  ])
})

test('endpoints of one host are distinguished by their paths, and equal ones by their ids', async () => {
  const { get, community } = await createTestPanel(admin, { relay: relayOf() })
  const add = async (url: string, name?: string) =>
    (await community.endpoints.upsert({ network: '1', url, token: true, ...(name === undefined ? {} : { name }) })).id
  await add('https://example.org/a')
  await add('https://example.org/b')
  await add('https://other.example/a')
  const [one, two] = [await add('https://third.example/x?k=1', 'Mail'), await add('https://third.example/x?k=2', 'Mail')]
  const names = [...(await get('1/deliveries')).text.matchAll(/<option value="\d+" >([^<]+)</g)].map(([, name]) => name)
  expect(names).toEqual(
    expect.arrayContaining(['example.org/a', 'example.org/b', 'other.example', `Mail (${one})`, `Mail (${two})`]),
  )
})

test('what failed in the last hour, since yesterday, or ever is resent from above the list', async () => {
  const relay = relayOf({ 1: [failed] })
  const { get, post } = await createTestPanel(admin, { relay, clock: { now: () => Date.parse('2026-11-20T10:20:30Z') } })
  const { text } = await get('1/deliveries?event_type=PostCreated')
  const links = [
    ...text.matchAll(/<a class="button" href="\.\.\/(1\/deliveries\/resend\?[^"]*)"><span class="sr">Resend <\/span>([^<]*)</g),
  ]
  expect(links.map(([, , label]) => label)).toEqual([
    'what failed in the last hour',
    'what failed since yesterday',
    'all that failed',
  ])
  expect(text.indexOf('what failed since yesterday')).toBeLessThan(text.indexOf('aria-label="Deliveries"'))
  const since = [{ last_attempt_since: '2026-11-20T09:20:00.000Z' }, { last_attempt_since: '2026-11-19T00:00:00.000Z' }, {}]
  for (const [place, [, link = '']] of links.entries()) {
    const question = await get(link.replaceAll('&amp;', '&'))
    expect([question.status, question.text.includes('Last attempt since')]).toEqual([200, place < 2])
    const hidden = [...question.text.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)]
    await post(
      '1/deliveries/resend',
      hidden.map(([, name = '', value = '']): [string, string] => [name, value]),
    )
    const { actor: _, per_second: __, ...request } = relay.resends[place] ?? {}
    expect(request).toEqual({ network_id: '1', state: 'dead', event_type: 'PostCreatedHook', ...since[place] })
  }
  const delivered = (await get('1/deliveries?state=delivered')).text
  expect([delivered.includes('all that match'), delivered.includes('in the last hour')]).toEqual([true, false])
  expect((await get('1/deliveries?state=pending')).text).not.toContain('deliveries/resend?')
})

test('the response to the latest attempt of a failed delivery is open, and earlier ones are folded', async () => {
  const [second, first] = failed.history
  const again = deliveryOf('a1', {
    state: 'pending',
    history: [{ ...second, number: 3 }, { ...second, number: 2 }, first].flatMap((each) =>
      each?.outcome ? [each as never] : [],
    ),
  })
  const { get } = await createTestPanel(admin, { relay: relayOf({ 1: [failed, again] }) })
  expect((await get('1/deliveries/f1')).text.match(/<details open><summary>/g)).toHaveLength(1)
  const { text } = await get('1/deliveries/a1')
  expect([text.match(/<details /g)?.length, text.match(/<details open>/g)?.length]).toEqual([2, 1])
})

test('a delivery that waits is tried now after a question, and its endpoint too if that is on hold', async () => {
  const due = '2026-11-20T10:30:00.000Z'
  const waiting = (id: string, endpoint_id: string) => deliveryOf(id, { state: 'pending', endpoint_id, next_attempt_at: due })
  const relay = relayOf({ 1: [waiting('w1', '7'), waiting('w2', '8'), waiting('w3', '9'), failed] })
  const now = () => Date.parse('2026-11-20T10:00:30Z')
  const { get, post } = await createTestPanel(admin, { relay, clock: { now } })
  relay.endpoints.push(
    { endpoint_id: '7', circuit: 'open', activity: 'circuit open' },
    { endpoint_id: '8', next_attempt_at: due },
    { endpoint_id: '9', state: 'paused', activity: 'paused' },
  )
  const offers = async (path: string) => (await get(path)).text.includes('>Try now</a>')
  const pages = ['w1', 'w2', 'w3', 'f1'].map((id) => offers(`1/deliveries/${id}`))
  expect(await Promise.all(pages)).toEqual([true, true, false, false])
  const question = (await get('1/deliveries/w1/try')).text
  for (const part of ['Try PostCreated now?', due, 'slowly at first']) expect(question).toContain(part)
  expect((await get('1/deliveries/w2/try')).text).not.toContain('slowly at first')
  expect((await post('1/deliveries/w1/try')).headers.get('location')).toBe('../../../1/deliveries/w1?done=resent')
  await post('1/deliveries/w2/try')
  expect([relay.resends.map(({ ids }) => ids), relay.closed]).toEqual([[['w1'], ['w2']], ['7']])
  expect([(await post('1/deliveries/f1/try')).status, (await post('2/deliveries/w1/try')).status]).toEqual([409, 404])
})
