/** Requests that only need their parent to stay run side by side, on a real PostgreSQL. */
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { createCommunity } from '../../../../lib/index.ts'
import { spaces } from '../../../../lib/storage/tables/members.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { wrappedStorage } from '../../../support/storage.ts'

const server = await testPostgres()

/** Lets the first two continue when both have arrived. */
function meetingOfTwo() {
  const both = Promise.withResolvers<void>()
  let there = 0
  return () => {
    there += 1
    if (there === 2) both.resolve()
    return both.promise
  }
}

/** A network, whose two transactions that insert into a table meet right before it, each with its locks. */
async function network() {
  const database = await postgresStorage({ url: server.url, schema: server.newSchema(), statementTimeoutMs: 10_000 })
  let contested: string | undefined
  let meet = meetingOfTwo()
  const storage = wrappedStorage(database, {
    tx: (tx) => ({
      insert: (table, row) => (table.name === contested ? meet() : Promise.resolve()).then(() => tx.insert(table, row)),
    }),
  })
  const community = createCommunity({ storage })
  onTestFinished(() => community.close())
  const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: 'Host' }
  const { owner: ada } = await community.networks.create({ id: '1', subdomain: 'demo', title: 'Demo', owner })
  const grace = await community.call('members.create', {
    network: '1',
    body: { email: 'grace@example.org', first_name: 'Grace', last_name: '' },
  })
  const space = await community.call('spaces.create', { network: '1', body: { name: 'Garden' } })
  return {
    database,
    community,
    space: space.id,
    both: [ada.id, grace.id] as const,
    /** Does the same for both members at once. */
    async together(table: string, act: (member: string) => Promise<unknown>) {
      contested = table
      meet = meetingOfTwo()
      const outcomes = await Promise.allSettled([ada.id, grace.id].map(act))
      contested = undefined
      return outcomes.map(({ status }) => status)
    },
  }
}

const sideBySide = ['fulfilled', 'fulfilled']
const times = { starts_at: '2026-12-01T10:00:00Z', ends_at: '2026-12-01T12:00:00Z' }

test('posts, polls, events and memberships of one space do not wait for each other', async () => {
  const { community, space, together } = await network()
  const ofSpace = { space_id: space, title: 'Hello' }
  expect(await together('posts', (as) => community.call('posts.create', { network: '1', as, body: ofSpace }))).toEqual(sideBySide)
  const poll = { ...ofSpace, poll_type: 'question' } as const
  expect(await together('posts', (as) => community.call('polls.create', { network: '1', as, body: poll }))).toEqual(sideBySide)
  const event = { ...ofSpace, ...times, event_type: 'local_meetup' } as const
  expect(await together('posts', (as) => community.call('events.create', { network: '1', as, body: event }))).toEqual(sideBySide)
  const join = (user_id: string) =>
    community.call('space_members.create', { network: '1', params: { space_id: space }, query: { user_id } })
  expect(await together('space_memberships', join)).toEqual(sideBySide)
})

test('reactions to one post, mutes of it and answers to one event do not wait for each other', async () => {
  const { community, space, together } = await network()
  const post = await community.call('posts.create', { network: '1', body: { space_id: space, title: 'Hello' } })
  const react = (as: string) =>
    community.call('post_reactions.create', { network: '1', as, params: { post_id: post.id }, body: { emoji: '🌱' } })
  expect(await together('reactions', react)).toEqual(sideBySide)
  const mute = (user_id: string) =>
    community.call('mute.create', { network: '1', params: { post_id: post.id }, query: { user_id } })
  expect(await together('mutes', mute)).toEqual(sideBySide)
  const body = { space_id: space, title: 'Planting', event_type: 'local_meetup', ...times } as const
  const event = await community.call('events.create', { network: '1', body })
  const answer = (member_id: string) =>
    community.call('rsvps.create', { network: '1', params: { event_id: event.id }, body: { member_id, status: 'yes' } })
  expect(await together('rsvps', answer)).toEqual(sideBySide)
})

test('sign-ups for one plan do not wait for each other', async () => {
  const { community, together } = await network()
  const plan = await community.notify.plan({ network: '1', name: 'House' })
  const grant = (user_id: string) =>
    community.call('plan_members.create', { network: '1', params: { plan_id: plan.id }, query: { user_id } })
  expect(await together('plan_memberships', grant)).toEqual(sideBySide)
})

test('an update lock waits for every share lock, and gives the row as it is then', async () => {
  const { database, space } = await network()
  const meet = meetingOfTwo()
  const ends: string[] = []
  const locked = Promise.withResolvers<void>()
  const share = (name: string) =>
    database.transaction(async (tx) => {
      await tx.lock(spaces, space, 'share')
      await meet()
      locked.resolve()
      await waitsForLock()
      ends.push(name)
    })
  const change = locked.promise.then(() =>
    database.transaction(async (tx) => {
      await tx.lock(spaces, space, 'update')
      ends.push('update')
      await tx.update(spaces, space, { name: 'Cellar' })
    }),
  )
  /** Until the change waits for a lock. */
  async function waitsForLock(): Promise<void> {
    const client = await server.client()
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FOR UPDATE%'`
    while ((await client.query(waiting)).rows.length === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all([share('one'), share('other'), change])
  expect(ends.toSorted()).toEqual(['one', 'other', 'update'])
  expect(ends.at(-1)).toBe('update')
})
