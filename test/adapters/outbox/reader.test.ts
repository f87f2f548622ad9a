import { once } from 'node:events'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { describe, expect, test, vi } from 'vitest'
import { nodeFileSystem } from '../../../adapters/files/file-system.ts'
import { thisProcess } from '../../../adapters/files/owner.ts'
import { openOutbox, outboxDirectory } from '../../../adapters/outbox/file.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { encodeLine } from '../../support/outbox-line.ts'
import { event, failure, faulty, idsOf, readAll } from './support.ts'

const writer = '019340aa-0000-7000-8000-000000000001'
const first = `${writer}-000001.v2.ndjson`
const line = (id: string): Buffer => encodeLine([event(id)])
const ownedBy = (owner: object): string => JSON.stringify({ ...thisProcess(), ...owner })
const living = ownedBy({})
const dead = ownedBy({ pid: 4_000_000, started: '1' })

/** A directory with one segment of these bytes. */
function directoryWith(bytes: Uint8Array, owner: string | null = null): string {
  const directory = temporaryDirectory()
  writeFileSync(join(directory, first), bytes)
  if (owner !== null) writeFileSync(join(directory, `${writer}.owner`), owner)
  return directory
}

const broken = (directory: string): string[] => readdirSync(directory).filter((name) => name.endsWith('.broken'))

describe('outboxDirectory: an unfinished line', () => {
  test('is waited for at every length while its writer lives', async () => {
    const whole = line('b')
    for (let length = 0; length < whole.length; length++) {
      const directory = directoryWith(Buffer.concat([line('a'), whole.subarray(0, length)]), living)
      const source = outboxDirectory(directory)
      const before = await readAll(source)
      expect([before.ids, before.damage]).toEqual([['a'], []])
      appendFileSync(join(directory, first), whole.subarray(length))
      expect((await readAll(source, before.positions)).ids).toEqual(['b'])
    }
  })

  test('is copied aside, counted and passed over at every length once its writer is dead', async () => {
    const whole = line('b')
    const start = line('a').length
    for (let length = 1; length < whole.length; length++) {
      const directory = directoryWith(Buffer.concat([line('a'), whole.subarray(0, length)]), dead)
      const source = outboxDirectory(directory)
      const { ids, damage, positions } = await readAll(source)
      expect(ids).toEqual(['a'])
      expect(damage).toEqual([{ stream: first, offset: start, bytes: length, reason: 'ends in the middle of a line' }])
      expect(readFileSync(join(directory, `${first}.${start}.broken`))).toEqual(whole.subarray(0, length))
      expect(await source.settle(positions)).toEqual([first])
      expect(readdirSync(directory)).toEqual([`${first}.${start}.broken`])
    }
  })

  test.each([
    ['closed its outbox', null],
    ['is dead', dead],
    ['is a number that another process has by now', ownedBy({ started: '1' })],
    ['ran before the last boot', ownedBy({ boot: 'another' })],
    ['left an owner file that says nothing', 'garbage'],
  ])('of a writer that %s is damage', async (_, owner) => {
    const directory = directoryWith(line('a').subarray(0, 50), owner)
    expect((await readAll(outboxDirectory(directory))).damage).toHaveLength(1)
  })

  test('of a writer in another container is waited for: its number means nothing here', async () => {
    const directory = directoryWith(line('a').subarray(0, 50), ownedBy({ pid: 4_000_000, namespace: 'pid:[1]' }))
    expect((await readAll(outboxDirectory(directory))).damage).toEqual([])
  })

  test.each([
    ['in another container', { namespace: 'pid:[1]', answers: true }],
    ['that is shown another boot', { boot: 'of the container', answers: true }],
  ])('of a writer %s is damage once its socket is closed', async (_, owner) => {
    const there = ownedBy(owner)
    const directory = directoryWith(line('a').subarray(0, 50), there)
    const socket = join(directory, `${writer}.sock`)
    const server = createServer().listen(socket)
    await once(server, 'listening')
    const source = outboxDirectory(directory)
    expect((await readAll(source)).damage).toEqual([])
    await new Promise((closed) => server.close(closed))
    expect((await readAll(source)).damage).toHaveLength(1)
  })

  test('of a living writer is damage once a newer segment exists', async () => {
    const directory = directoryWith(line('a').subarray(0, 50), living)
    writeFileSync(join(directory, `${writer}-000003.v2.ndjson`), line('b'))
    const { ids, damage } = await readAll(outboxDirectory(directory))
    expect([ids, damage.length]).toEqual([['b'], 1])
  })

  test('of zeros is the end of what a power failure left', async () => {
    const bytes = Buffer.concat([line('a'), Buffer.alloc(5000)])
    expect((await readAll(outboxDirectory(directoryWith(bytes, living)))).damage).toEqual([])
    const { ids, damage } = await readAll(outboxDirectory(directoryWith(bytes, dead)))
    expect(ids).toEqual(['a'])
    expect(damage).toMatchObject([{ offset: line('a').length, bytes: 5000, reason: 'filled with zeros to the end' }])
  })
})

