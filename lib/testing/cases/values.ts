import { expect } from 'vitest'
import { everyNote, ids, note, notes, store, transact } from '../notes.ts'
import type { StorageCase } from '../subject.ts'

const texts = [
  'Grüße aus 東京',
  '👩‍👩‍👧 𝒳',
  'مرحبا',
  'e\u0301',
  '\u00e9',
  'line\nbreak\ttab',
  '\u2028\u0001\u007f\ufeff',
  ' spaces around ',
  `'; DROP TABLE suite_notes; --`,
  '"quoted" \\ %_ $1 ?',
  '1',
  'null',
  'true',
]

/** Stored values come back unchanged. */
export const valueCases: readonly StorageCase[] = [
  {
    title: 'numbers, booleans and JSON come back as they went in',
    async run({ storage }) {
      const rows = [
        note({ id: '1', stock: Number.MAX_SAFE_INTEGER, weight: 0.1, pinned: true, author_id: '9007199254740991' }),
        note({ id: '2', stock: Number.MIN_SAFE_INTEGER, weight: 1e-300, pinned: false, author_id: '0' }),
        note({ id: '3', extra: { list: [1, 'two', null, [], {}], deep: { ö: [{ a: false }] }, '': 0 } }),
        note({ id: '4', extra: ['a', 'b'] }),
        note({ id: '5', extra: 'text' }),
      ]
      await store(storage, ...rows)
      expect(await everyNote(storage)).toEqual(rows)
      expect(ids(await transact(storage, (tx) => tx.find(notes, { where: { pinned: true } })))).toEqual(['1'])
      expect(ids(await transact(storage, (tx) => tx.find(notes, { where: { stock: Number.MIN_SAFE_INTEGER } })))).toEqual(['2'])
    },
  },
  {
    title: 'points in time come back as the same text',
    async run({ storage }) {
      const row = note({ id: '1', due_at: '2026-11-20T10:00:00.007Z', updated_at: '2031-01-01T00:00:00.000Z' })
      await store(storage, row, note({ id: '2', due_at: '2026-11-20T09:59:59.999Z' }))
      const byTime = { order: { by: 'due_at', direction: 'desc' } } as const
      expect(await transact(storage, (tx) => tx.get(notes, '1'))).toEqual(row)
      expect(ids(await transact(storage, (tx) => tx.find(notes, byTime)))).toEqual(['1', '2'])
      expect(await transact(storage, (tx) => tx.count(notes, { due_at: '2026-11-20T10:00:00.007Z' }))).toBe(1)
    },
  },
  {
    title: 'text of any script, and text that looks like something else, stays as it is and can be found',
    async run({ storage }) {
      // As a unique key as well: an adapter that normalises text would see two of these as the same.
      const rows = texts.map((text, i) => note({ id: String(i + 1), title: text, slug: text, extra: { [text]: text } }))
      await store(storage, ...rows)
      expect(await everyNote(storage)).toEqual(rows)
      for (const row of rows) {
        expect(await transact(storage, (tx) => tx.find(notes, { where: { title: row.title } })), row.title).toEqual([row])
      }
    },
  },
  {
    title: 'empty text is not null',
    async run({ storage }) {
      await store(storage, note({ id: '1', folder: '' }), note({ id: '2', folder: null }))
      expect(ids(await transact(storage, (tx) => tx.find(notes, { where: { folder: '' } })))).toEqual(['1'])
      expect(ids(await transact(storage, (tx) => tx.find(notes, { where: { folder: null } })))).toEqual(['2'])
    },
  },
  {
    title: 'half of a surrogate pair or a zero character comes back unchanged or is refused, never stored as something else',
    async run({ storage }) {
      for (const [i, title] of ['\ud83d', 'a\udc00b', '\u0000', 'a\u0000b'].entries()) {
        const row = note({ id: String(i + 1), title })
        const refused = await store(storage, row).then(
          () => false,
          () => true,
        )
        const found = await transact(storage, (tx) => tx.get(notes, row.id))
        expect(found, JSON.stringify(title)).toEqual(refused ? undefined : row)
      }
    },
  },
  {
    title: 'a text of a megabyte comes back whole',
    async run({ storage }) {
      const row = note({ id: '1', title: 'long', extra: 'ä"\\'.repeat(250_000) })
      await store(storage, row)
      const found = await transact(storage, (tx) => tx.get(notes, '1'))
      // Not toEqual: a difference of a megabyte takes minutes to print.
      expect(found?.extra === row.extra).toBe(true)
    },
  },
]
