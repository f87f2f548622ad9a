/** Contents come as they were ingested, whether they are read with what waits or by themselves. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../../../../daemon/relay/store/sqlite/store.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { endpoint, event } from '../support.ts'

const bodyOf = (id: string, bytes: number): string => {
  const head = `{"id":"${id}","text":"`
  return `${head}${'é'.repeat((bytes - head.length - 2) / 2)}"}`.padEnd(bytes, ' ').slice(0, bytes)
}

async function storeWith(sizes: readonly number[]) {
  const path = join(temporaryDirectory(), 'relay.sqlite')
  const store = await openSqliteStore(path)
  await store.recover(0)
  const bodies = new Map(sizes.map((size, place) => [`e${place}`, bodyOf(`e${place}`, size)]))
  const records = [...bodies].map(([id, body]) => event(id, { body }))
  await store.ingest({ commits: [[endpoint('http://receiver.example/')], records], damage: [], positions: {}, more: false }, 0, 0)
  const [ref = 0] = (await store.endpoints()).map((each) => each.endpoint.ref)
  return { path, store, ref, bodies }
}

test('small and large bodies are read as they were ingested, however often', async () => {
  const { store, ref, bodies } = await storeWith([100, 8 * 1024, 8 * 1024 + 1, 100_000])
  const waiting = (await store.peek([ref], 'first', 10)).get(ref) ?? []
  for (const _ of ['kept', 'read again']) {
    const found = [...(await store.outgoing(waiting)).values()]
    expect(new Map(found.map(({ event_id, body }) => [event_id, Buffer.from(body).toString()]))).toEqual(bodies)
    expect(found.map(({ intact }) => intact)).toEqual([true, true, true, true])
  }
  await store.close()
})

test('a small body that differs from the ingested one is not intact', async () => {
  const { path, store, ref } = await storeWith([100, 100])
  const other = new DatabaseSync(path)
  other.exec(`UPDATE events SET body = CAST('{}' AS BLOB) WHERE event_id = 'e1'`)
  other.close()
  const waiting = (await store.peek([ref], 'first', 10)).get(ref) ?? []
  const found = [...(await store.outgoing(waiting)).values()]
  expect(found.map(({ event_id, intact }) => [event_id, intact])).toEqual([
    ['e0', true],
    ['e1', false],
  ])
  await store.close()
})

test('an event that goes to many endpoints is read once for all of them', async () => {
  const { store, ref } = await storeWith([])
  const others = ['2', '3'].map((id) => endpoint('http://receiver.example/', { id }))
  const records = [...others, event('e1'), event('e2')]
  await store.ingest({ commits: [records], damage: [], positions: {}, more: false }, 0, 0)
  const refs = (await store.endpoints()).map((each) => each.endpoint.ref)
  expect(refs).toHaveLength(3)
  const [withoutFirst] = (await store.peek([ref], 'first', 10)).get(ref) ?? []
  const waiting = await store.peek(refs, 'first', 10, new Map([[ref, [withoutFirst?.delivery ?? 0]]]))
  const found = await Promise.all(refs.map(async (each) => [...(await store.outgoing(waiting.get(each) ?? [])).values()]))
  expect(found.map((each) => each.map(({ event_id }) => event_id))).toEqual([['e2'], ['e1', 'e2'], ['e1', 'e2']])
  const [, second, third] = found
  expect(second?.map(({ body }, place) => body === third?.[place]?.body)).toEqual([true, true])
  await store.close()
})

test('a delivery with the number of a removed one has its own body', async () => {
  const { store, ref } = await storeWith([100])
  const [before] = (await store.peek([ref], 'first', 10)).get(ref) ?? []
  const { id, network_id } = endpoint('http://receiver.example/')
  const again = [endpoint('http://receiver.example/'), event('later', { body: '{"later":true}' })]
  const records = [{ kind: 'endpoint', action: 'remove', id, network_id } as const, ...again]
  await store.ingest({ commits: [records], damage: [], positions: {}, more: false }, 0, 0)
  const head = await store.head(ref)
  expect(head?.delivery).toBe(before?.delivery)
  const found = await store.outgoing(head ? [head] : [])
  expect([...found.values()].map(({ event_id }) => event_id)).toEqual(['later'])
  await store.close()
})
