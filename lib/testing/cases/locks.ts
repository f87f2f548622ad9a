import { expect } from 'vitest'
import { everyNote, giveWay, ids, note, notes, store, transact } from '../notes.ts'
import type { StorageCase } from '../subject.ts'

const strengths = ['share', 'update'] as const
/** Turns of the event loop, some seconds, within which any database grants a lock that no other transaction holds. */
const manyTurns = 5000

/** Locks, and changes that many transactions make to one row concurrently. */
export const lockCases: readonly StorageCase[] = [
  {
    title: 'lock gives the row as it is in this transaction, and changes nothing',
    async run({ storage }) {
      await store(storage, note({ id: '1', folder: 'a', stock: 3 }))
      const seen = await transact(storage, async (tx) => {
        const locked = [await tx.lock(notes, '1', 'share'), await tx.lock(notes, '1', 'update')]
        await tx.update(notes, '1', { stock: 4 })
        return [...locked, await tx.lock(notes, '1', 'update')]
      })
      const row = note({ id: '1', folder: 'a', stock: 3 })
      expect(seen).toEqual([row, row, { ...row, stock: 4 }])
      expect(await everyNote(storage)).toEqual([{ ...row, stock: 4 }])
    },
  },
  {
    title: 'a row that is locked is neither changed nor removed before the end',
    async run({ storage }) {
      for (const strength of strengths) {
        await store(storage, note({ id: '1', stock: 1 }), note({ id: '2', stock: 1 }))
        const locked = Promise.withResolvers<void>()
        const others = locked.promise.then(() =>
          Promise.all([
            transact(storage, (tx) => tx.update(notes, '1', { stock: 2 })),
            transact(storage, (tx) => tx.remove(notes, '2')),
          ]),
        )
        const seen = await storage.transaction(async (tx) => {
          await tx.lock(notes, '1', strength)
          await tx.lock(notes, '2', strength)
          locked.resolve()
          await giveWay(others)
          return [(await tx.get(notes, '1'))?.stock, (await tx.get(notes, '2'))?.stock]
        })
        expect(seen).toEqual([1, 1])
        await others
        expect(await everyNote(storage)).toEqual([note({ id: '1', stock: 2 })])
        await transact(storage, (tx) => tx.remove(notes, '1'))
      }
    },
  },
  {
    title: 'a lock that excludes another one is the only one until its transaction ends',
    async run({ storage }) {
      await store(storage, note({ id: '1', stock: 1 }))
      const pairs = [
        ['update', 'share'],
        ['share', 'update'],
        ['update', 'update'],
        ['use', 'close'],
        ['close', 'use'],
        ['close', 'share'],
        ['close', 'update'],
      ] as const
      for (const [held, wanted] of pairs) {
        const locked = Promise.withResolvers<void>()
        let isGranted = false
        const other = locked.promise.then(() =>
          transact(storage, async (tx) => {
            const row = await tx.lock(notes, '1', wanted)
            isGranted = true
            return row
          }),
        )
        const isGrantedBefore = await storage.transaction(async (tx) => {
          await tx.lock(notes, '1', held)
          locked.resolve()
          await giveWay(other)
          return isGranted
        })
        expect(isGrantedBefore, `${wanted} while ${held} is held`).toBe(false)
        expect(await other).toEqual(note({ id: '1', stock: 1 }))
      }
    },
  },
  {
    title: 'two transactions may hold share on one row at the same time, where they run at the same time at all',
    async run({ storage }) {
      await store(storage, note({ id: '1' }), note({ id: '2' }))
      const [held, begun, shared] = [1, 2, 3].map(() => Promise.withResolvers<void>())
      if (!held || !begun || !shared) throw new Error('three promises were made')
      const reached: string[] = []
      const other = held.promise.then(() =>
        transact(storage, async (tx) => {
          await tx.lock(notes, '2', 'update')
          reached.push('begun')
          begun.resolve()
          await tx.lock(notes, '1', 'share')
          reached.push('shared')
          shared.resolve()
          await tx.insert(notes, note({ id: '3' }))
        }),
      )
      const seen = await storage.transaction(async (tx) => {
        await tx.lock(notes, '1', 'share')
        held.resolve()
        await giveWay(Promise.race([begun.promise, other]))
        // The other one waits for the end of this one where transactions that write run one at a time.
        const isConcurrent = reached.includes('begun')
        if (isConcurrent) await giveWay(Promise.race([shared.promise, other]), manyTurns)
        await tx.insert(notes, note({ id: '4' }))
        return isConcurrent ? [...reached] : ['begun', 'shared']
      })
      expect(seen).toEqual(['begun', 'shared'])
      await other
      expect(ids(await everyNote(storage))).toEqual(['1', '2', '3', '4'])
    },
  },
  {
    title: '50 concurrent changes that depend on a locked row never go below zero',
    async run({ storage }) {
      await store(storage, note({ id: '1', stock: 20 }))
      const takeOne = () =>
        transact(storage, async (tx) => {
          const stock = (await tx.lock(notes, '1', 'update'))?.stock ?? 0
          return stock > 0 && (await tx.update(notes, '1', { stock: stock - 1 })) !== undefined
        })
      const taken = await Promise.all(Array.from({ length: 50 }, takeOne))
      expect(taken.filter(Boolean)).toHaveLength(20)
      expect((await everyNote(storage))[0]?.stock).toBe(0)
    },
  },
  {
    title: 'of 50 concurrent increments none is lost',
    async run({ storage }) {
      await store(storage, note({ id: '1', stock: 7 }))
      const add = () => transact(storage, (tx) => tx.increment(notes, '1', { stock: 1 }))
      const stocks = (await Promise.all(Array.from({ length: 50 }, add))).map((row) => row?.stock)
      expect(stocks.sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 50 }, (_, place) => 8 + place))
      expect((await everyNote(storage))[0]?.stock).toBe(57)
    },
  },
]
