/** The event of an update names the public fields that changed: those that a client finds different, and no other. */
import { expect, test } from 'vitest'
import { ports } from '../../adapters/ports/index.ts'
import { fieldsOfUpdate } from '../../lib/events/catalogue.ts'
import { operations } from '../../lib/operations.ts'
import type { EventRecord } from '../../lib/outbox/record.ts'
import { isSame } from '../../lib/storage/changes.ts'
import type { Json } from '../support/json.ts'
import { createSeededCommunity, seeded } from '../support/seed.ts'

/** A change of each field of each body: on which record, after which other change. */
type Change = readonly [value: unknown, params?: Readonly<Record<string, string>>, first?: object]

const weekly = { id: '423' }
const member = {
  role: ['moderator'],
  email: ['grace.hopper@example.org'],
  first_name: ['Gracie'],
  last_name: ['Murray'],
  member_type: ['full', { id: seeded.limited, user_id: seeded.limited }],
} satisfies Record<string, Change>
const text = { title: ['Something else'], description: ['<p>Something else.</p>'] } satisfies Record<string, Change>

const changes: Readonly<Record<string, Readonly<Record<string, Change>>>> = {
  'members.update': member,
  'space_members.update': member,
  'posts.update': text,
  'polls.update': text,
  'rsvps.update': {
    member_id: [seeded.loner],
    status: ['no'],
    instance_at: ['2026-12-27T10:00:00Z', { event_id: '423', id: 'new' }],
  },
  'events.update': {
    ...text,
    starts_at: ['2026-11-27T09:00:00Z'],
    ends_at: ['2026-11-27T15:00:00Z'],
    event_type: ['webinar'],
    link: ['https://example.org/other'],
    location: ['The greenhouse'],
    time_zone: ['Asia/Tokyo'],
    rsvp_enabled: [false],
    rsvp_closed: [true],
    restricted_event: [true],
    post_in_feed: [false],
    frequency: ['daily', weekly],
    interval: [2, weekly],
    by_days: ['SU,MO', weekly],
    by_month_days: ['1,15', weekly, { frequency: 'monthly' }],
    recurrence_count: [20, weekly],
    recur_until: ['2027-11-29T10:00:00Z', weekly],
  },
}

/** Each kind of post and of poll. */
const records: Readonly<Record<string, readonly string[]>> = {
  'posts.update': [seeded.post, seeded.otherPost],
  'polls.update': ['411', '412', '413', '414'],
}

const updates = operations.filter(
  ({ method, emits }) => method === 'PATCH' && emits.some((name) => fieldsOfUpdate(name).length > 0),
)

const cases = Object.entries(changes).flatMap(([id, fields]) =>
  (records[id] ?? ['']).flatMap((record) =>
    Object.entries(fields).map(([field, [value, params = {}, first]]) => ({
      ...{ id, field, value, first },
      params: record === '' ? params : { id: record },
    })),
  ),
)

test('every field of every update is changed below', () => {
  const bodies = updates.map(({ id, body }) => [id, Object.keys((body as Json).entries).toSorted()])
  expect(Object.fromEntries(bodies)).toEqual(
    Object.fromEntries(Object.entries(changes).map(([id, fields]) => [id, Object.keys(fields).toSorted()])),
  )
})

async function setUp() {
  const t = await createSeededCommunity({ ports: ports() })
  const act = async (id: string, parts: object): Promise<Json> => {
    const { status, body } = await t.send(id, parts)
    expect(status, `${id}: ${JSON.stringify(body)}`).toBeLessThan(300)
    return body
  }
  const updated = () =>
    t.records.filter((record): record is EventRecord => record.kind === 'event' && record.event_type.endsWith('UpdatedHook'))
  return { ...t, act, updated }
}

/** Times of changes accompany a change, and are none. */
const sayWhen = ['updated', 'updated_at', 'last_activity_at']

test.each(cases)('$id of $field names the fields that differ, of $params', async ({ id, field, value, params, first }) => {
  const t = await setUp()
  const own = id === 'events.update' ? seeded.event : id === 'rsvps.update' ? '431' : seeded.member
  const named = { event_id: seeded.event, space_id: seeded.space, user_id: seeded.member, id: own, ...params }
  const rsvp = { params: named, body: { member_id: seeded.member, status: 'yes' } }
  const whole = named.id === 'new' ? { ...named, id: (await t.act('rsvps.create', rsvp)).id } : named
  if (first) await t.act(id, { params: whole, body: first })
  const show = async (): Promise<Json> => {
    const shown = await t.act(id.replace('update', 'show'), { params: whole })
    // The summary is in the payload alone, and in the record of the same post.
    const post = /^(?:posts|polls|events)\./.test(id) ? await t.act('posts.show', { params: whole }) : {}
    return { shown, post }
  }
  const before = await show()
  const seen = t.updated().length
  t.clock.advance(60_000)
  await t.act(id, { params: whole, body: { [field]: value } })
  const after = await show()
  const [event] = t.updated().slice(seen)
  const { payload } = JSON.parse(event?.body ?? '') as { payload: Json }
  const differ = (part: 'shown' | 'post') =>
    Object.keys(after[part]).filter((name) => !sayWhen.includes(name) && !isSame(before[part][name], after[part][name]))
  const expected = new Set([...differ('shown'), ...differ('post').filter((name) => name in payload)])
  // The role is in no record.
  if (field === 'role') expected.add('role')
  expect(expected.size).toBeGreaterThan(0)
  expect(event?.changed?.toSorted()).toEqual([...expected].toSorted())
})

