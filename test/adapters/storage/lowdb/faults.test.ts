import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type FileSystem, nodeFileSystem } from '../../../../adapters/files/file-system.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { noSmallDisk, smallDisk } from '../../../support/small-disk.ts'
import { failure, faulty } from '../../outbox/support.ts'
import { recordingOutbox } from '../recording-outbox.ts'
import { insert, insertAndTell, openLowdb, thing, thingIds } from './support.ts'

const stored = (path: string) =>
  JSON.parse(readFileSync(path, 'utf8')) as { tables: { things: { id: string }[] }; pending: unknown[] }

/** Commits until the storage refuses; gives the ids of the commits, and the refusal. */
async function fill(storage: Storage) {
  const taken: string[] = []
  for (let id = 1; id <= 1000; id++) {
    try {
      await insertAndTell(storage, thing(id, { name: `${id}`.padEnd(10_000, 'x') }))
      taken.push(String(id))
    } catch (refusal) {
      return { taken, refusal }
    }
  }
  return { taken, refusal: undefined }
}

describe('lowdb on a disk that fails', () => {
  test('keeps everything when a real disk is full, and works on when there is space again', {
    timeout: 120_000,
  }, async (context) => {
    const directory = smallDisk('512k')
    if (!directory) return context.skip(noSmallDisk)
    const path = join(directory, 'db.json')
    const ballast = join(directory, 'ballast')
    writeFileSync(ballast, Buffer.alloc(256 * 1024))
    const outbox = recordingOutbox()
    const storage = await openLowdb({ path, outbox })

    const { taken, refusal } = await fill(storage)
    const whenFull = stored(path)
    expect(refusal).toMatchObject({ code: 'full', message: expect.stringContaining(path) })
    expect(taken.length).toBeGreaterThan(3)
    expect(await thingIds(storage)).toEqual(taken)
    expect(whenFull.tables.things.map(({ id }) => id)).toEqual(taken)
    expect((await outbox.records()).map((record) => 'event_id' in record && record.event_id)).toEqual(taken)
    expect(readdirSync(directory)).not.toContain('db.json.tmp')

    rmSync(ballast)
    await insertAndTell(storage, thing(2000))
    await storage.close()
    const again = await openLowdb({ path })
    expect(await thingIds(again)).toEqual([...taken, '2000'])
    await again.close()
  })

  test.for([
    ['no space while writing', 'ENOSPC', 'full'],
    ['no quota while writing', 'EDQUOT', 'full'],
    ['an I/O error', 'EIO', 'unavailable'],
  ] as const)('undoes the commit after %s', async ([, code, expected]) => {
    const path = join(temporaryDirectory(), 'db.json')
    let broken = false
    const files = faulty((file) => ({
      write: (bytes, position) => (broken ? Promise.reject(failure(code)) : file.write(bytes.subarray(0, 100), position)),
    }))
    const storage = await openLowdb({ path, files })
    await insert(storage, thing(1))
    const before = readFileSync(path)
    broken = true
    await expect(insert(storage, thing(2))).rejects.toMatchObject({ code: expected, message: expect.stringContaining(path) })
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(readdirSync(join(path, '..'))).not.toContain('db.json.tmp')
    expect(await thingIds(storage)).toEqual(['1'])
    broken = false
    await insert(storage, thing(2))
    await storage.close()
    expect(stored(path).tables.things.map(({ id }) => id)).toEqual(['1', '2'])
  })

  test('undoes a whole group and what was built on it, and lets readers read again', async () => {
    const path = join(temporaryDirectory(), 'db.json')
    const syncing = Promise.withResolvers<void>()
    const verdict = Promise.withResolvers<void>()
    let gate = false
    const files = faulty((file) => ({
      async sync() {
        if (!gate) return file.sync()
        gate = false
        syncing.resolve()
        return verdict.promise
      },
    }))
    const outbox = recordingOutbox()
    const storage = await openLowdb({ path, outbox, files })
    await insertAndTell(storage, thing(1))

    gate = true
    const group = [insertAndTell(storage, thing(2)), insertAndTell(storage, thing(3))]
    // Without a sync the commits are reported, and nothing would end the wait for it.
    const unsynced = Promise.all(group).then(() => expect.unreachable('commits were reported before their file was synced'))
    unsynced.catch(() => undefined)
    await Promise.race([syncing.promise, unsynced])
    const onTop = insertAndTell(storage, thing(4))
    const reading = thingIds(storage)
    const duplicate = insert(storage, thing(2))
    verdict.reject(failure('EIO'))

    for (const outcome of await Promise.allSettled([...group, onTop, duplicate])) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } })
    }
    expect(await reading).toEqual(['1'])
    await insertAndTell(storage, thing(5))
    await storage.close()
    expect(stored(path).tables.things.map(({ id }) => id)).toEqual(['1', '5'])
    expect((await outbox.records()).map((record) => 'event_id' in record && record.event_id)).toEqual(['1', '5'])
  })

  test('writes the file again when the last step of a write failed and it may hold what was undone', async () => {
    const path = join(temporaryDirectory(), 'db.json')
    let broken = false
    const files: FileSystem = {
      ...nodeFileSystem,
      async syncDirectory(directory) {
        if (!broken) return nodeFileSystem.syncDirectory(directory)
        if (onTop.length === 0) onTop.push(insert(storage, thing(3)))
        throw failure('EIO')
      },
    }
    const onTop: Promise<unknown>[] = []
    const storage = await openLowdb({ path, files })
    await insert(storage, thing(1))
    broken = true
    const failing = insert(storage, thing(2))
    // A crash would find the second thing in the file; the third one was never written.
    await expect(failing).rejects.toMatchObject({ code: 'unknown' })
    await expect(onTop[0]).rejects.toMatchObject({ code: 'unavailable' })
    expect(await thingIds(storage)).toEqual(['1'])
    broken = false
    await storage.close()
    expect(stored(path).tables.things.map(({ id }) => id)).toEqual(['1'])
  })
})
