/** Filters and order of the lists of posts and events. */
import { expect, test } from 'vitest'
import { createTestCommunity, type TestCommunity } from '../../support/community.ts'
import type { Json } from '../../support/json.ts'
import { newMember, newPost, newSpace } from '../../support/records.ts'

type Query = Readonly<Record<string, string | number | boolean>>

const titles = async ({ send }: Pick<TestCommunity, 'send'>, id: string, query: Query) =>
  (await send(id, { query })).body.items.map(({ title }: Json) => title)

/** The titles of all pages of one record. */
async function walked({ send }: Pick<TestCommunity, 'send'>, id: string, query: Query) {
  const all: string[] = []
  for (let search: Query = { ...query, per_page: 1 }; ; ) {
    const { items, links } = (await send(id, { query: search })).body
    all.push(...items.map(({ title }: Json) => title))
    if (links.next === null) return all
    search = Object.fromEntries(new URL(links.next).searchParams)
  }
}

test('posts are found by words of title and summary, by space, author and creation, the newest first', async () => {
  const run = await createTestCommunity()
  const { clock, send, community } = run
  const [garden, kitchen] = [await newSpace(run), await newSpace(run, 'Kitchen')]
  const ben = await newMember(run, 'ben')
  await newPost(run, garden.id, { title: 'Rosés', description: '<p>All about <b>PRUNING</b> &amp; care</p>' })
  clock.advance(86_400_000)
  await community.call('posts.create', {
    network: '1',
    as: ben.id,
    body: { space_id: kitchen.id, title: 'Bread', description: 'Rose water' },
  })
  clock.advance(86_400_000)
  const last = await newPost(run, garden.id, { title: 'Tulips', description: 'None' })
  const found = (query: Query) => titles(run, 'posts.list', query)
  expect(await found({ q: 'rose' })).toEqual(['Bread', 'Rosés'])
  expect(await found({ q: 'pruning ROSES' })).toEqual(['Rosés'])
  expect(await found({ q: 'rose', space_id: kitchen.id })).toEqual(['Bread'])
  expect(await found({ creator_id: ben.id })).toEqual(['Bread'])
  expect(await found({ created_after: '2026-11-21T00:00:00Z' })).toEqual(['Tulips', 'Bread'])
  expect(await found({ created_before: '2026-11-21T00:00:00Z', q: 'care' })).toEqual(['Rosés'])
  expect(await walked(run, 'posts.list', { created_after: '2026-11-20T00:00:00Z' })).toEqual(['Tulips', 'Bread', 'Rosés'])
  expect(await walked(run, 'posts.list', { q: 'r' })).toEqual(['Bread', 'Rosés'])
  await send('posts.update', { params: { id: last.id }, body: { title: 'Roses again' } })
  expect(await found({ q: 'rose', count: true })).toEqual(['Roses again', 'Bread', 'Rosés'])
  expect((await send('posts.list', { query: { q: 'rose', count: true } })).body.meta).toMatchObject({ total_count: 3 })
  expect((await send('posts.list', { query: { creator_id: 'ben' } })).body.error).toBe('creator_id must be an id')
})

test('events are found by space and start, the latest or the earliest first', async () => {
  const run = await createTestCommunity()
  const [garden, kitchen] = [await newSpace(run), await newSpace(run, 'Kitchen')]
  const newEvent = (space_id: string, title: string, day: string) =>
    run.send('events.create', {
      body: {
        space_id,
        title,
        event_type: 'local',
        starts_at: `${day}T10:00:00Z`,
        ends_at: `${day}T11:00:00Z`,
        time_zone: 'UTC',
        location: 'Shed',
      },
    })
  await newEvent(garden.id, 'One', '2026-12-01')
  await newEvent(kitchen.id, 'Two', '2026-12-02')
  await newEvent(garden.id, 'Three', '2026-12-02')
  await newEvent(garden.id, 'Four', '2026-12-04')
  await newPost(run, garden.id)
  const found = (query: Query) => titles(run, 'events.list', query)
  expect(await found({})).toEqual(['Four', 'Three', 'Two', 'One'])
  expect(await found({ sort: 'starts_at' })).toEqual(['One', 'Two', 'Three', 'Four'])
  expect(await found({ space_id: garden.id })).toEqual(['Four', 'Three', 'One'])
  expect(await found({ starts_after: '2026-12-02T10:00:00Z', starts_before: '2026-12-04T10:00:00Z' })).toEqual(['Three', 'Two'])
  expect(await found({ space_id: garden.id, starts_after: '2026-12-02T00:00:00Z', sort: 'starts_at' })).toEqual(['Three', 'Four'])
  for (const sort of ['starts_at', '-starts_at'])
    for (const query of [{ sort }, { sort, space_id: garden.id }, { sort, starts_after: '2026-12-02T00:00:00Z' }])
      expect(await walked(run, 'events.list', query), JSON.stringify(query)).toEqual(await found(query))
  expect((await run.send('events.list', { query: { count: true, per_page: 3 } })).body.meta).toEqual({
    current_page: 1,
    per_page: 3,
    total_count: 4,
    total_pages: 2,
  })
  expect((await run.send('events.list', { query: { sort: 'title' } })).body.error).toBe(
    'sort must be one of starts_at, -starts_at',
  )
  expect((await run.send('events.list', { query: { starts_after: 'soon' } })).status).toBe(422)
})
