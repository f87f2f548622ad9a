import { describe, expect, test } from 'vitest'
import { tablesInMemory } from '../../../../adapters/storage/in-memory/tables.ts'
import { type Commit, transactionsInMemory } from '../../../../adapters/storage/in-memory/transactions.ts'
import { type Storage, StorageError, type Tx } from '../../../../lib/storage/contract.ts'
import { insert, insertAndTell, thing, thingIds, things, wordOf } from '../lowdb/support.ts'

/** A storage whose groups become durable, or not, when the test decides it. */
function held() {
  const groups: { ids: string[]; done: () => void; failed: (error: unknown) => void }[] = []
  const tables = tablesInMemory()
  const storage = transactionsInMemory(tables, {
    persist: (group: readonly Commit[]) =>
      new Promise<void>((done, failed) => {
        const ids = group.flatMap(({ records }) => records.map((record) => ('event_id' in record ? record.event_id : '')))
        groups.push({ ids, done, failed })
      }),
  })
  /** The group that is being persisted; waits until there is one. */
  const group = async (index: number) => {
    await expect.poll(() => groups.length, { interval: 1 }).toBeGreaterThan(index)
    return groups[index] ?? { ids: [], done() {}, failed() {} }
  }
  return { storage, group, groups }
}

/** Notes in `steps` when a promise is settled, and how. */
function note(steps: string[], name: string, promise: Promise<unknown>) {
  promise.then(
    () => steps.push(name),
    () => steps.push(`${name} refused`),
  )
  return promise
}

const tick = () => new Promise((resolve) => setImmediate(resolve))
const noSpace = () => new StorageError('full', 'no space left')

describe('group commit', () => {
  test('takes what was requested together as one group, and what came during it as the next', async () => {
    const { storage, group, groups } = held()
    const first = [1, 2, 3].map((id) => insertAndTell(storage, thing(id)))
    const one = await group(0)
    const second = [4, 5].map((id) => insertAndTell(storage, thing(id)))
    await tick()
    expect(groups.map(({ ids }) => ids)).toEqual([['1', '2', '3']])
    one.done()
    const two = await group(1)
    expect(two.ids).toEqual(['4', '5'])
    two.done()
    await Promise.all([...first, ...second])
  })

  test('takes what the next turns of the event loop bring into the same group', async () => {
    const { storage, group, groups } = held()
    const asked = [insertAndTell(storage, thing(1))]
    for (const id of [2, 3, 4]) {
      await tick()
      asked.push(insertAndTell(storage, thing(id)))
    }
    const one = await group(0)
    expect(groups.map(({ ids }) => ids)).toEqual([['1', '2', '3', '4']])
    one.done()
    await Promise.all(asked)
  })

  test('ends a group that is large enough, though every turn brings more', async () => {
    const { storage, group } = held()
    const asked: Promise<unknown>[] = []
    for (let id = 1; id <= 300; id += 10) {
      for (let next = id; next < id + 10; next++) asked.push(insertAndTell(storage, thing(next)))
      await tick()
    }
    const one = await group(0)
    expect(one.ids.length).toBeGreaterThanOrEqual(128)
    expect(one.ids.length).toBeLessThan(300)
    one.done()
    const two = await group(1)
    two.done()
    await Promise.all(asked)
  })

  test('hides a commit until it is durable, from readers and the unlucky too', async () => {
    const { storage, group } = held()
    const steps: string[] = []
    const all = [
      note(steps, 'commit', insertAndTell(storage, thing(1))),
      note(steps, 'reader', thingIds(storage)),
      note(steps, 'duplicate', insert(storage, thing(1))),
    ]
    const one = await group(0)
    await tick()
    expect(steps).toEqual([])
    one.done()
    await Promise.allSettled(all)
    expect(steps.sort()).toEqual(['commit', 'duplicate refused', 'reader'])
  })

  test('does not make readers of other tables wait', async () => {
    const { storage, group } = held()
    const steps: string[] = []
    const commit = note(steps, 'commit', insertAndTell(storage, thing(1)))
    const one = await group(0)
    const of = (table: typeof things) => storage.transaction((tx) => tx.count(table, {}), { readOnly: true })
    const reader = note(steps, 'reader', of(things))
    expect(await of({ ...things, name: 'others' })).toBe(0)
    expect(steps).toEqual([])
    one.done()
    await Promise.all([commit, reader])
    expect(await of(things)).toBe(1)
  })

  test('does not make readers of durable state wait', async () => {
    const { storage, group } = held()
    const failing = storage.transaction(async () => Promise.reject(new Error('vetoed')))
    await expect(failing).rejects.toThrow('vetoed')
    expect(await thingIds(storage)).toEqual([])
    const commit = insertAndTell(storage, thing(1))
    ;(await group(0)).done()
    await commit
    expect(await thingIds(storage)).toEqual(['1'])
  })

  test('undoes a failed group and all that was built on it, and runs readers again, once', async () => {
    const { storage, group } = held()
    const base = insertAndTell(storage, thing(1))
    ;(await group(0)).done()
    await base

    const failing = [insertAndTell(storage, thing(2)), storage.transaction((tx) => tx.update(things, '1', { size: 7 }))]
    const one = await group(1)
    const seen: string[] = []
    const reading = storage.transaction(
      async (tx) => {
        const rows = (await tx.find(things, {})).map(({ id, size }) => `${id}:${size}`).join()
        seen.push(rows)
        return rows
      },
      { readOnly: true },
    )
    const onTop = storage.transaction((tx) => tx.remove(things, '1'))
    await tick()
    one.failed(noSpace())

    for (const outcome of await Promise.allSettled([...failing, onTop])) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'full' } })
    }
    expect(await reading).toBe('1:0')
    expect(seen).toEqual(['1:7,2:0', '1:0'])
    const after = insertAndTell(storage, thing(2))
    ;(await group(2)).done()
    await after
    expect(await thingIds(storage)).toEqual(['1', '2'])
  })

  test('waits for who is in the middle of work before it undoes what that builds on', async () => {
    const { storage, group } = held()
    const first = insertAndTell(storage, thing(1))
    const one = await group(0)
    const inside = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const slow = storage.transaction(async (tx) => {
      await tx.insert(things, thing(2))
      inside.resolve()
      await goOn.promise
      return (await tx.find(things, {})).length
    })
    await inside.promise
    one.failed(noSpace())
    await tick()
    goOn.resolve()
    await expect(first).rejects.toMatchObject({ code: 'full' })
    await expect(slow).rejects.toMatchObject({ code: 'full' })
    expect(await thingIds(storage)).toEqual([])
  })

  test('runs readers again before the writers that wait, so that they end on durable state', async () => {
    const { storage, group } = held()
    const log: string[] = []
    const failing = insertAndTell(storage, thing(1))
    const reading = storage.transaction(
      async (tx) => {
        log.push(`reader sees ${await tx.count(things, {})}`)
      },
      { readOnly: true },
    )
    const one = await group(0)
    const inside = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const onTop = storage.transaction(async (tx) => {
      inside.resolve()
      await goOn.promise
      await tx.insert(things, thing(2))
    })
    const waiting = storage.transaction(async (tx) => {
      await tx.insert(things, thing(3))
      log.push('writer')
    })
    const undone = Promise.allSettled([failing, onTop])
    await inside.promise
    one.failed(noSpace())
    await tick()
    goOn.resolve()
    const next = await group(1)
    await reading
    expect(log).toEqual(['reader sees 1', 'reader sees 0', 'writer'])
    next.done()
    await waiting
    expect((await undone).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await thingIds(storage)).toEqual(['3'])
  })

  test('turns an unknown failure into a storage error', async () => {
    const { storage, group } = held()
    const commit = insertAndTell(storage, thing(1))
    ;(await group(0)).failed(new RangeError('too long'))
    await expect(commit).rejects.toMatchObject({ code: 'unavailable', cause: new RangeError('too long') })
  })

  test('is waited for by close', async () => {
    const { storage, group } = held()
    const steps: string[] = []
    const commit = note(steps, 'commit', insertAndTell(storage, thing(1)))
    const close = note(steps, 'close', storage.close())
    const one = await group(0)
    await tick()
    expect(steps).toEqual([])
    one.done()
    await Promise.all([commit, close])
    expect(steps).toEqual(['commit', 'close'])
  })
})