describe('outboxDirectory: a commit of several lines', () => {
  const ids = Array.from({ length: 8 }, (_, index) => `large ${index}`)
  /** As many lines as events: each of them is long enough for one. */
  const lines = ids.map((id, number) => {
    const part = { commit: '0198f1f0-0000-4000-8000-000000000001', last: number === ids.length - 1, number }
    return encodeLine([event(id, 'x'.repeat(150_000))], part)
  })
  const upTo = (count: number) => Buffer.concat([line('a'), ...lines.slice(0, count)])

  test('comes in its order, in pieces as small as requested, wherever a new reader begins', async () => {
    expect(lines).toHaveLength(ids.length)
    const directory = directoryWith(Buffer.concat([upTo(8), line('b')]), dead)
    let positions = {}
    const seen: string[] = []
    for (let more = true; more; ) {
      const reading = await outboxDirectory(directory).read(positions, 200_000)
      expect(reading.commits.length).toBeLessThan(3)
      seen.push(...idsOf(reading.commits))
      positions = { ...positions, ...reading.positions }
      more = reading.more
    }
    expect(seen).toEqual(['a', ...ids, 'b'])
  })

  test('is waited for until its last line is there, while its writer lives', async () => {
    const directory = directoryWith(upTo(1), living)
    const source = outboxDirectory(directory)
    const { positions, ids: before } = await readAll(source)
    expect(before).toEqual(['a'])
    for (const bytes of lines.slice(1)) {
      expect(await readAll(source, positions)).toMatchObject({ ids: [], damage: [] })
      appendFileSync(join(directory, first), bytes.subarray(0, -1))
      expect(await readAll(source, positions)).toMatchObject({ ids: [], damage: [] })
      appendFileSync(join(directory, first), bytes.subarray(-1))
    }
    expect((await readAll(source, positions)).ids).toEqual(ids)
  })

  test.each([1, 2, 7])('of which %i lines are there never happened, once its writer is dead', async (count) => {
    const rest = lines[count]?.subarray(0, 70_000) ?? Buffer.alloc(0)
    const directory = directoryWith(Buffer.concat([upTo(count), rest]), dead)
    const source = outboxDirectory(directory)
    const start = line('a').length
    const { ids, damage, positions } = await readAll(source)
    const torn = Buffer.concat([upTo(count), rest]).subarray(start)
    expect({ ids, damage }).toEqual({
      ids: ['a'],
      damage: [{ stream: first, offset: start, bytes: torn.length, reason: 'a commit without its last line' }],
    })
    expect(readFileSync(join(directory, `${first}.${start}.broken`)).equals(torn)).toBe(true)
    expect(await source.settle(positions)).toEqual([first])
  })

  test.each([0, 3, 7])('loses line %i alone when that is damaged and others follow', async (at) => {
    const bytes = Buffer.concat([upTo(8), line('b')])
    const where = Buffer.concat([line('a'), ...lines.slice(0, at)]).length + 60
    bytes.writeUInt8(bytes.readUInt8(where) ^ 0x01, where)
    const { ids: read, damage } = await readAll(outboxDirectory(directoryWith(bytes, dead)))
    expect(read).toEqual(['a', ...ids.filter((_, index) => index !== at), 'b'])
    expect(damage).toHaveLength(1)
  })
})

