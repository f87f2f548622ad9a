import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { openOutbox } from '../../../../adapters/outbox/file.ts'
import { storePath } from '../../../../daemon/relay/open-store.ts'
import { startRelay } from '../../../../daemon/relay/relay.ts'
import type { SeparateStore } from '../../../../daemon/relay/store/separate-store.ts'
import { openSqliteStore } from '../../../../daemon/relay/store/sqlite/store.ts'
import { StorageError } from '../../../../lib/storage/contract.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { bench, endpoint, event, events, receiver, status, until } from '../support.ts'

describe('one endpoint', () => {
  test('that hangs, or many of them, do not keep the others waiting', async () => {
    const [hanging, healthy] = await Promise.all([receiver(() => undefined), receiver()])
    const { append, attempts } = await bench({ timeout: 60, maxInFlight: 100, maxInFlightPerEndpoint: 8 })
    const dead = Array.from({ length: 10 }, (_, index) => endpoint(hanging.url, { id: `${100 + index}` }))
    const alive = Array.from({ length: 10 }, (_, index) => endpoint(healthy.url, { id: `${200 + index}` }))
    await append(...dead, ...alive, ...events('e', 20))
    await until(() => healthy.received.length === 200, 'the healthy ones have everything')
    // None of the others has even timed out.
    expect(attempts.every(({ state }) => state === 'delivered')).toBe(true)
    // Each begins with one.
    await until(() => hanging.received.length >= 10, 'each of the hanging ones has one')
    expect(hanging.received.length).toBe(10)
  })

  test('that is dead, one that drips and one that fails do not touch 97 healthy ones', async () => {
    const [healthy, failing] = await Promise.all([receiver(), receiver(status(500))])
    const dripping = await receiver((_, response) => {
      response.writeHead(500, { 'content-length': '100000' })
      const drip = setInterval(() => response.write('x'), 50)
      response.on('close', () => clearInterval(drip))
    })
    const { append, attempts, relay } = await bench({ timeout: 60, retrySchedule: [0, 60, 60], breakerCooldown: 60 })
    // More than open a circuit.
    const count = 15
    const bad = ['http://127.0.0.1:1/', dripping.url, failing.url].map((url, index) => endpoint(url, { id: `${index + 1}` }))
    const good = Array.from({ length: 97 }, (_, index) => endpoint(healthy.url, { id: `${100 + index}` }))
    await append(...bad, ...good, ...events('e', count))
    await until(() => healthy.received.length === 97 * count, 'the healthy ones have everything')
    const ofHealthy = () => attempts.filter(({ endpoint_id }) => Number(endpoint_id) >= 100)
    await until(() => ofHealthy().length === 97 * count, 'and all of it is recorded')
    expect(ofHealthy().every(({ state, attempt }) => state === 'delivered' && attempt === 1)).toBe(true)
    // The cost that each of the bad ones may cause: one slot, and no more than opens its circuit.
    await until(() => relay.scheduler.inFlight === 1, 'only the dripping one is in flight')
    expect(dripping.received).toHaveLength(1)
    expect(failing.received.length).toBeLessThanOrEqual(13)
  })

  test('is one of a thousand at no great cost', async () => {
    const hook = await receiver()
    const { append, relay } = await bench()
    await append(...Array.from({ length: 1000 }, (_, index) => endpoint(hook.url, { id: `${index + 1}` })))
    await append(event('a'))
    await until(() => hook.received.length === 1000, 'each has it')
    expect(relay.scheduler.inFlight).toBeLessThanOrEqual(256)
  })

  test('with a mountain of retries gets its new events too', async () => {
    const hook = await receiver(({ id }, response) => void response.writeHead(id.startsWith('new') ? 204 : 500).end())
    const { append, attempts } = await bench({
      retrySchedule: Array.from({ length: 100 }, () => 0.001),
      breakerThreshold: 1000,
      maxInFlightPerEndpoint: 2,
    })
    await append(endpoint(hook.url), ...events('old', 200))
    await until(() => attempts.length > 300, 'the mountain is there')
    await append(...events('new', 5))
    const before = attempts.length
    await until(() => attempts.filter(({ state }) => state === 'delivered').length === 5, 'the new ones are delivered')
    expect(attempts.length - before).toBeLessThan(150)
  })
})

/** A store that fails as the test decides. */
function faulty(store: SeparateStore, change: (store: SeparateStore) => Partial<SeparateStore>): SeparateStore {
  return { ...store, ...change(store) }
}