describe('a transaction in memory', () => {
  const open = (): Storage => transactionsInMemory(tablesInMemory())

  test('refuses calls that come after its end', async () => {
    const storage = open()
    let leaked: Tx | undefined
    await storage.transaction(async (tx) => {
      leaked = tx
    })
    await expect(leaked?.insert(things, thing(1))).rejects.toMatchObject({ code: 'closed' })
    await expect(leaked?.append([])).rejects.toMatchObject({ code: 'closed' })
    expect(await thingIds(storage)).toEqual([])
  })

  test('that promised to read only is held to it', async () => {
    const storage = open()
    const write = storage.transaction((tx) => tx.insert(things, thing(1)), { readOnly: true })
    await expect(write).rejects.toThrow('a transaction with `readOnly: true` cannot write')
    expect(await thingIds(storage)).toEqual([])
  })

  test('with a record that is longer than an outbox line is refused alone', async () => {
    const storage = open()
    const record = (mebibytes: number) => ({ ...wordOf('1'), body: 'x'.repeat(mebibytes * 1024 * 1024) })
    const tooMuch = storage.transaction(async (tx) => {
      await tx.insert(things, thing(1))
      await tx.append([record(17)])
    })
    await expect(tooMuch).rejects.toThrow('a record is longer than 16777216 bytes')
    await storage.transaction((tx) => tx.append([record(6), record(6), record(6)]))
    expect(await thingIds(storage)).toEqual([])
  })

  test('gets its turn in the order of asking: readers together, writers alone, none passed over', async () => {
    const storage = open()
    const log: string[] = []
    const work = (name: string) => async () => {
      log.push(`${name} in`)
      await tick()
      log.push(`${name} out`)
    }
    const readOnly = { readOnly: true }
    await Promise.all([
      storage.transaction(work('r1'), readOnly),
      storage.transaction(work('r2'), readOnly),
      storage.transaction(work('w1')),
      storage.transaction(work('r3'), readOnly),
      storage.transaction(work('w2')),
    ])
    expect(log.join(', ')).toBe('r1 in, r2 in, r1 out, r2 out, w1 in, w1 out, r3 in, r3 out, w2 in, w2 out')
  })

  test('that only reads begins in the same turn of the event loop when no one writes', () => {
    const storage = open()
    let begun = false
    void storage.transaction(
      async () => {
        begun = true
      },
      { readOnly: true },
    )
    expect(begun).toBe(true)
  })
})