describe('outboxDirectory: damage', () => {
  test('a flipped bit at any byte of a line costs that line alone', async () => {
    const [a, b, c] = [line('a'), line('b'), line('c')]
    for (let at = 0; at < b.length; at++) {
      const flipped = Buffer.from(b)
      flipped.writeUInt8(flipped.readUInt8(at) ^ 0x10, at)
      const directory = directoryWith(Buffer.concat([a, flipped, c]))
      const { ids, damage } = await readAll(outboxDirectory(directory))
      expect(ids, `flipped byte ${at}`).toEqual(['a', 'c'])
      // A flip may make a newline; then the line falls into two pieces.
      expect(
        damage.reduce((sum, { bytes }) => sum + bytes, 0),
        `flipped byte ${at}`,
      ).toBe(b.length)
      expect(Buffer.concat(damage.map(({ offset }) => readFileSync(join(directory, `${first}.${offset}.broken`))))).toEqual(
        flipped,
      )
    }
  })

  test('random bytes in the middle are passed over, and the files are made once', async () => {
    const noise = Buffer.from('\u0000\u0001 no line \n\n{"crc":"00000000","records":[]}\n')
    const directory = directoryWith(Buffer.concat([line('a'), noise, line('b')]))
    const source = outboxDirectory(directory)
    expect((await readAll(source)).ids).toEqual(['a', 'b'])
    const made = broken(directory)
    expect((await readAll(source)).ids).toEqual(['a', 'b'])
    expect(broken(directory)).toEqual(made)
  })

  test('a damaged line at the end of a living writer’s segment is read again before it is skipped', async () => {
    const directory = directoryWith(Buffer.concat([line('a'), Buffer.alloc(20), Buffer.from('\n')]), living)
    const source = outboxDirectory(directory)
    const { ids, damage, positions } = await readAll(source)
    expect([ids, damage]).toEqual([['a'], []])
    appendFileSync(join(directory, first), line('b'))
    const after = await readAll(source, positions)
    expect([after.ids, after.damage.length]).toEqual([['b'], 1])
  })

  test('more bytes without a newline than a line may have are passed over piece by piece', async () => {
    const directory = directoryWith(Buffer.concat([line('a'), Buffer.alloc(33 * 1024 * 1024, 'x'), Buffer.from('\n'), line('b')]))
    const { ids, damage } = await readAll(outboxDirectory(directory))
    expect(ids).toEqual(['a', 'b'])
    expect(damage.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(33 * 1024 * 1024 + 1)
  })

  test('what looks like a commit inside an event does not fool the search', async () => {
    const inner = line('inner').toString('utf8')
    const outer = encodeLine([event('outer', inner)])
    outer.writeUInt8(outer.readUInt8(12) ^ 1, 12)
    const { ids } = await readAll(outboxDirectory(directoryWith(Buffer.concat([outer, line('b')]))))
    expect(ids).toEqual(['b'])
  })

  test('nothing is passed over while the damaged bytes cannot be copied aside', async () => {
    const directory = directoryWith(Buffer.concat([Buffer.from('damage\n'), line('a')]))
    const isFull = () => Promise.reject(failure('ENOSPC'))
    for (const files of [{ ...nodeFileSystem, create: isFull }, faulty(() => ({ sync: isFull }))])
      await expect(readAll(outboxDirectory(directory, { files }))).rejects.toMatchObject({ code: 'full' })
    expect((await readAll(outboxDirectory(directory))).ids).toEqual(['a'])
  })

  test('may be looked at without leaving a trace', async () => {
    const directory = directoryWith(Buffer.concat([Buffer.from('damage\n'), line('a')]))
    const { ids, damage } = await readAll(outboxDirectory(directory, { keepBroken: false }))
    expect([ids, damage.length, broken(directory)]).toEqual([['a'], 1, []])
  })
})

describe('outboxDirectory: files of other kinds', () => {
  test('a segment of the first format version, whose bodies are strings, is read and settled', async () => {
    const directory = temporaryDirectory()
    const rest = `"records":${JSON.stringify([event('a', 'Straße – 日本'), event('b')])}}`
    const name = `${writer}-000001.v1.ndjson`
    writeFileSync(join(directory, name), `{"crc":"${crc32(rest).toString(16).padStart(8, '0')}",${rest}\n`)
    writeFileSync(join(directory, `${writer}-000002.v2.ndjson`), line('c'))
    const source = outboxDirectory(directory)
    expect((await source.backlog({})).count).toBeGreaterThan(rest.length)
    const { commits, positions } = await readAll(source)
    expect(commits).toEqual([[event('a', 'Straße – 日本'), event('b')], [event('c')]])
    expect(await source.settle(positions)).toHaveLength(2)
    expect(readdirSync(directory)).toEqual([])
  })

  test.each([0, 3])('a segment of the format version %i is left alone and reported once', async (version) => {
    const directory = directoryWith(line('a'))
    const name = `${writer}-000002.v${version}.ndjson`
    writeFileSync(join(directory, name), 'something new')
    const source = outboxDirectory(directory)
    const { ids, damage, positions } = await readAll(source)
    expect(ids).toEqual(['a'])
    expect(damage).toMatchObject([{ stream: name, bytes: 0 }])
    await source.settle(positions)
    expect((await readAll(source)).damage).toEqual([])
    expect(readFileSync(join(directory, name), 'utf8')).toBe('something new')
  })

  test('a directory or a link instead of a segment is left alone and reported once', async () => {
    const directory = directoryWith(line('a'))
    mkdirSync(join(directory, `${writer}-000002.v2.ndjson`))
    symlinkSync(join(directory, first), join(directory, `${writer}-000003.v2.ndjson`))
    const source = outboxDirectory(directory)
    const { ids, damage, positions } = await readAll(source)
    expect([ids, damage.map(({ reason }) => reason)]).toEqual([['a'], Array(2).fill('not a regular file: left alone')])
    expect((await source.read(positions, 200_000)).damage).toEqual([])
    await source.settle(positions)
  })

  test('anything else is no one’s business', async () => {
    const directory = directoryWith(line('a'))
    writeFileSync(join(directory, 'notes.txt'), 'x')
    writeFileSync(join(directory, 'x.v2.ndjson'), 'x')
    expect((await readAll(outboxDirectory(directory))).damage).toEqual([])
  })

  test('a directory that does not exist yet is empty', async () => {
    const source = outboxDirectory(join(temporaryDirectory(), 'later'))
    expect(await source.read({}, 1000)).toEqual({ commits: [], positions: {}, damage: [], more: false })
    source.watch(() => undefined)()
    await source.close()
  })
})

describe('outboxDirectory: reading on', () => {
  test('gives at least one commit however small the limit', async () => {
    const directory = temporaryDirectory()
    const outbox = await openOutbox({ directory, rotateBytes: 1000 })
    for (let index = 0; index < 20; index++) await outbox.append([[event(`e${index}`)]])
    const { ids } = await readAll(outboxDirectory(directory), {}, 1)
    expect(ids).toEqual(Array.from({ length: 20 }, (_, index) => `e${index}`))
    await outbox.close()
  })

  test('checks a writer once in a backlog, and again when another one begins', async () => {
    const ids = Array.from({ length: 20 }, (_, place) => `e${place}`)
    const directory = directoryWith(Buffer.concat(ids.map(line)), living)
    const oneLine = line('e10').length
    const asked: string[] = []
    const open: typeof nodeFileSystem.open = (path) => {
      if (path.endsWith('.owner')) asked.push(path)
      return nodeFileSystem.open(path)
    }
    const source = outboxDirectory(directory, { files: { ...nodeFileSystem, open } })
    expect((await readAll(source, {}, oneLine)).ids).toEqual(ids)
    expect(asked).toHaveLength(1)

    // Of two writers one is dead: its events come first, as those of an earlier run of the host.
    const begun = await source.read({}, oneLine)
    const next = writer.replace(/1$/, '2')
    writeFileSync(join(directory, `${writer}.owner`), dead)
    writeFileSync(join(directory, `${next}.owner`), living)
    writeFileSync(join(directory, `${next}-000001.v2.ndjson`), line('later'))
    expect((await readAll(source, begun.positions, oneLine)).ids).toEqual([...ids.slice(1), 'later'])
  })

  test('continues at a given position', async () => {
    const directory = directoryWith(Buffer.concat([line('a'), line('b')]))
    expect((await readAll(outboxDirectory(directory), { [first]: line('a').length })).ids).toEqual(['b'])
  })

  test('a segment that shrank is read no further', async () => {
    const directory = directoryWith(Buffer.concat([line('a'), line('b')]), living)
    const source = outboxDirectory(directory)
    const { positions } = await readAll(source)
    truncateSync(join(directory, first), line('a').length)
    writeFileSync(join(directory, `${writer}-000002.v2.ndjson`), line('c'))
    const after = await readAll(source, positions)
    expect([after.ids, after.damage]).toEqual([['c'], []])
    expect(await source.settle(after.positions)).toEqual([first])
  })

  test('calls a watcher when something was added', async () => {
    const directory = temporaryDirectory()
    const outbox = await openOutbox({ directory })
    const source = outboxDirectory(directory)
    const changed = vi.fn()
    const stop = source.watch(changed)
    await outbox.append([[event('a')]])
    await vi.waitFor(() => expect(changed).toHaveBeenCalled(), { timeout: 60_000 })
    stop()
    await source.close()
    await outbox.close()
  })

  test('watches no longer when it is closed', async () => {
    const stopped = vi.fn()
    const source = outboxDirectory(temporaryDirectory(), { files: { ...nodeFileSystem, watch: () => () => stopped() } })
    source.watch(() => undefined)
    source.watch(() => undefined)
    await source.close()
    expect(stopped).toHaveBeenCalledTimes(2)
  })
})

describe('outboxDirectory: settling', () => {
  test('removes a segment only when it is finished and wholly settled', async () => {
    const directory = temporaryDirectory()
    const outbox = await openOutbox({ directory, rotateBytes: 400 })
    await outbox.append([[event('a')]])
    await outbox.append([[event('b')]])
    const source = outboxDirectory(directory)
    const { positions } = await readAll(source)
    const [one = '', two = ''] = Object.keys(positions).sort()
    expect(await source.settle({ [one]: (positions[one] ?? 0) - 1 })).toEqual([])
    expect(await source.settle(positions)).toEqual([one])
    await outbox.append([[event('c')]])
    await outbox.close()
    const later = await readAll(source, { [two]: positions[two] ?? 0 })
    expect(later.ids).toEqual(['c'])
    expect((await source.settle(later.positions)).length).toBe(2)
    expect(readdirSync(directory)).toEqual([])
  })

  test('removes empty segments and owner files of the dead', async () => {
    const directory = directoryWith(Buffer.alloc(0), dead)
    expect(await outboxDirectory(directory).settle({})).toEqual([first])
    expect(readdirSync(directory)).toEqual([])
  })

  test('keeps the owner file of a living writer that has not written yet', async () => {
    const directory = temporaryDirectory()
    const outbox = await openOutbox({ directory })
    await outboxDirectory(directory).settle({})
    expect(readdirSync(directory).filter((name) => name.endsWith('.owner'))).toHaveLength(1)
    await outbox.close()
  })

  test('names streams that were gone already', async () => {
    expect(await outboxDirectory(temporaryDirectory()).settle({ [first]: 10 })).toEqual([first])
  })

  test('syncs the directory before it lets go of positions', async () => {
    const directory = directoryWith(line('a'))
    const files = { ...nodeFileSystem, syncDirectory: () => Promise.reject(failure('EIO')) }
    await expect(outboxDirectory(directory, { files }).settle({ [first]: line('a').length })).rejects.toMatchObject({
      code: 'unavailable',
    })
  })
})
