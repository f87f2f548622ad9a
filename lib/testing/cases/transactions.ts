import { expect } from 'vitest'
import { Conflict, isStorageError, type Tx } from '../../storage/contract.ts'
import { event, everyNote, giveWay, ids, note, notes, store, takeOne, transact } from '../notes.ts'
import type { StorageCase } from '../subject.ts'

/** Codes that errors of databases and sockets have, and errors of a host may have as well. */
const foreignCodes = ['ECONNREFUSED', 'ECONNRESET', '40001', '40P01', '23505', 'ER_DUP_ENTRY', 'ER_LOCK_DEADLOCK', 'SQLITE_BUSY']

type Work = (tx: Tx) => Promise<unknown>

/** All of a transaction or nothing of it, alone and among others. */
export const transactionCases: readonly StorageCase[] = [
  {
    title: 'what work returns or throws comes through unchanged',
    async run({ storage }) {
      const value = { some: 'value' }
      const error = new RangeError('not in this network')
      const returned = await storage.transaction(async () => value)
      const thrown = await storage.transaction(async () => Promise.reject(error)).catch((reason: unknown) => reason)
      expect(returned).toBe(value)
      expect(thrown).toBe(error)
    },
  },
  {
    title: 'an error of work comes through unchanged, also with the code of a database or of a socket, and undoes the work',
    async run({ storage, records }) {
      await store(storage, note({ id: '1', stock: 1 }))
      const ways = [
        { way: 'write', begin: (work: Work) => storage.transaction(work) },
        { way: 'read', begin: (work: Work) => storage.transaction(work, { readOnly: true }) },
      ]
      for (const code of foreignCodes) {
        const error = Object.assign(new Error(`${String(code)}: of the host`), { code })
        for (const { way, begin } of ways) {
          const thrown = await begin(async (tx) => {
            await tx.get(notes, '1')
            if (way !== 'read') {
              await tx.insert(notes, note({ id: '2' }))
              await tx.update(notes, '1', { stock: 2 })
              await tx.append([event('undone')])
            }
            throw error
          }).catch((reason: unknown) => reason)
          expect(thrown, `${String(code)} ${way}`).toBe(error)
        }
      }
      expect(await everyNote(storage)).toEqual([note({ id: '1', stock: 1 })])
      await transact(storage, (tx) => tx.append([event('done')]))
      expect(await records()).toEqual([event('done')])
    },
  },
  {
    title: 'a read-only transaction sees one state, whatever is committed in between',
    async run({ storage }) {
      await store(storage, note({ id: '1', stock: 10 }), note({ id: '2', stock: 0 }))
      const begun = Promise.withResolvers<void>()
      const writing = begun.promise.then(() =>
        transact(storage, async (tx) => {
          await tx.update(notes, '1', { stock: 9 })
          await tx.update(notes, '2', { stock: 1 })
          await tx.insert(notes, note({ id: '3' }))
        }),
      )
      const seen = await storage.transaction(
        async (tx) => {
          const first = await tx.get(notes, '1')
          begun.resolve()
          // Where writers wait for readers, right after.
          await giveWay(writing)
          return [first?.stock, (await tx.get(notes, '2'))?.stock, await tx.count(notes, {})]
        },
        { readOnly: true },
      )
      expect(seen).toEqual([10, 0, 2])
      await writing
    },
  },
  {
    title: 'a read-only transaction reads what is committed',
    async run({ storage }) {
      await store(storage, note({ id: '1', folder: 'a' }))
      const seen = await storage.transaction(
        async (tx) => [
          await tx.get(notes, '1'),
          await tx.find(notes, { where: { folder: 'a' } }),
          await tx.count(notes, { where: { folder: 'a' } }),
        ],
        { readOnly: true },
      )
      expect(seen).toEqual([note({ id: '1', folder: 'a' }), [note({ id: '1', folder: 'a' })], 1])
    },
  },
  {
    title: 'of concurrent work that adds rows each happens once, whatever it does',
    async run({ storage, records }) {
      await store(storage, note({ id: '1', stock: 1 }), note({ id: '2' }))
      const work = (place: number) => async (tx: Tx) => {
        await tx.lock(notes, '1', 'share')
        await tx.insert(notes, note({ id: String(place) }))
        await tx.append([event(String(place))])
        if (place === 12) await tx.increment(notes, '2', { stock: 5 })
        if (place === 13) throw new Error('no')
        return place
      }
      const one = async (place: number) => {
        for (;;)
          try {
            return await storage.transaction(work(place))
          } catch (error) {
            if (!isStorageError(error) || error.code !== 'conflict') return String(error)
          }
      }
      expect(await Promise.all([10, 11, 12, 13, 14].map(one))).toEqual([10, 11, 12, 'Error: no', 14])
      const rows = await everyNote(storage)
      expect(ids(rows)).toEqual(['1', '2', '10', '11', '12', '14'])
      expect(rows[1]?.stock).toBe(5)
      const delivered = (await records()).map((record) => ('event_id' in record ? record.event_id : ''))
      expect(delivered.toSorted()).toEqual(['10', '11', '12', '14'])
    },
  },
  {
    title: 'version, where there is one, stands still between commits and changes with each of them',
    async run({ storage }) {
      const { fast } = storage
      if (!fast?.version) return
      await store(storage, note({ id: '1', folder: 'a' }))
      const first = fast.version()
      await everyNote(storage)
      await transact(storage, () => Promise.reject(new Error('undone'))).catch(() => {})
      expect(fast.version()).toBe(first)
      const seen = new Set([first])
      for (const folder of ['b', 'c', 'd']) {
        await transact(storage, (tx) => tx.update(notes, '1', { folder }))
        seen.add(fast.version())
      }
      expect(seen.size).toBe(4)
    },
  },
  {
    title: 'version of a table, where there is one, changes with each commit that changes its rows',
    async run({ storage }) {
      const { fast } = storage
      if (!fast?.version) return
      const seen = new Set([fast.version([notes])])
      const changes: readonly ((tx: Tx) => Promise<unknown>)[] = [
        (tx) => tx.insert(notes, note({ id: '1' })),
        (tx) => tx.update(notes, '1', { folder: 'a' }),
        (tx) => tx.increment(notes, '1', { stock: 1 }),
        (tx) => tx.remove(notes, '1'),
      ]
      for (const change of changes) {
        await transact(storage, change)
        seen.add(fast.version([notes]))
      }
      expect(seen.size).toBe(5)
    },
  },
  {
    title: 'a transaction that throws leaves every row as it was',
    async run({ storage }) {
      const rows = ['1', '2', '10'].map((id) => note({ id, folder: 'a', slug: `s${id}` }))
      await store(storage, ...rows)
      const undone = transact(storage, async (tx) => {
        await tx.update(notes, '1', { folder: 'b', slug: null })
        await tx.update(notes, '1', { title: 'Again' })
        await tx.remove(notes, '2')
        await tx.insert(notes, note({ id: '3', folder: 'a', slug: 's2' }))
        await tx.remove(notes, '3')
        await tx.insert(notes, note({ id: '2', folder: 'c' }))
        throw new Error('undone')
      })
      await expect(undone).rejects.toThrow('undone')
      expect(await everyNote(storage)).toEqual(rows)
      expect(await transact(storage, (tx) => tx.find(notes, { where: { folder: 'a' } }))).toEqual(rows)
      expect(await transact(storage, (tx) => tx.count(notes, { where: { folder: ['b', 'c'] } }))).toBe(0)
    },
  },
  {
    title: 'of two transactions that wait for each other none commits a part, even if its work catches the error',
    async run({ storage }) {
      await store(storage, note({ id: '1' }), note({ id: '2' }))
      const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const work = (own: string, other: string, holds: () => void, otherHolds: Promise<void>) => async (tx: Tx) => {
        await tx.insert(notes, note({ id: `${own}0` }))
        await tx.lock(notes, own, 'update')
        holds()
        // Where transactions that write run one at a time, the other one has not begun.
        await giveWay(otherHolds)
        await tx.lock(notes, other, 'update').catch(() => {})
        await tx.insert(notes, note({ id: `${own}1` })).catch(() => {})
      }
      const outcomes = await Promise.allSettled([
        storage.transaction(work('1', '2', first.resolve, second.promise)),
        storage.transaction(work('2', '1', second.resolve, first.promise)),
      ])
      for (const outcome of outcomes) if (outcome.status === 'rejected') expect(isStorageError(outcome.reason)).toBe(true)
      const whole = [
        ['10', '11'],
        ['20', '21'],
      ].filter((_, place) => outcomes[place]?.status === 'fulfilled')
      expect(ids(await everyNote(storage))).toEqual(['1', '2', ...whole.flat()])
    },
  },
  {
    title: 'a transaction that throws leaves no records',
    async run({ storage, records }) {
      const undone = transact(storage, async (tx) => {
        await tx.append([event('undone')])
        throw new Error('undone')
      })
      await expect(undone).rejects.toThrow('undone')
      await transact(storage, (tx) => tx.append([event('done')]))
      expect(await records()).toEqual([event('done')])
    },
  },
  {
    title: 'committed records are in the outbox, unchanged and in the order of the calls',
    async run({ storage, records }) {
      const endpoint = { kind: 'endpoint', action: 'remove', id: '9', network_id: '1' } as const
      await transact(storage, async (tx) => {
        await tx.append([event('a'), event('b')])
        await tx.insert(notes, note({ id: '1' }))
        await tx.append([])
        await tx.append([endpoint])
      })
      await transact(storage, (tx) => tx.append([event('c')]))
      expect(await records()).toEqual([event('a'), event('b'), endpoint, event('c')])
    },
  },
  {
    title: '50 concurrent guarded decrements never go below zero',
    async run({ storage }) {
      await store(storage, note({ id: '1', stock: 20 }))
      const taken = await Promise.all(Array.from({ length: 50 }, () => transact(storage, (tx) => takeOne(tx, '1'))))
      expect(taken.filter(Boolean)).toHaveLength(20)
      expect((await everyNote(storage))[0]?.stock).toBe(0)
    },
  },
  {
    title: '50 concurrent transactions happen in full or not at all, records included',
    async run({ storage, records }) {
      await store(storage, note({ id: '1', stock: 50 }))
      const outcomes = await Promise.allSettled(
        Array.from({ length: 50 }, (_, i) =>
          transact(storage, async (tx) => {
            await tx.insert(notes, note({ id: String(100 + i), folder: 'ticket' }))
            await tx.append([event(String(100 + i))])
            await takeOne(tx, '1')
            if (i % 3 === 0) throw new Error('undone')
          }),
        ),
      )
      const committed = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? [String(100 + i)] : []))
      const rows = await everyNote(storage)
      const appended = (await records()).map((record) => (record.kind === 'event' ? record.event_id : ''))
      expect(committed).toHaveLength(33)
      expect(rows.map(({ id }) => id)).toEqual(['1', ...committed])
      expect(rows[0]?.stock).toBe(50 - 33)
      expect(appended.sort()).toEqual(committed)
    },
  },
  {
    title: 'a transaction inside another is refused immediately, and the outer one goes on',
    async run({ storage }) {
      const refusals: unknown[] = []
      for (const readOnly of [false, true]) {
        await storage.transaction(
          async (tx) => {
            for (const options of [{}, { readOnly: true }])
              refusals.push(await refusalOf(storage.transaction(async () => {}, options)))
            if (!readOnly) await tx.insert(notes, note({ id: '1' }))
          },
          { readOnly },
        )
      }
      expect(refusals.map((refusal) => refusal instanceof TypeError)).toEqual([true, true, true, true])
      expect(await everyNote(storage)).toEqual([note({ id: '1' })])
    },
  },
  {
    title: 'what was begun in a transaction may begin another one after its end',
    async run({ storage }) {
      const ended = Promise.withResolvers<void>()
      const { later } = await storage.transaction(async (tx) => {
        await tx.insert(notes, note({ id: '1' }))
        return { later: ended.promise.then(() => store(storage, note({ id: '2' }))) }
      })
      ended.resolve()
      await later
      expect(ids(await everyNote(storage))).toEqual(['1', '2'])
    },
  },
  {
    title: 'a reader never sees half of a transaction',
    async run({ storage }) {
      await store(storage, note({ id: '1', stock: 10 }), note({ id: '2', stock: 0 }))
      for (const readOnly of [true, false]) {
        const { writing, stocks } = await readDuring(storage, readOnly, async (tx, give) => {
          await tx.update(notes, '1', { stock: 9 })
          await give()
          await tx.update(notes, '2', { stock: 1 })
        })
        await writing
        expect([
          [10, 0],
          [9, 1],
        ]).toContainEqual(stocks)
        await transact(storage, async (tx) => {
          await tx.update(notes, '1', { stock: 10 })
          await tx.update(notes, '2', { stock: 0 })
        })
      }
    },
  },
  {
    title: 'a reader never sees what a transaction undoes',
    async run({ storage }) {
      await store(storage, note({ id: '1', stock: 10 }))
      for (const readOnly of [true, false]) {
        const { writing, stocks } = await readDuring(storage, readOnly, async (tx, give) => {
          await tx.update(notes, '1', { stock: 9 })
          await tx.insert(notes, note({ id: '2', stock: 1 }))
          await give()
          throw new Conflict('undone')
        })
        await expect(writing).rejects.toMatchObject({ code: 'conflict' })
        expect(stocks).toEqual([10])
      }
    },
  },
]

/** The error of a refused call; another error if it waits instead. */
async function refusalOf(call: Promise<unknown>): Promise<unknown> {
  const refusal = call.then(
    () => new Error('it was not refused'),
    (error: unknown) => error,
  )
  await giveWay(refusal)
  return Promise.race([refusal, new Error('it is waiting')])
}

/** Reads every note's stock while `write` stands at `give`; where readers wait for writers, right after. */
async function readDuring(
  storage: Parameters<StorageCase['run']>[0]['storage'],
  readOnly: boolean,
  write: (tx: Tx, give: () => Promise<void>) => Promise<void>,
) {
  const begun = Promise.withResolvers<void>()
  const reading = begun.promise.then(() => storage.transaction((tx) => tx.find(notes, {}), { readOnly }))
  const writing = storage.transaction((tx) =>
    write(tx, () => {
      begun.resolve()
      return giveWay(reading)
    }),
  )
  await Promise.allSettled([writing])
  // A writer that failed before it came to `give` must not leave the reader waiting for ever.
  begun.resolve()
  const stocks = (await reading).map(({ stock }) => stock)
  return { writing, stocks }
}
