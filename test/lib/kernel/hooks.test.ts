import { expect, test } from 'vitest'
import { ApiError, type BeforeHook, type CommittedEvent, type FaultContext } from '../../../lib/index.ts'
import { audit } from '../../../lib/storage/tables/administration.ts'
import { spaces } from '../../../lib/storage/tables/members.ts'
import { createTestCommunity } from '../../support/community.ts'
import { newSpace } from '../../support/records.ts'

const member = { email: 'new@example.org', first_name: 'New', last_name: 'Member' }

test('`before` sees the checked request of every operation', async () => {
  const seen: BeforeHook[] = []
  const { send, owner } = await createTestCommunity({ hooks: { before: (call) => void seen.push(call) } })
  const { body } = await send('tags.create', { body: { title: 'x', unknown: 1 } })
  await send('tags.replace', { params: { id: body.id }, body: { title: 'y' } })
  expect(
    seen.map(({ operation, params, query, body, principal }) => ({ id: operation.id, params, query, body, principal })),
  ).toEqual([
    {
      id: 'tags.create',
      params: {},
      query: {},
      body: { title: 'x' },
      principal: expect.objectContaining({ member_id: owner.id }),
    },
    {
      id: 'tags.update',
      params: { id: body.id },
      query: {},
      body: { title: 'y' },
      principal: expect.objectContaining({ scopes: ['*'] }),
    },
  ])
})

test('`before` is not called for requests that were refused already', async () => {
  const seen: string[] = []
  const { send, sendAs } = await createTestCommunity({ hooks: { before: ({ operation }) => void seen.push(operation.id) } })
  await send('tags.create', { body: {} })
  await sendAs('fmt_nobody')('tags.list')
  expect(seen).toEqual([])
})

test('a veto undoes what `before` itself has written, and the client reads its sentence', async () => {
  const { send, newEvents, faults } = await createTestCommunity({
    hooks: {
      async before({ operation, tx }) {
        if (operation.id !== 'members.create') return
        await tx.insert(spaces, {
          id: '5',
          created_at: '2026-01-01T00:00:00.000Z',
          updated_at: '2026-01-01T00:00:00.000Z',
          name: 'x',
        })
        throw new ApiError(409, { error: 'Not on Sundays' }, { 'x-why': 'sunday' })
      },
    },
  })
  const response = await send('members.create', { body: member })
  expect({ status: response.status, body: response.body, why: response.headers.get('x-why') }).toEqual({
    status: 409,
    body: { error: 'Not on Sundays' },
    why: 'sunday',
  })
  expect((await send('spaces.list')).body.items).toEqual([])
  expect((await send('members.list')).body.items).toHaveLength(1)
  expect(newEvents()).toEqual([])
  expect(faults).toEqual([])
})

test('what `before` writes is committed together with the operation', async () => {
  const { send } = await createTestCommunity({
    hooks: {
      async before({ operation, tx }) {
        if (operation.id !== 'tags.create') return
        await tx.insert(spaces, {
          id: '5',
          created_at: '2026-01-01T00:00:00.000Z',
          updated_at: '2026-01-01T00:00:00.000Z',
          name: 'x',
        })
      },
    },
  })
  expect((await send('tags.create', { body: { title: 'x' } })).status).toBe(201)
  expect((await send('spaces.list')).body.items).toHaveLength(1)
})

