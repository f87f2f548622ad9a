/** The write-ahead log of the relay's SQLite file, while somebody reads an old snapshot and afterwards. */
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { storePath } from '../../../../daemon/relay/open-store.ts'
import { createMetrics } from '../../../../daemon/relay/operate/metrics.ts'
import { bench, endpoint, event, receiver, until } from '../support.ts'

const MiB = 1024 * 1024
const filler = 'x'.repeat(200_000)
const large = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, place) =>
    event(`${prefix}${place}`, { body: JSON.stringify({ event_id: `${prefix}${place}`, filler }) }),
  )

/** A relay whose log has grown, because somebody reads a snapshot from before. */
async function grown() {
  const hook = await receiver()
  const all = await bench()
  const path = storePath(all.directory)
  const logSize = () => statSync(`${path}-wal`).size
  const reader = new DatabaseSync(path, { readOnly: true })
  onTestFinished(() => void (reader.isOpen && reader.close()))
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM events').get()
  const deliver = async (prefix: string, count: number): Promise<void> => {
    await all.append(...(prefix === 'first' ? [endpoint(hook.url)] : []), ...large(prefix, count))
    await until(() => all.attempts.filter(({ event_id }) => event_id.startsWith(prefix)).length === count, 'all are delivered')
  }
  await deliver('first', 150)
  expect(logSize()).toBeGreaterThan(24 * MiB)
  return { ...all, logSize, reader, deliver }
}

describe('the log of the store', () => {
  test('is emptied when its reader has left and nothing is in flight', async () => {
    const { relay, logSize, reader } = await grown()
    const metrics = createMetrics(() => relay, '1.2.3')
    expect(Number(/^relay_store_log_bytes (\d+)/m.exec(await metrics.text())?.[1])).toBe(logSize())
    reader.close()
    await until(() => logSize() === 0, 'the log is empty', 30)
    expect(await metrics.text()).toContain('relay_store_log_bytes 0')
  })

  test('shrinks by the next deliveries', async () => {
    const { relay, logSize, reader, deliver } = await grown()
    await relay.maintenance.purge()
    expect(logSize()).toBeGreaterThan(24 * MiB)
    reader.close()
    await deliver('next', 3)
    await until(() => logSize() <= 17 * MiB, 'the log is small', 30)
  })

  test('holds nothing up while its reader stays', async () => {
    const { relay, deliver, faults } = await grown()
    const begin = performance.now()
    await relay.maintenance.purge()
    await deliver('meanwhile', 5)
    // Waiting for the reader would take five seconds each time.
    expect(performance.now() - begin).toBeLessThan(4000)
    expect(faults).toEqual([])
  })
})
