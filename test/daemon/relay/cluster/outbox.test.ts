/** How several relays ingest one outbox. */
import { expect, test } from 'vitest'
import { testPostgres } from '../../../support/postgres.ts'
import { endpoint, event, events, until } from '../support.ts'
import { cluster, clusterServer, times, untilShared, watched } from './support.ts'

const postgres = await testPostgres()
const server = await clusterServer(postgres)

test('a long transaction with an earlier place in the outbox holds no one up, and is not passed over when it ends', async () => {
  const hook = await watched((_, response) => void response.writeHead(204).end())
  const group = await cluster(server)
  const relays = await Promise.all(times(2).map(() => group.begin()))
  await group.append(endpoint(hook.at('/1'), { id: '1' }), endpoint(hook.at('/2'), { id: '2', order: 'fifo' }))
  await untilShared(group, relays, [1, 1])

  const writer = await postgres.client()
  const insert = async (id: string) => {
    const { rows } = await writer.query(`INSERT INTO "${group.schema}".outbox (records) VALUES ($1) RETURNING seq`, [
      JSON.stringify([event(id)]),
    ])
    return Number(rows[0].seq)
  }
  await writer.query('BEGIN')
  const early = await insert('early')
  const later = events('later', 40)
  await group.append(...later)
  await until(() => ['/1', '/2'].every((path) => hook.ids(path).length === later.length), 'those after it are delivered')
  expect(hook.received.map(({ id }) => id)).not.toContain('early')
  expect(await group.query('SELECT seq FROM $outbox.outbox')).toEqual([])
  await writer.query('COMMIT')
  await until(() => ['/1', '/2'].every((path) => hook.ids(path).includes('early')), 'it is delivered as well')
  expect(await insert('last')).toBeGreaterThan(early + later.length)
  await until(() => ['/1', '/2'].every((path) => hook.ids(path).includes('last')), 'and the last one')
  expect(hook.ids('/2')).toEqual([...later.map(({ event_id }) => event_id), 'early', 'last'])
  await until(async () => (await group.pending()) === 0, 'everything is recorded')
  expect(hook.received).toHaveLength(2 * (later.length + 2))
})

test('an endpoint gets the events that follow it in the outbox, whichever relay ingests them', async () => {
  const hook = await watched((_, response) => void response.writeHead(204).end())
  const group = await cluster(server)
  await Promise.all(times(3).map(() => group.begin()))
  const expected = new Map<string, string[]>()
  for (const round of times(25)) {
    await group.append(event(`before${round}`), endpoint(hook.at(`/${round}`), { id: `${round}`, order: 'fifo' }))
    await group.append(event(`after${round}`))
    expected.set(`/${round}`, [])
    for (const n of times(round)) expected.get(`/${n}`)?.push(`before${round}`)
    for (const n of times(round + 1)) expected.get(`/${n}`)?.push(`after${round}`)
  }
  await until(() => hook.received.length >= [...expected.values()].flat().length, 'all are delivered')
  await until(async () => (await group.pending()) === 0, 'everything is recorded')
  for (const [path, ids] of expected) expect(hook.ids(path)).toEqual(ids)
})

test('bodies of any length in bytes are kept apart when they are ingested together', async () => {
  const hook = await watched((_, response) => void response.writeHead(204).end())
  const group = await cluster(server)
  const titles = ['', 'Café', '海が六時に', '🌊🌊', 'a "quoted" \\ one', 'x'.repeat(300)]
  const recorded = titles.map((title, place) => event(`e${place}`, { body: JSON.stringify({ event_id: `e${place}`, title }) }))
  await group.append(endpoint(hook.at('/1')), ...recorded)
  await group.begin()
  await until(() => hook.received.length === titles.length, 'all are delivered')
  expect(new Map(hook.received.map(({ id, body }) => [id, body]))).toEqual(
    new Map(recorded.map(({ event_id, body }) => [event_id, body])),
  )
})