const stamp = { id: '5', created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' }
const forged = { actor: 'mallory', action: 'key.created', subject_type: 'key', subject_id: '1', details: {} } as const

const forbidden: readonly (readonly [string, (tx: BeforeHook['tx'], space: string) => Promise<unknown>])[] = [
  // @ts-expect-error: a row keeps its network
  ['move a row into another network', (tx, space) => tx.update(spaces, space, { network_id: '2' })],
  // @ts-expect-error: a row keeps its id
  ['give a row another id', (tx, space) => tx.update(spaces, space, { id: '7' })],
  ['add a line to the audit', (tx) => tx.insert(audit, { ...stamp, ...forged })],
  ['change a line of the audit', async (tx) => tx.update(audit, (await tx.first(audit, {}))?.id ?? '', { actor: 'mallory' })],
  ['remove a line of the audit', async (tx) => tx.remove(audit, (await tx.first(audit, {}))?.id ?? '')],
  // @ts-expect-error: only the erasure of a person does that
  ['redact a line of the audit', async (tx) => tx.redact(audit, (await tx.first(audit, {}))?.id ?? '', { actor: 'mallory' })],
  // @ts-expect-error: events come from operations and from the host's own calls
  ['put a record into the outbox', (tx) => tx.append([{ kind: 'erasure', network_id: '2', ids: ['1'] }])],
]

test.each(forbidden)('`before` cannot %s: the request fails, and nothing has changed', async (_what, attempt) => {
  let space = ''
  const faults: unknown[] = []
  const t = await createTestCommunity({
    hooks: {
      async before({ operation, tx }) {
        if (operation.id === 'tags.create') await attempt(tx, space)
      },
      onError: (error) => void faults.push(error),
    },
  })
  await t.community.keys.create({ network: '1', name: 'Export', scopes: ['*:read'] })
  space = (await newSpace(t)).id
  const whole = () =>
    t.storage.transaction(async (tx) => [await tx.find(spaces, {}), await tx.find(audit, {})], { readOnly: true })
  const before = await whole()
  expect((await t.send('tags.create', { body: { title: 'x' } })).status).toBe(500)
  expect(faults).toEqual([expect.any(TypeError)])
  expect(await whole()).toEqual(before)
  expect((await t.send('tags.list')).body.items).toEqual([])
})

test('`after` gets each event once, and only after the commit', async () => {
  const told: CommittedEvent[] = []
  const committed: number[] = []
  const { send, community, events } = await createTestCommunity({
    hooks: {
      async after(event) {
        told.push(event)
        committed.push((await community.call('members.list', { network: '1' })).items.length)
      },
    },
  })
  const refused = await send('members.create', { body: { ...member, email: 'host@example.org' } })
  expect(refused.status).toBe(422)
  await send('members.create', { body: member })
  await community.close()
  expect(told.map(({ event_type, payload }) => ({ event_type, payload }))).toEqual(
    [...events(), ...events('host')].map(({ event_type, payload }) => ({ event_type, payload })),
  )
  expect(told.map(({ event_type }) => event_type)).toEqual(['MemberJoinedHook', 'WelcomeEmailRequestedHook'])
  expect(committed).toEqual([2, 2])
})

/** Writes over every text of a value and adds to every list. */
function scribble(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) value.push('scribbled')
  const fields = value as Record<string, unknown>
  for (const [name, inner] of Object.entries(fields)) {
    if (typeof inner === 'string') fields[name] = 'scribbled'
    else scribble(inner)
  }
}

test('a payload is for `after` alone: what the hook changes in it reaches no row, no response and no webhook', async () => {
  const scribbled: string[] = []
  const { send, events } = await createTestCommunity({
    hooks: {
      after(event) {
        scribble(event.payload)
        scribbled.push(event.event_type)
      },
    },
  })
  const { id: space_id } = (await send('spaces.create', { body: { name: 'Garden' } })).body
  const poll = { space_id, title: 'Which?', poll_type: 'multiple_choice', choices: ['Red', 'Green'] }
  const made = await send('polls.create', { body: poll })
  const person = await send('members.create', { body: member })
  expect(scribbled).toEqual(expect.arrayContaining(['MultipleChoicePollCreatedHook', 'MemberJoinedHook']))
  const shown = await send('polls.show', { params: { id: made.body.id } })
  expect([made.status, shown.status]).toEqual([201, 200])
  expect(JSON.stringify([made.body, person.body, shown.body, events()])).not.toContain('scribbled')
})

test('what `after` throws spoils nothing and goes to `onError`', async () => {
  const faults: unknown[] = []
  const { send, community } = await createTestCommunity({
    hooks: {
      after() {
        throw new Error('after')
      },
      onError: (error, about) => faults.push([error, about]),
    },
  })
  expect((await send('members.create', { body: { ...member, send_welcome_email: false } })).status).toBe(201)
  await community.close()
  expect(faults).toEqual([[new Error('after'), { task: 'hooks.after', event_id: expect.any(String) }]])
})

test('a fault in `before` is a 500, and `onError` is given which request it was', async () => {
  const faults: { error: unknown; about: FaultContext }[] = []
  const { send } = await createTestCommunity({
    hooks: {
      before() {
        throw new Error('password=hunter2')
      },
      onError: (error, about) => faults.push({ error, about }),
    },
  })
  const response = await send('tags.list')
  expect({ status: response.status, body: response.body }).toEqual({
    status: 500,
    body: { error: 'Internal server error', request_id: faults[0]?.about.request_id },
  })
  expect(faults).toEqual([
    { error: new Error('password=hunter2'), about: { request_id: expect.any(String), operation: 'tags.list' } },
  ])
})
