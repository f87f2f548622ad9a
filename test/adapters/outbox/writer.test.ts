import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type FileSystem, nodeFileSystem } from '../../../adapters/files/file-system.ts'
import { openOutbox, outboxDirectory } from '../../../adapters/outbox/file.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { event, failure, faulty, readAll } from './support.ts'

const segments = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => name.endsWith('.ndjson'))
    .sort()

describe('openOutbox', () => {
  test('writes one line per commit, in order, readable as JSON', async () => {
    const directory = temporaryDirectory()
    const outbox = await openOutbox({ directory })
    await outbox.append([[event('a'), event('b')], [event('c')]])
    await outbox.close()
    const [name = ''] = segments(directory)
    const lines = readFileSync(join(directory, name), 'utf8').trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).records.length)).toEqual([2, 1])
  })

  test('keeps its files from other users', async () => {
    const directory = join(temporaryDirectory(), 'deep', 'outbox')
    const outbox = await openOutbox({ directory })
    await outbox.append([[event('a')]])
    const files = readdirSync(directory).filter((name) => !name.endsWith('.sock'))
    const modes = files.map((name) => statSync(join(directory, name)).mode & 0o777)
    await outbox.close()
    expect([statSync(directory).mode & 0o777, ...modes]).toEqual([0o700, 0o600, 0o600])
  })

  test('never continues a segment after a restart', async () => {
    const directory = temporaryDirectory()
    for (const id of ['a', 'b']) {
      const outbox = await openOutbox({ directory })
      await outbox.append([[event(id)]])
      await outbox.close()
    }
    expect(segments(directory)).toHaveLength(2)
    expect((await readAll(outboxDirectory(directory))).ids).toEqual(['a', 'b'])
  })

  test.each([1_800_000_000_000, 1_700_000_000_000, 2 ** 48 - 2])(
    'is read after the segments that are there, if its time is %d',
    async (time) => {
      const directory = temporaryDirectory()
      for (const [id, now] of [
        ['a', 1_800_000_000_000],
        ['b', time],
        ['c', 1_600_000_000_000],
      ] as const) {
        const outbox = await openOutbox({ directory, now: () => now })
        await outbox.append([[event(id)]])
        await outbox.close()
      }
      expect((await readAll(outboxDirectory(directory))).ids).toEqual(['a', 'b', 'c'])
    },
  )

  test('begins a new segment before one grows beyond the limit', async () => {
    const directory = temporaryDirectory()
    const outbox = await openOutbox({ directory, rotateBytes: 600 })
    for (const id of ['a', 'b', 'c', 'd', 'e']) await outbox.append([[event(id)]])
    await outbox.close()
    const names = segments(directory)
    expect(names.length).toBeGreaterThan(1)
    for (const name of names) expect(statSync(join(directory, name)).size).toBeLessThanOrEqual(600)
    expect((await readAll(outboxDirectory(directory))).ids).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  test('begins a new segment after an erasure, so that the events before it can be removed while it is open', async () => {
    const directory = temporaryDirectory()
    const outbox = await openOutbox({ directory })
    await outbox.append([[event('a')], [event('b'), { kind: 'erasure', network_id: '1', ids: ['1001'] }]])
    const source = outboxDirectory(directory)
    const { positions } = await readAll(source)
    await source.settle(positions)
    const left = segments(directory).map((name) => statSync(join(directory, name)).size)
    await outbox.append([[event('c')]])
    const { ids } = await readAll(source, positions)
    await outbox.close()
    expect({ left, ids }).toEqual({ left: [0], ids: ['c'] })
  })

  test('an erasure is durable, and later appends work, if no new segment can be made', async () => {
    const directory = temporaryDirectory()
    let made = 0
    const files: FileSystem = {
      ...nodeFileSystem,
      create(path, options) {
        if (path.endsWith('.ndjson') && ++made === 2) throw failure('ENOSPC')
        return nodeFileSystem.create(path, options)
      },
    }
    const outbox = await openOutbox({ directory, files })
    await outbox.append([[{ kind: 'erasure', network_id: '1', ids: ['1001'] }]])
    await outbox.append([[event('a')]])
    await outbox.close()
    expect((await readAll(outboxDirectory(directory))).ids).toEqual(['erasure 1001', 'a'])
  })

  test('shares one write among appends that wait', async () => {
    let writes = 0
    const files = faulty((file, path) => ({
      write(bytes, position) {
        if (path.endsWith('.ndjson')) writes++
        return file.write(bytes, position)
      },
    }))
    const directory = temporaryDirectory()
    const outbox = await openOutbox({ directory, files })
    await Promise.all(Array.from({ length: 100 }, (_, index) => outbox.append([[event(`e${index}`)]])))
    await outbox.close()
    expect(writes).toBeLessThan(5)
    expect((await readAll(outboxDirectory(directory))).ids).toEqual(Array.from({ length: 100 }, (_, index) => `e${index}`))
  })

  test('writes a large commit in few pieces, each of which is synced', async () => {
    const lengths: number[] = []
    const files = faulty((file, path) => ({
      write(bytes, position) {
        if (path.endsWith('.ndjson')) lengths.push(bytes.length)
        return file.write(bytes, position)
      },
    }))
    const directory = temporaryDirectory()
    const outbox = await openOutbox({ directory, files })
    await outbox.append([Array.from({ length: 250 }, (_, index) => event(`e${index}`, 'x'.repeat(40_000)))])
    await outbox.close()
    expect(lengths).toHaveLength(3)
    expect(Math.max(...lengths)).toBeLessThanOrEqual(4 * 1024 * 1024)
    expect((await readAll(outboxDirectory(directory))).ids).toEqual(Array.from({ length: 250 }, (_, index) => `e${index}`))
  })

  test('writes the rest after a short write', async () => {
    const directory = temporaryDirectory()
    const files = faulty((file) => ({ write: (bytes, position) => file.write(bytes.subarray(0, 7), position) }))
    const outbox = await openOutbox({ directory, files: { ...files, create: shortOnlyForSegments(files) } })
    await outbox.append([[event('a')]])
    await outbox.close()
    expect((await readAll(outboxDirectory(directory))).ids).toEqual(['a'])
  })

  test.each([
    ['ENOSPC', 'full'],
    ['EDQUOT', 'full'],
    ['EIO', 'unavailable'],
    ['EROFS', 'unavailable'],
  ])(
    'a write that fails with %s rejects with %s and leaves nothing behind, and the next append succeeds',
    async (code, expected) => {
      const directory = temporaryDirectory()
      let failing = false
      const files = faulty((file) => ({
        write: async (bytes, position) => {
          if (!failing) return file.write(bytes, position)
          await file.write(bytes.subarray(0, 10), position)
          throw failure(code)
        },
      }))
      const outbox = await openOutbox({ directory, files })
      await outbox.append([[event('a')]])
      failing = true
      await expect(outbox.append([[event('lost')]])).rejects.toMatchObject({ name: 'StorageError', code: expected })
      failing = false
      await outbox.append([[event('b')]])
      await outbox.close()
      const { ids, damage } = await readAll(outboxDirectory(directory))
      expect({ ids, damage }).toEqual({ ids: ['a', 'b'], damage: [] })
      expect(segments(directory)).toHaveLength(2)
    },
  )

  test('a failed sync is never reported as durable and never tried again on the same file', async () => {
    const directory = temporaryDirectory()
    const writes: string[] = []
    let failing = false
    const files = faulty((file, path) => ({
      async write(bytes, position) {
        writes.push(path)
        const written = await file.write(bytes, position)
        if (failing) throw failure('EIO')
        return written
      },
    }))
    const outbox = await openOutbox({ directory, files })
    await outbox.append([[event('a')]])
    failing = true
    await expect(outbox.append([[event('lost')]])).rejects.toMatchObject({ code: 'unavailable' })
    const failed = writes.at(-1)
    failing = false
    await outbox.append([[event('b')]])
    await outbox.close()
    expect(writes.filter((path) => path === failed)).toHaveLength(2)
    expect((await readAll(outboxDirectory(directory))).ids).toEqual(['a', 'b'])
  })

  test('leaves no empty segments behind on a full disk', async () => {
    const directory = temporaryDirectory()
    let full = true
    const files = faulty((file, path) => ({
      write: (bytes, position) =>
        full && path.endsWith('.ndjson') ? Promise.reject(failure('ENOSPC')) : file.write(bytes, position),
    }))
    const outbox = await openOutbox({ directory, files })
    for (let tries = 0; tries < 5; tries++) await expect(outbox.append([[event('x')]])).rejects.toMatchObject({ code: 'full' })
    expect(segments(directory)).toEqual([])
    full = false
    await outbox.append([[event('a')]])
    await outbox.close()
    expect((await readAll(outboxDirectory(directory))).ids).toEqual(['a'])
  })

  test('refuses an append when the directory was removed under it', async () => {
    const directory = temporaryDirectory()
    const outbox = await openOutbox({ directory })
    await outbox.append([[event('a')]])
    rmSync(directory, { recursive: true })
    await expect(outbox.append([[event('b')]])).rejects.toMatchObject({ code: 'unavailable' })
    await outbox.close()
  })

  test('refuses a directory that cannot be written, naming it', async () => {
    const directory = temporaryDirectory()
    const files = { ...nodeFileSystem, create: () => Promise.reject(failure('EROFS')) }
    await expect(openOutbox({ directory, files })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(directory),
    })
  })

  test('refuses appends after close, and close may be called again', async () => {
    const outbox = await openOutbox({ directory: temporaryDirectory() })
    const pending = outbox.append([[event('a')]])
    await Promise.all([outbox.close(), outbox.close()])
    await expect(pending).resolves.toBeUndefined()
    await expect(outbox.append([[event('b')]])).rejects.toMatchObject({ code: 'closed' })
  })

  test('an append of nothing touches nothing', async () => {
    const directory = temporaryDirectory()
    const outbox = await openOutbox({ directory })
    await outbox.append([])
    await outbox.append([[]])
    expect(segments(directory)).toEqual([])
    await outbox.close()
  })

  test('refuses a commit that is too large, and takes the next', async () => {
    const directory = temporaryDirectory()
    const outbox = await openOutbox({ directory })
    await expect(outbox.append([[event('huge', 'x'.repeat(17 * 1024 * 1024))]])).rejects.toThrow(RangeError)
    await outbox.append([[event('a')]])
    await outbox.close()
    expect((await readAll(outboxDirectory(directory))).ids).toEqual(['a'])
  })
})

function shortOnlyForSegments(files: typeof nodeFileSystem): typeof nodeFileSystem.create {
  return (path, options) => (path.endsWith('.ndjson') ? files : nodeFileSystem).create(path, options)
}