async function withStore(change: (store: SeparateStore) => Partial<SeparateStore>) {
  const directory = temporaryDirectory()
  const outbox = await openOutbox({ directory })
  const hook = await receiver()
  const faults: string[] = []
  const relay = await startRelay({
    outbox: directory,
    settings: { allowHttp: true, allowPrivate: true },
    store: faulty(await openSqliteStore(storePath(directory)), change),
    onFault: (what) => faults.push(what),
  })
  const close = async () => {
    await relay.close(0)
    await outbox.close()
  }
  return { outbox, hook, faults, relay, close }
}

describe('a store that fails', () => {
  test('stops the sending until results can be recorded again, and then nothing is missing or doubled', async () => {
    let failing = false
    const { outbox, hook, faults, relay, close } = await withStore((store) => ({
      commit: (tick, now) => (failing ? Promise.reject(new StorageError('full', 'disk full')) : store.commit(tick, now)),
    }))
    await outbox.append([[endpoint(hook.url)], [event('first')]])
    await until(() => hook.received.length === 1, 'the first is delivered')
    failing = true
    await outbox.append(events('e', 100).map((each) => [each]))
    await until(() => faults.length > 0 && !relay.ready, 'the fault is told')
    expect(hook.received).toHaveLength(1)
    failing = false
    await until(() => hook.received.length === 101, 'all are delivered')
    await until(() => relay.ready, 'it is well again')
    await close()
    expect(new Set(hook.received.map(({ id }) => id)).size).toBe(101)
  })

  test('to ingest records is asked again, and the outbox is not cleared before', async () => {
    let failures = 3
    const order: string[] = []
    const { outbox, hook, faults, close } = await withStore((store) => ({
      async ingest(reading, now, delay) {
        if (failures-- > 0) throw new StorageError('full', 'disk full')
        order.push('ingest')
        return store.ingest(reading, now, delay)
      },
      async sync() {
        order.push('sync')
        await store.sync()
      },
      async forget(streams) {
        if (streams.length > 0) order.push('forget')
        await store.forget(streams)
      },
    }))
    await outbox.append([[endpoint(hook.url)], [event('a')]])
    await outbox.close()
    await until(() => order.includes('forget'), 'the outbox is cleared')
    expect(faults).toContain('the outbox cannot be ingested')
    expect(order.slice(order.lastIndexOf('ingest'), order.indexOf('forget') + 1)).toEqual(['ingest', 'sync', 'forget'])
    await until(() => hook.received.length === 1, 'it is delivered')
    await close()
  })

  test('to be read is asked again', async () => {
    let failures = 5
    const { outbox, hook, close } = await withStore((store) => ({
      peek: (...args) => (failures-- > 0 ? Promise.reject(new Error('i/o error')) : store.peek(...args)),
      outgoing: (waiting) => (failures-- > 0 ? Promise.reject(new Error('i/o error')) : store.outgoing(waiting)),
    }))
    await outbox.append([[endpoint(hook.url)], ...events('e', 20).map((each) => [each])])
    await until(() => new Set(hook.received.map(({ id }) => id)).size === 20, 'all are delivered')
    await close()
    expect(hook.received).toHaveLength(20)
  })

  test('of a later version, or of another kind, is refused and left alone', async () => {
    const directory = temporaryDirectory()
    const path = storePath(directory)
    mkdirSync(dirname(path))
    writeFileSync(path, 'this is no database, and long enough to be looked at as one'.repeat(50))
    const before = readFileSync(path)
    await expect(startRelay({ outbox: directory })).rejects.toMatchObject({ code: 'damaged' })
    expect(readFileSync(path)).toEqual(before)
    const other = temporaryDirectory()
    mkdirSync(dirname(storePath(other)))
    const newer = new DatabaseSync(storePath(other))
    newer.exec(`CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY); INSERT INTO meta VALUES ('schema_version', 99)`)
    newer.close()
    await expect(startRelay({ outbox: other })).rejects.toMatchObject({ code: 'newer' })
  })
})

test('a circuit that is open costs its endpoint’s events nothing', async () => {
  const hook = await receiver(status(500))
  const { append, attempts } = await bench({ breakerCooldown: 3600, retrySchedule: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0] })
  await append(endpoint(hook.url), ...events('e', 200))
  await until(() => attempts.some(({ breaker }) => breaker === 'open'), 'it is open')
  await new Promise((done) => setTimeout(done, 500))
  expect(attempts.length).toBeLessThanOrEqual(13)
})
