import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../../../daemon/relay/clock.ts'
import { outboxIntake } from '../../../../daemon/relay/ingest/outbox-intake.ts'
import { piecesOf } from '../../../../daemon/relay/ingest/split-batch.ts'
import { openSqliteStore } from '../../../../daemon/relay/store/sqlite/store.ts'
import type { OutboxRecord } from '../../../../lib/outbox/record.ts'
import type { OutboxSource, Reading } from '../../../../lib/outbox/source.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { endpoint, event, events } from '../support.ts'

const reading = (...records: OutboxRecord[]): Reading => ({
  commits: [records],
  positions: { stream: 1 },
  damage: [],
  more: false,
})

const ids = (pieces: readonly Reading[]) =>
  pieces.map(({ commits }) => commits.flat().map((record) => (record.kind === 'event' ? record.event_id : record.kind)))

describe('what was read of the outbox', () => {
  test('is cut into pieces of so many deliveries, and its position goes with the last one', () => {
    const pieces = piecesOf(reading(...events('e', 5)), () => 4, 8)
    expect(ids(pieces)).toEqual([['e0', 'e1'], ['e2', 'e3'], ['e4']])
    expect(pieces.map(({ positions, more }) => [positions, more])).toEqual([
      [{}, true],
      [{}, true],
      [{ stream: 1 }, false],
    ])
  })

  test('goes by one event where one has more', () => {
    expect(ids(piecesOf(reading(...events('e', 3)), ({ event_id }) => (event_id === 'e1' ? 100 : 1), 8))).toEqual([
      ['e0'],
      ['e1'],
      ['e2'],
    ])
  })

  test('stays whole where an endpoint changes in it', () => {
    const whole = reading(event('a'), endpoint('https://example.org/'), event('b'))
    expect(piecesOf(whole, () => 1000, 8)).toEqual([whole])
  })
})

describe('an event for many endpoints', () => {
  test('is ingested in pieces, once each, though the relay dies between two of them', async () => {
    const path = join(temporaryDirectory(), 'relay.sqlite')
    const store = await openSqliteStore(path)
    onTestFinished(() => store.close())
    await store.recover(0)
    const endpoints = Array.from({ length: 300 }, (_, index) => endpoint('https://example.org/', { id: String(index + 1) }))
    await store.ingest({ ...reading(...endpoints), positions: {} }, 0, 0)
    const source: OutboxSource = {
      read: async (positions) =>
        positions['stream'] === 1 ? { ...reading(), commits: [], positions: {} } : reading(...events('e', 20)),
      settle: async () => [],
      backlog: async () => ({ unit: 'commits', count: 0 }),
      watch: () => () => {},
      close: async () => {},
    }

    const first = await outboxIntake(source, store, systemClock)
    const one = await first.next(() => 0, 0)
    expect([one.ingested?.events, one.more]).toEqual([3, true])
    expect(await store.positions()).toEqual({})

    // The next relay begins where the positions say.
    const second = await outboxIntake(source, store, systemClock)
    let duplicates = 0
    for (let more = true; more; ) {
      const piece = await second.next(() => 0, 0)
      duplicates += piece.ingested?.duplicates ?? 0
      more = piece.more
    }
    expect(duplicates).toBe(3)
    expect(await store.positions()).toEqual({ stream: 1 })
    expect((await store.counts()).pending).toBe(20 * 300)
  })
})
