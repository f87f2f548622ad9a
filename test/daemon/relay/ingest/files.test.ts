import { copyFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { nodeFileSystem } from '../../../../adapters/files/file-system.ts'
import { openOutbox, outboxDirectory } from '../../../../adapters/outbox/file.ts'
import { storePath } from '../../../../daemon/relay/open-store.ts'
import { startRelay } from '../../../../daemon/relay/relay.ts'
import { failure } from '../../../adapters/outbox/support.ts'
import { startWriter } from '../../../adapters/outbox/writer-process.ts'
import { bench, endpoint, event, events, receiver, until } from '../support.ts'

const segments = (directory: string): string[] => readdirSync(directory).filter((name) => name.endsWith('.ndjson'))

/** Changes the relay's store while no relay works on it. */
function tamper(directory: string, sql: string): void {
  const database = new DatabaseSync(storePath(directory))
  database.exec(sql)
  database.close()
}

describe('the relay of a directory', () => {
  test('clears the outbox once what stood in it is durable in its own store', async () => {
    const hook = await receiver()
    const { append, directory, closeOutbox } = await bench()
    await append(endpoint(hook.url), ...events('e', 50))
    await until(() => hook.received.length === 50, 'all are delivered')
    // The segment of a writer that may still write stays.
    expect(readdirSync(directory).filter((name) => name.endsWith('.ndjson'))).toHaveLength(1)
    await append(event('last'))
    await closeOutbox()
    await until(() => readdirSync(directory).join() === 'relay', 'nothing is left but the relay’s own directory')
    await until(() => hook.received.length === 51, 'the last one is delivered')
  })

  test('keeps its files from other users', async () => {
    const { directory } = await bench()
    const modes = readdirSync(join(directory, 'relay'))
      .filter((name) => !name.endsWith('.sock'))
      .map((name) => statSync(join(directory, 'relay', name)).mode & 0o777)
    expect(new Set(modes)).toEqual(new Set([0o600]))
  })

  test('refuses to work on an outbox that another one works on', async () => {
    const { directory } = await bench()
    await expect(startRelay({ outbox: directory })).rejects.toMatchObject({
      code: 'locked',
      message: expect.stringContaining('another relay'),
    })
  })
})

describe('a position in the relay’s store', () => {
  test('that is older than what was ingested costs nothing: events are known by their ids', async () => {
    const hook = await receiver()
    const all = await bench()
    await all.append(endpoint(hook.url), ...events('e', 20))
    await until(() => hook.received.length === 20, 'all are delivered')
    await all.relay.close()
    tamper(all.directory, 'UPDATE positions SET position = 0')
    await all.restart()
    await all.append(event('later'))
    await until(() => hook.received.some(({ id }) => id === 'later'), 'the later one is delivered')
    expect(hook.received).toHaveLength(21)
  })

  test('that is beyond the end of a segment, or names one that is gone, holds nothing up', async () => {
    const hook = await receiver()
    const all = await bench()
    await all.append(endpoint(hook.url), event('a'))
    await until(() => hook.received.length === 1, 'it is delivered')
    await all.relay.close()
    await all.closeOutbox()
    tamper(all.directory, `UPDATE positions SET position = position + 1000000; INSERT INTO positions VALUES ('gone', 7)`)
    const next = await openOutbox({ directory: all.directory })
    await next.append([[event('b')]])
    await all.restart()
    await until(() => hook.received.some(({ id }) => id === 'b'), 'the next one is delivered')
    await next.close()
    await until(() => segments(all.directory).length === 0, 'what is ingested is cleared')
    expect(all.faults).toEqual([])
  })
})

describe('segments that', () => {
  test('are torn, flipped, missing, empty or of a foreign version cost themselves and nothing else', async () => {
    const hook = await receiver()
    const all = await bench()
    await all.append(endpoint(hook.url))
    await until(() => all.relay.scheduler.endpoint(1) !== undefined, 'the endpoint is known')
    await all.relay.close()
    const made: Record<string, string> = {}
    for (const name of ['torn', 'flipped', 'missing', 'good']) {
      const known = new Set(segments(all.directory))
      const outbox = await openOutbox({ directory: all.directory })
      await outbox.append([[event(`${name}-1`)], [event(`${name}-2`)]])
      await outbox.close()
      made[name] = join(all.directory, segments(all.directory).find((each) => !known.has(each)) ?? '')
    }
    const { torn = '', flipped = '', missing = '', good = '' } = made
    // The last line loses its end; of the first one a byte changes.
    truncateSync(torn, 400)
    const bytes = Buffer.from(
      await nodeFileSystem.open(flipped).then(async (file) => {
        const into = Buffer.alloc(2000)
        const length = await file.read(into, 0)
        await file.close()
        return into.subarray(0, length)
      }),
    )
    bytes[100] = (bytes[100] ?? 0) ^ 1
    writeFileSync(flipped, bytes)
    rmSync(missing)
    const empty = good.replace(/-(\d+)\.v/, '-0000000099.v')
    writeFileSync(empty, '')
    copyFileSync(good, good.replace(/\.v\d\./, '.v9.'))
    await all.restart()
    await until(
      () => ['torn-1', 'flipped-2', 'good-1', 'good-2'].every((id) => hook.received.some((one) => one.id === id)),
      'the whole ones are delivered',
    )
    await until(() => all.notices.filter(({ kind }) => kind === 'outbox.damaged').length === 3, 'the damage is told')
    expect(hook.received.map(({ id }) => id).sort()).toEqual(['flipped-2', 'good-1', 'good-2', 'torn-1'])
    expect(readdirSync(all.directory).filter((name) => name.endsWith('.broken'))).toHaveLength(2)
  })

  test('cannot be removed, on a disk that has become read-only, are delivered all the same, once', async () => {
    const hook = await receiver()
    const readOnly = (): Promise<never> => Promise.reject(failure('EROFS'))
    const all = await bench()
    await all.relay.close()
    const files = { ...nodeFileSystem, remove: readOnly, create: readOnly }
    const second = await bench({}, { outbox: all.directory, source: outboxDirectory(all.directory, { files }) })
    await all.append(endpoint(hook.url), ...events('e', 20))
    await all.closeOutbox()
    await until(() => second.faults.length > 0, 'that it cannot be cleared is told')
    await until(() => hook.received.length === 20, 'all are delivered')
    expect(segments(all.directory)).toHaveLength(1)
    await second.relay.close()
    await all.restart()
    await until(() => segments(all.directory).length === 0, 'they are cleared once that is possible')
    expect(hook.received).toHaveLength(20)
  })
})

test('a store of the first version is migrated, with what it holds', async () => {
  const hook = await receiver()
  const all = await bench()
  await all.append(endpoint(hook.url, { enabled: false }), event('a'))
  await until(async () => (await all.relay.store.counts()).pending === 1, 'it waits')
  await all.relay.close()
  tamper(
    all.directory,
    'ALTER TABLE events RENAME COLUMN received_at TO taken; ALTER TABLE deliveries RENAME COLUMN interruptions TO starts; ' +
      'ALTER TABLE attempts DROP COLUMN answer; ALTER TABLE events DROP COLUMN crc; DROP TABLE set_aside; ' +
      'DROP INDEX deliveries_subject; DROP INDEX deliveries_skipped; ALTER TABLE endpoints DROP COLUMN fresh_starts; ' +
      'ALTER TABLE endpoints DROP COLUMN name; ALTER TABLE endpoints DROP COLUMN old; ' +
      'ALTER TABLE endpoints DROP COLUMN old_until; ALTER TABLE events DROP COLUMN subject; ALTER TABLE deliveries DROP COLUMN subject; PRAGMA user_version = 1; ' +
      `DELETE FROM meta WHERE name = 'schema_version'`,
  )
  await all.restart()
  await all.append(endpoint(hook.url))
  await until(() => hook.received.length === 1, 'it is delivered')
})

describe('writers', () => {
  test('sixteen concurrent writers, killed one after the other, have everything delivered that they acknowledged', async () => {
    const hook = await receiver()
    const all = await bench()
    await all.append(endpoint(hook.url))
    await until(() => all.relay.scheduler.endpoint(1) !== undefined, 'the endpoint is known')
    const writers = Array.from({ length: 16 }, (_, index) => startWriter(all.directory, `w${index}`))
    for (const { child, ids } of writers) {
      await until(() => ids.length >= 10, 'each has written', 60)
      child.kill('SIGKILL')
    }
    await until(() => writers.every(({ child }) => child.signalCode !== null), 'all are dead')
    const seen = (): ReadonlySet<string> => new Set(hook.received.map(({ id }) => id))
    await until(
      () => {
        const found = seen()
        return writers.every(({ ids }) => ids.every((id) => found.has(id)))
      },
      'all are delivered',
      60,
    )
    expect(hook.received.length).toBe(seen().size)
    await until(() => segments(all.directory).length === 1, 'only the living writer’s segment is left')
  })
})
