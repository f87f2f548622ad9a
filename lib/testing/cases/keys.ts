import { expect } from 'vitest'
import { isUniqueViolation } from '../../storage/contract.ts'
import { everyNote, ids, note, notes, store, transact } from '../notes.ts'
import type { StorageCase } from '../subject.ts'

/** The longest text of a unique key, and the longest in a key of two texts; see `unique` of `Table`. */
const [longestKey, longestOfTwo] = [765, 255]

/** A text of letters of two bytes that hardly repeats, so that no database stores it in much less. */
const longText = (length: number): string =>
  Array.from({ length }, (_, place) => String.fromCharCode(0x410 + ((place * place * 7 + place * 13) % 61))).join('')

/** Unique keys. */
export const keyCases: readonly StorageCase[] = [
  {
    title: 'a taken id is a unique violation that names the id',
    async run({ storage }) {
      await store(storage, note({ id: '1' }))
      const again = store(storage, note({ id: '1', network_id: '2', title: 'Other' }))
      await expect(again).rejects.toMatchObject({ code: 'unique', table: 'suite_notes', key: ['id'] })
      expect(await everyNote(storage)).toEqual([note({ id: '1' })])
    },
  },
  {
    title: 'a taken unique key is a unique violation that names its columns, on insert and on update',
    async run({ storage }) {
      const rows = [note({ id: '1', slug: 'a', folder: 'f', title: 'T' }), note({ id: '2', slug: 'b', folder: 'f', title: 'U' })]
      await store(storage, ...rows)
      const bySlug = { code: 'unique', table: 'suite_notes', key: ['network_id', 'slug'] }
      const byTitle = { code: 'unique', table: 'suite_notes', key: ['network_id', 'folder', 'title'] }
      await expect(store(storage, note({ id: '3', slug: 'a' }))).rejects.toMatchObject(bySlug)
      await expect(store(storage, note({ id: '3', folder: 'f', title: 'T' }))).rejects.toMatchObject(byTitle)
      await expect(transact(storage, (tx) => tx.update(notes, '2', { slug: 'a' }))).rejects.toMatchObject(bySlug)
      await expect(transact(storage, (tx) => tx.update(notes, '2', { title: 'T' }))).rejects.toMatchObject(byTitle)
      expect(await everyNote(storage)).toEqual(rows)
    },
  },
  {
    title: 'a row may keep its own unique key when it changes',
    async run({ storage }) {
      await store(storage, note({ id: '1', slug: 'a' }))
      const updated = await transact(storage, (tx) => tx.update(notes, '1', { slug: 'a', stock: 5 }))
      expect(updated).toEqual(note({ id: '1', slug: 'a', stock: 5 }))
    },
  },
  {
    title: 'a unique key holds within a network and is free in another',
    async run({ storage }) {
      const rows = [note({ id: '1', network_id: '1', slug: 'a' }), note({ id: '2', network_id: '2', slug: 'a' })]
      await store(storage, ...rows)
      expect(await everyNote(storage)).toEqual(rows)
    },
  },
  {
    title: 'a null in a unique key never collides',
    async run({ storage }) {
      const rows = [
        note({ id: '1', slug: null, folder: null, title: 'T' }),
        note({ id: '2', slug: null, folder: null, title: 'T' }),
        note({ id: '3', slug: 'a', folder: 'f', title: 'T' }),
      ]
      await store(storage, ...rows)
      const updated = await transact(storage, (tx) => tx.update(notes, '3', { slug: null, folder: null }))
      expect(updated).toMatchObject({ slug: null, folder: null })
      expect(ids(await everyNote(storage))).toEqual(['1', '2', '3'])
    },
  },
  {
    title: 'a unique key is free again when its row is removed or has another value',
    async run({ storage }) {
      await store(storage, note({ id: '1', slug: 'a' }), note({ id: '2', slug: 'b' }))
      await transact(storage, async (tx) => {
        await tx.remove(notes, '1')
        await tx.update(notes, '2', { slug: 'c' })
        await tx.insert(notes, note({ id: '3', slug: 'a' }))
        await tx.insert(notes, note({ id: '4', slug: 'b' }))
      })
      expect((await everyNote(storage)).map(({ slug }) => slug)).toEqual(['c', 'a', 'b'])
    },
  },
  {
    title: 'a unique key may be as long as the contract has it, and its last character counts',
    async run({ storage }) {
      const [single, double] = [longText(longestKey - 1), longText(longestOfTwo - 1)]
      const rows = [
        note({ id: '1', slug: `${single}ж`, folder: `${double}ж`, title: `${double}а` }),
        note({ id: '2', slug: `${single}я`, folder: `${double}ж`, title: `${double}я` }),
        note({ id: '3', slug: single, folder: `${double}я`, title: `${double}а` }),
      ]
      await store(storage, ...rows)
      expect(await everyNote(storage)).toEqual(rows)
      for (const row of rows) {
        const found = await transact(storage, async (tx) => [
          await tx.find(notes, { where: { slug: row.slug } }),
          await tx.find(notes, { where: { folder: row.folder, title: row.title } }),
          await tx.find(notes, { where: { slug: [row.slug, 'other'] } }),
        ])
        expect(found).toEqual([[row], [row], [row]])
      }
      for (const by of ['slug', 'title'] as const) {
        const inOrder = await transact(storage, (tx) => tx.find(notes, { order: { by, direction: 'asc' } }))
        expect(ids(inOrder)).toEqual(by === 'slug' ? ['3', '1', '2'] : ['1', '3', '2'])
      }
      const beyond = { order: { by: 'slug', direction: 'asc' }, after: `${single}ж` } as const
      expect(ids(await transact(storage, (tx) => tx.find(notes, beyond)))).toEqual(['2'])
      const unlike = await transact(storage, (tx) => tx.update(notes, '1', { stock: 1 }, { slug: `${single}я` }))
      expect(unlike).toBeUndefined()
      await expect(store(storage, note({ id: '4', slug: `${single}я` }))).rejects.toMatchObject({
        code: 'unique',
        key: ['network_id', 'slug'],
      })
      await expect(store(storage, note({ id: '4', folder: `${double}я`, title: `${double}а` }))).rejects.toMatchObject({
        code: 'unique',
        key: ['network_id', 'folder', 'title'],
      })
    },
  },
  {
    title: 'the keys of a transaction that threw are free',
    async run({ storage }) {
      await store(storage, note({ id: '1', slug: 'a' }))
      const undone = transact(storage, async (tx) => {
        await tx.update(notes, '1', { slug: 'z' })
        await tx.insert(notes, note({ id: '2', slug: 'b' }))
        throw new Error('undone')
      })
      await expect(undone).rejects.toThrow('undone')
      await store(storage, note({ id: '2', slug: 'z' }), note({ id: '3', slug: 'b' }))
      await expect(store(storage, note({ id: '4', slug: 'a' }))).rejects.toMatchObject({ code: 'unique' })
    },
  },
  {
    title: 'of many concurrent inserts of one unique value exactly one wins',
    async run({ storage }) {
      const inserts = Array.from({ length: 20 }, (_, i) => store(storage, note({ id: String(i + 1), slug: 'wanted' })))
      const outcomes = await Promise.allSettled(inserts)
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
      expect(refused.every(({ reason }) => isUniqueViolation(reason))).toBe(true)
      expect(refused).toHaveLength(19)
      expect(await everyNote(storage)).toHaveLength(1)
    },
  },
]
