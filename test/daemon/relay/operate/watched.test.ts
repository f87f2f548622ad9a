import { renameSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { openOutbox } from '../../../../adapters/outbox/file.ts'
import { storePath } from '../../../../daemon/relay/open-store.ts'
import { createMetrics } from '../../../../daemon/relay/operate/metrics.ts'
import { type Relay, startRelay } from '../../../../daemon/relay/relay.ts'
import { noticeKinds } from '../../../../daemon/relay/store/notice.ts'
import type { SeparateStore } from '../../../../daemon/relay/store/separate-store.ts'
import { openSqliteStore } from '../../../../daemon/relay/store/sqlite/store.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { endpoint, event, receiver, until } from '../support.ts'

/** A relay with its figures, over an outbox in which one event waits. */
async function figures(change: (store: SeparateStore) => Partial<SeparateStore> = () => ({})) {
  const directory = temporaryDirectory()
  const hook = await receiver()
  const outbox = await openOutbox({ directory })
  const store = await openSqliteStore(storePath(directory))
  let relay: Relay | undefined
  const metrics = createMetrics(() => relay, '1.2.3')
  const settings = { allowHttp: true, allowPrivate: true }
  relay = await startRelay({ ...metrics, outbox: directory, settings, store: { ...store, ...change(store) } })
  onTestFinished(async () => {
    await relay?.close(0)
    await outbox.close().catch(() => undefined)
  })
  await outbox.append([[endpoint(hook.url)], [event('a')]])
  const figure = async (name: string): Promise<number> => {
    const line = (await metrics.text()).split('\n').find((each) => each.startsWith(`${name} `))
    return Number(line?.slice(name.length + 1))
  }
  return { directory, hook, outbox, relay, metrics, figure }
}

test('every count is there from the beginning, so that a first one can be seen', async () => {
  const text = await createMetrics(() => undefined, '1.2.3').text()
  for (const line of [
    'relay_faults_total 0',
    'relay_corrupt_records_total 0',
    'relay_breaker_transitions_total{to="open"} 0',
    ...noticeKinds.map((kind) => `relay_notices_total{kind="${kind}"} 0`),
  ])
    expect(text).toContain(line)
})

test('a relay whose outbox is gone is not ready, reports it again and again, and continues when it is back', async () => {
  const { directory, hook, figure } = await figures()
  await until(() => hook.received.length === 1, 'all is well')
  expect(await figure('relay_ready')).toBe(1)
  expect(await figure('relay_outbox_waiting{unit="bytes"}')).toBe(0)
  renameSync(directory, `${directory}-away`)
  await until(async () => (await figure('relay_faults_total')) > 2, 'it fails more than once')
  expect(await figure('relay_ready')).toBe(0)
  expect(await figure('relay_outbox_waiting{unit="bytes"}')).toBeNaN()
  const behind = await figure('relay_outbox_behind_seconds')
  await until(async () => (await figure('relay_outbox_behind_seconds')) > behind, 'it falls behind')
  renameSync(`${directory}-away`, directory)
  await until(async () => (await figure('relay_ready')) === 1, 'it goes on')
  await until(async () => (await figure('relay_outbox_behind_seconds')) < behind, 'it has caught up')
})

test('a relay that cannot ingest is not ready, falls behind, and counts every try', async () => {
  const { figure } = await figures(() => ({ ingest: () => Promise.reject(new Error('disk full')) }))
  await until(async () => (await figure('relay_faults_total')) > 2, 'it fails more than once')
  expect(await figure('relay_ready')).toBe(0)
  expect(await figure('relay_outbox_behind_seconds')).toBeGreaterThan(0)
  expect(await figure('relay_outbox_waiting{unit="bytes"}')).toBeGreaterThan(100)
  expect(await figure('relay_outbox_oldest_pending_seconds')).toBe(0)
})

test('figures come even if the store does not give any, and what is not known is not 0', async () => {
  const { hook, figure } = await figures(() => ({ counts: () => Promise.reject(new Error('away')) }))
  await until(() => hook.received.length === 1, 'it is delivered')
  expect(await figure('relay_ready')).toBe(1)
  expect(await figure('relay_dead_letter_events')).toBeNaN()
  expect(await figure('relay_outbox_oldest_pending_seconds')).toBeNaN()
})
