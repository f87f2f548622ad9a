import { expect } from 'vitest'
import { everyNote, note, notes, store, transact } from '../notes.ts'
import type { StorageCase } from '../subject.ts'

/** One row at a time: get, insert, update, remove. */
export const rowCases: readonly StorageCase[] = [
  {
    title: 'insert gives the row back and get finds it',
    async run({ storage }) {
      const row = note({ id: '7', folder: 'a', stock: 3 })
      const inserted = await transact(storage, (tx) => tx.insert(notes, row))
      const found = await transact(storage, (tx) => tx.get(notes, '7'))
      expect(inserted).toEqual(row)
      expect(found).toEqual(row)
    },
  },
  {
    title: 'get, update, increment, lock and remove of an absent id give undefined and change nothing',
    async run({ storage }) {
      await store(storage, note({ id: '1' }))
      const results = await transact(storage, async (tx) => [
        await tx.get(notes, '2'),
        await tx.update(notes, '2', { title: 'Nobody' }),
        await tx.increment(notes, '2', { stock: 1 }),
        await tx.lock(notes, '2', 'share'),
        await tx.lock(notes, '2', 'update'),
        await tx.remove(notes, '2'),
      ])
      expect(results).toEqual(Array(6).fill(undefined))
      expect(await everyNote(storage)).toEqual([note({ id: '1' })])
    },
  },
  {
    title: 'update changes the columns of the patch and leaves the others',
    async run({ storage }) {
      const row = note({ id: '1', folder: 'a', stock: 3, extra: { deep: [1, 2] } })
      await store(storage, row, note({ id: '2' }))
      const updated = await transact(storage, (tx) => tx.update(notes, '1', { title: 'New', pinned: true }))
      expect(updated).toEqual({ ...row, title: 'New', pinned: true })
      expect(await everyNote(storage)).toEqual([updated, note({ id: '2' })])
    },
  },
  {
    title: 'undefined in a patch leaves a column as it is, null is stored',
    async run({ storage }) {
      await store(storage, note({ id: '1', folder: 'a', slug: 's' }))
      const updated = await transact(storage, (tx) => tx.update(notes, '1', { folder: undefined, slug: null }))
      expect(updated).toEqual(note({ id: '1', folder: 'a', slug: null }))
      expect(await everyNote(storage)).toEqual([updated])
    },
  },
  {
    title: 'an update happens while its guard holds',
    async run({ storage }) {
      await store(storage, note({ id: '1', stock: 2, folder: null }))
      const updated = await transact(storage, async (tx) => [
        await tx.update(notes, '1', { stock: 3 }, { stock: 2 }),
        await tx.update(notes, '1', { stock: 4 }, { stock: [9, 3], folder: null }),
      ])
      expect(updated).toEqual([note({ id: '1', stock: 3 }), note({ id: '1', stock: 4 })])
    },
  },
  {
    title: 'an update whose guard no longer holds gives undefined and changes nothing',
    async run({ storage }) {
      await store(storage, note({ id: '1', stock: 2, folder: 'a' }))
      const updated = await transact(storage, async (tx) => [
        await tx.update(notes, '1', { title: 'Wrong' }, { stock: 1 }),
        await tx.update(notes, '1', { title: 'Wrong' }, { stock: 2, folder: null }),
        await tx.update(notes, '1', { title: 'Wrong' }, { folder: ['b', 'c'] }),
        await tx.update(notes, '1', { title: 'Wrong' }, { folder: [] }),
      ])
      expect(updated).toEqual([undefined, undefined, undefined, undefined])
      expect(await everyNote(storage)).toEqual([note({ id: '1', stock: 2, folder: 'a' })])
    },
  },
  {
    title: 'an update to the values that the row already has gives the row, and so does an update of nothing',
    async run({ storage }) {
      const row = note({ id: '1', folder: 'a', stock: 3, extra: { list: ['a'] } })
      await store(storage, row)
      const same = { title: row.title, folder: 'a', slug: null, stock: 3, extra: { list: ['a'] } }
      const results = await transact(storage, async (tx) => [
        await tx.update(notes, '1', same),
        await tx.update(notes, '1', same),
        await tx.update(notes, '1', { stock: 3 }, { stock: 3, folder: 'a' }),
        await tx.update(notes, '1', {}),
        await tx.update(notes, '1', { title: undefined }, { stock: [2, 3] }),
      ])
      expect(results).toEqual(Array(5).fill(row))
      const refused = await transact(storage, async (tx) => [
        await tx.update(notes, '1', same, { stock: 4 }),
        await tx.update(notes, '1', {}, { folder: null }),
        await tx.update(notes, '2', {}),
      ])
      expect(refused).toEqual([undefined, undefined, undefined])
      expect(await everyNote(storage)).toEqual([row])
    },
  },
  {
    title: 'an increment by zero or by nothing gives the row',
    async run({ storage }) {
      const row = note({ id: '1', folder: 'a', stock: 3, weight: 0.5 })
      await store(storage, row)
      const results = await transact(storage, async (tx) => [
        await tx.increment(notes, '1', { stock: 0 }),
        await tx.increment(notes, '1', { stock: 0, weight: 0 }, { folder: 'a' }),
        await tx.increment(notes, '1', {}),
        await tx.increment(notes, '1', {}, { stock: 3 }),
      ])
      expect(results).toEqual(Array(4).fill(row))
      const refused = await transact(storage, async (tx) => [
        await tx.increment(notes, '1', { stock: 0 }, { stock: 4 }),
        await tx.increment(notes, '1', {}, { folder: 'b' }),
        await tx.increment(notes, '2', {}),
      ])
      expect(refused).toEqual([undefined, undefined, undefined])
      expect(await everyNote(storage)).toEqual([row])
    },
  },
  {
    title: 'remove gives the row back once',
    async run({ storage }) {
      await store(storage, note({ id: '1' }), note({ id: '2' }))
      const first = await transact(storage, (tx) => tx.remove(notes, '1'))
      const second = await transact(storage, (tx) => tx.remove(notes, '1'))
      expect([first, second]).toEqual([note({ id: '1' }), undefined])
      expect(await everyNote(storage)).toEqual([note({ id: '2' })])
    },
  },
  {
    title: 'a removal whose guard does not hold gives undefined and removes nothing',
    async run({ storage }) {
      await store(storage, note({ id: '1', stock: 2, folder: 'a' }))
      const results = await transact(storage, async (tx) => [
        await tx.remove(notes, '1', { stock: 1 }),
        await tx.remove(notes, '1', { stock: 2, folder: null }),
        await tx.remove(notes, '1', { folder: [] }),
      ])
      expect(results).toEqual([undefined, undefined, undefined])
      expect(await everyNote(storage)).toEqual([note({ id: '1', stock: 2, folder: 'a' })])
      expect(await transact(storage, (tx) => tx.remove(notes, '1', { stock: [1, 2] }))).toMatchObject({ id: '1' })
      expect(await everyNote(storage)).toEqual([])
    },
  },
  {
    title: 'increment adds to the columns that are named and leaves the others',
    async run({ storage }) {
      await store(storage, note({ id: '1', stock: 5, weight: 0.5, folder: 'a' }), note({ id: '2' }))
      const rows = await transact(storage, async (tx) => [
        await tx.increment(notes, '1', { stock: 1 }),
        await tx.increment(notes, '1', { stock: -10, weight: 0.25 }),
        await tx.increment(notes, '1', { stock: 3 }, { folder: ['a', 'b'], stock: -4 }),
      ])
      const changed = note({ id: '1', stock: -1, weight: 0.75, folder: 'a' })
      expect(rows).toEqual([{ ...changed, stock: 6, weight: 0.5 }, { ...changed, stock: -4 }, changed])
      expect(await everyNote(storage)).toEqual([changed, note({ id: '2' })])
    },
  },
  {
    title: 'an increment whose guard does not hold gives undefined and changes nothing',
    async run({ storage }) {
      await store(storage, note({ id: '1', stock: 2, folder: 'a' }))
      const results = await transact(storage, async (tx) => [
        await tx.increment(notes, '1', { stock: 1 }, { stock: 1 }),
        await tx.increment(notes, '1', { stock: 1 }, { folder: null }),
      ])
      expect(results).toEqual([undefined, undefined])
      expect(await everyNote(storage)).toEqual([note({ id: '1', stock: 2, folder: 'a' })])
    },
  },
  {
    title: 'a row that went in or came out cannot be used to change the store',
    async run({ storage }) {
      const original = () => note({ id: '1', extra: { tags: ['a'] } })
      const given = original()
      const rows = await transact(storage, async (tx) => [
        await tx.insert(notes, given),
        await tx.get(notes, '1'),
        ...(await tx.find(notes, { where: { id: '1' } })),
        ...(await tx.find(notes, { where: { stock: 0 } })),
      ])
      for (const row of [...rows, given].filter((row) => row !== undefined)) {
        // A frozen row throws, a copy does not; both are right.
        ignoreErrors(() => Object.assign(row, { title: 'Changed' }))
        ignoreErrors(() => (row.extra as { tags: string[] }).tags.push('b'))
      }
      expect(await everyNote(storage)).toEqual([original()])
      expect(await transact(storage, (tx) => tx.get(notes, '1'))).toEqual(original())
    },
  },
  {
    title: 'a transaction reads its own writes',
    async run({ storage }) {
      await store(storage, note({ id: '1', folder: 'a' }), note({ id: '2', folder: 'a' }))
      const seen = await transact(storage, async (tx) => {
        await tx.insert(notes, note({ id: '3', folder: 'a' }))
        await tx.update(notes, '1', { folder: 'b' })
        await tx.remove(notes, '2')
        return {
          got: [await tx.get(notes, '1'), await tx.get(notes, '2'), await tx.get(notes, '3')],
          found: await tx.find(notes, { where: { folder: 'a' } }),
          counted: await tx.count(notes, { where: { folder: 'a' } }),
        }
      })
      const [moved, added] = [note({ id: '1', folder: 'b' }), note({ id: '3', folder: 'a' })]
      expect(seen).toEqual({ got: [moved, undefined, added], found: [added], counted: 1 })
    },
  },
]

function ignoreErrors(attempt: () => unknown) {
  try {
    attempt()
  } catch {}
}
