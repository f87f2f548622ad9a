/** The network that the API's benchmarks read: spaces, posts, events and plans, and as many members as are wanted. */
import { performance } from 'node:perf_hooks'
import type { Community } from '../../lib/index.ts'
import type { Storage } from '../../lib/storage/contract.ts'
import { scoped } from '../../lib/storage/scoped.ts'
import { networks } from '../../lib/storage/tables/administration.ts'
import { members, spaces } from '../../lib/storage/tables/members.ts'
import { plans } from '../../lib/storage/tables/plans.ts'

/** Rows of one transaction, and how many of them are on their way at once. */
const [inTransaction, atOnce] = [10_000, 500]
/** The id of the first member; the others follow. The owner comes with the network, and has a later one. */
export const firstMember = 100_000
/** The id of the first space, and how many there are: posts of one space wait for each other. */
export const [firstSpace, spaceCount] = [2_000, 50]

/** How many posts, events and plans there are. */
const contentCount = 500
const firstPlan = 3_000

const stamp = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' }
const bio = 'Paints by the sea, mostly in the morning, and writes about it in the evening. '.repeat(4)

function memberAt(place: number) {
  const email = `member${place}@example.org`
  return {
    ...stamp,
    id: String(firstMember + place),
    email,
    email_key: email,
    first_name: 'Bela',
    // With a character outside of Latin-1, as names are.
    last_name: `Birch – ${place}`,
    bio,
    location: 'Delft',
    time_zone: 'Europe/Amsterdam',
  }
}

/**
 * Makes the network through the storage's own door, unless it is there.
 * @param onProgress is called now and then with the number of members
 * @returns the seconds that it took, the statistics of PostgreSQL included
 */
export async function seed(
  community: Community,
  storage: Storage,
  count: number,
  onProgress: (done: number) => void,
): Promise<number> {
  const begun = performance.now()
  const owner = { email: 'host@example.org', first_name: 'Ada', last_name: 'Ash' }
  await community.networks.create({ id: '1', subdomain: 'bench', title: 'Bench', service_plan: 'unlimited', owner })
  await storage.transaction(async (storageTx) => {
    const tx = scoped(storageTx, '1')
    for (let place = 0; place < spaceCount; place++)
      await tx.insert(spaces, { ...stamp, id: String(firstSpace + place), name: `Studio ${place}` })
    for (let place = 0; place < contentCount; place++)
      await tx.insert(plans, { ...stamp, id: String(firstPlan + place), name: `Plan ${place}`, description: bio })
  })
  for (let first = 0; first < count; first += inTransaction) {
    const end = Math.min(first + inTransaction, count)
    await storage.transaction(async (storageTx) => {
      const tx = scoped(storageTx, '1')
      for (let place = first; place < end; place += atOnce) {
        const length = Math.min(atOnce, end - place)
        await Promise.all(Array.from({ length }, (_, index) => tx.insert(members, memberAt(place + index))))
      }
    })
    onProgress(end)
  }
  await addContent(community)
  // PostgreSQL would do this by itself within a minute.
  await storage.transaction(async ({ native }) => {
    if (isQueryable(native)) await native.query('ANALYZE')
  })
  return (performance.now() - begun) / 1000
}

/** Posts and events over all spaces, and plans. */
async function addContent({ call }: Community): Promise<void> {
  for (let first = 0; first < contentCount; first += spaceCount)
    await Promise.all(
      Array.from({ length: spaceCount }, async (_, place) => {
        const text = { title: `Morning light ${first + place}`, description: bio }
        const times = { starts_at: '2027-01-01T10:00:00Z', ends_at: '2027-01-01T11:00:00Z', time_zone: 'Europe/Amsterdam' }
        const space_id = String(firstSpace + place)
        await call('posts.create', { network: '1', body: { ...text, space_id } })
        await call('events.create', { network: '1', body: { ...text, ...times, space_id, event_type: 'local' } })
      }),
    )
}

/** Whether there was a visitor before. */
export const isSeeded = (storage: Storage): Promise<boolean> =>
  storage.transaction(async (tx) => (await tx.get(networks, '1')) !== undefined, { readOnly: true })

const isQueryable = (native: unknown): native is { query(text: string): Promise<unknown> } =>
  typeof native === 'object' && native !== null && 'query' in native