/** The names of the last event, and its type. */
const last = ({ updated }: Awaited<ReturnType<typeof setUp>>) => {
  const { event_type, changed } = updated().at(-1) ?? {}
  return [event_type, changed]
}

test('an answer names its text, or its options', async () => {
  const t = await setUp()
  const answer = (custom_field_id: string, body: object) =>
    t.act('answers.upsert', { params: { custom_field_id, member_id: seeded.member }, body })
  await answer(seeded.textField, { text: 'Slowly' })
  expect(last(t)).toEqual(['CustomFieldResponseUpdatedHook', ['text']])
  await answer(seeded.dropdown, { segment_ids: [String(Number(seeded.option) + 1)] })
  expect(last(t)).toEqual(['CustomFieldResponseUpdatedHook', ['segments']])
})

test('a second answer to an event names its status, and one that moves its occurrence', async () => {
  const t = await setUp()
  const params = { event_id: '423' }
  const answer = (status: string, more = {}) =>
    t.act('rsvps.create', { params, body: { member_id: seeded.loner, status, ...more } })
  await answer('yes')
  expect(t.updated()).toEqual([])
  await answer('no')
  expect(last(t)).toEqual(['RsvpUpdatedHook', ['status']])
  await answer('yes', { instance_at: '2026-12-27T10:00:00Z' })
  await t.act('events.update', { params: { id: '423' }, body: { starts_at: '2026-11-29T11:00:00Z' } })
  expect(last(t)).toEqual(['RsvpUpdatedHook', ['event_instance']])
})

test('the profile that the host reports names its fields, and consent the address that it shows', async () => {
  const t = await setUp()
  const profile = { time_zone: 'UTC', location: 'Here', bio: 'Short.', avatar: 'https://example.org/a.png' }
  for (const [name, value] of Object.entries(profile)) {
    await t.community.notify.memberProfile({ network: '1', member_id: seeded.loner, [name]: value })
    expect(last(t)).toEqual(['MemberUpdatedHook', [name]])
  }
  await t.community.notify.emailConsent({ network: '1', member_id: seeded.loner, consent: false })
  expect(last(t)).toEqual(['MemberUpdatedHook', ['email']])
  await t.act('members.update', { params: { id: seeded.loner }, body: { email: 'liskov@example.org' } })
  expect(last(t), 'although nobody sees it').toEqual(['MemberUpdatedHook', ['email']])
})

test('several changed fields are named together, and the body has none of it', async () => {
  const t = await setUp()
  const body = { role: 'host', first_name: 'Alan', last_name: 'T' }
  await t.act('members.update', { params: { id: '102' }, body })
  expect(last(t)).toEqual(['MemberUpdatedHook', ['last_name', 'role']])
  expect(t.updated().at(-1)?.body).not.toContain('changed')
})

test('what is created, and what the host publishes without names, names nothing', async () => {
  const t = await setUp()
  const { id } = await t.act('posts.create', { body: { space_id: seeded.space, title: 'Hello' } })
  const payload = { ...(await t.act('posts.show', { params: { id } })), author: { id, email: '', first_name: 'Ada' } }
  await t.community.publish({ network: '1', event: 'PostUpdated', payload })
  await t.community.publish({ network: '1', event: 'PostUpdated', payload, changed: [] })
  expect(t.records.flatMap((record) => ('changed' in record ? [record.changed] : []))).toEqual([])
})

test('what the host publishes names the fields that it gives, once and in their order, and no others', async () => {
  const t = await setUp()
  const { id } = await t.act('posts.create', { body: { space_id: seeded.space, title: 'Hello' } })
  const payload = { ...(await t.act('posts.show', { params: { id } })), author: { id, email: '', first_name: 'Ada' } }
  const publish = (event: 'PostUpdated' | 'PostCreated', changed: readonly string[]) =>
    t.community.publish({ network: '1', event, payload, changed })
  await publish('PostUpdated', ['title', 'description', 'title'])
  expect(last(t)).toEqual(['PostUpdatedHook', ['description', 'title']])
  const before = t.records.length
  for (const [event, changed, error] of [
    ['PostUpdated', ['titel'], 'changed must not have "titel": did you mean title?'],
    ['PostUpdated', ['updated_at'], /^changed must not have "updated_at": /],
    ['PostUpdated', 'title', 'changed must be a list'],
    ['PostUpdated', [7], /^changed\.0 /],
    ['PostCreated', ['title'], 'changed must not have "title": PostCreatedHook names no changed fields'],
  ] as const)
    await expect(publish(event, changed as never)).rejects.toMatchObject({
      ...{ status: 422, body: { error: typeof error === 'string' ? error : expect.stringMatching(error) } },
    })
  expect(t.records).toHaveLength(before)
})
