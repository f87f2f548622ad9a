import { expect } from 'vitest'
import type { Query } from '../../storage/contract.ts'
import { everyNote, ids, type Note, note, notes, store, transact } from '../notes.ts'
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

/** Texts that a person, a language or an old database takes for the same. */
const alike = [
  ...['Key', 'key', 'KEY', 'kEY'],
  ...['resume', 'résumé', 're\u0301sume\u0301', 'Résumé'],
  ...['a', 'a ', 'a  ', ' a', 'a\t', 'a\u00a0', 'a\u200b'],
  ...['e\u0301', '\u00e9', 'e', '\u00c9'],
  ...['ss', 'ß', 'ẞ', 'i', 'ı', 'İ', 'fi', 'ﬁ', 'A', 'Ａ', 'ア', 'あ', '1', '１', '¹'],
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
      expect(await transact(storage, (tx) => tx.count(notes, { where: { due_at: '2026-11-20T10:00:00.007Z' } }))).toBe(1)
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
    title: 'texts that differ only in case, accents, form or blanks at the end are different, in conditions, keys and guards',
    async run({ storage }) {
      const rows = alike.map((text, i) => note({ id: String(i + 1), title: text, slug: text, folder: text }))
      await store(storage, ...rows)
      expect(await everyNote(storage)).toEqual(rows)
      for (const [i, row] of rows.entries()) {
        const other = rows[(i + 1) % rows.length]
        const [{ id, slug }, unlike] = [row, other?.slug ?? '']
        const results = await transact(storage, async (tx) => [
          await tx.find(notes, { where: { slug } }),
          await tx.find(notes, { where: { folder: slug } }),
          await tx.find(notes, { where: { folder: slug, title: row.title } }),
          await tx.find(notes, { where: { folder: [slug, 'nowhere'] } }),
          await tx.count(notes, { where: { title: row.title } }),
          await tx.update(notes, id, { stock: 1 }, { folder: unlike }),
          await tx.increment(notes, id, { stock: 1 }, { slug: [unlike, 'nowhere'] }),
          await tx.remove(notes, id, { title: unlike }),
        ])
        const expected = [[row], [row], [row], [row], 1, undefined, undefined, undefined]
        expect(results, JSON.stringify(slug)).toEqual(expected)
      }
      const upwards = alike.toSorted((a, b) => (a < b ? -1 : 1))
      const inOrder = (after?: string): Promise<Note[]> =>
        transact(storage, (tx) =>
          tx.find(notes, { order: { by: 'slug', direction: 'asc' }, ...(after !== undefined && { after }) }),
        )
      expect((await inOrder()).map(({ slug }) => slug)).toEqual(upwards)
      for (const [i, text] of upwards.entries()) expect((await inOrder(text))[0]?.slug, JSON.stringify(text)).toBe(upwards[i + 1])
    },
  },
  {
    title: 'the highest ids and whole numbers are exact: in rows, conditions, references, guards and order',
    async run({ storage }) {
      const [highest, below, lower] = ['9007199254740991', '9007199254740990', '9007199254740989']
      const most = Number.MAX_SAFE_INTEGER
      const rows = [
        note({ id: lower, author_id: highest, stock: most - 2 }),
        note({ id: below, author_id: lower, stock: most - 1 }),
        note({ id: highest, author_id: below, stock: most }),
      ]
      await store(storage, ...rows.toReversed())
      expect(await everyNote(storage)).toEqual(rows)
      for (const row of rows) {
        const found = await transact(storage, async (tx) => [
          [await tx.get(notes, row.id)],
          [await tx.lock(notes, row.id, 'update')],
          await tx.find(notes, { where: { id: row.id } }),
          await tx.find(notes, { where: { id: [row.id, '1'] } }),
          await tx.find(notes, { where: { author_id: row.author_id } }),
          await tx.find(notes, { where: { author_id: [row.author_id, '1'] } }),
          await tx.find(notes, { where: { stock: row.stock } }),
          await tx.find(notes, { where: { stock: [row.stock, 1] } }),
        ])
        expect(found).toEqual(Array(8).fill([row]))
      }
      const findIds = async (query: Query<Note>) => ids(await transact(storage, (tx) => tx.find(notes, query)))
      expect(await findIds({ after: lower })).toEqual([below, highest])
      expect(await findIds({ after: highest, order: { by: 'id', direction: 'desc' } })).toEqual([below, lower])
      expect(await findIds({ order: { by: 'author_id', direction: 'asc' }, after: lower })).toEqual([highest, lower])
      expect(await findIds({ order: { by: 'stock', direction: 'desc' }, after: most - 1 })).toEqual([lower])
      const guarded = await transact(storage, async (tx) => [
        await tx.update(notes, below, { title: 'Wrong' }, { author_id: below }),
        await tx.update(notes, below, { title: 'Wrong' }, { stock: most }),
        await tx.increment(notes, below, { stock: 1 }, { stock: most - 2 }),
        await tx.increment(notes, below, { stock: 1 }, { author_id: lower }),
        await tx.remove(notes, lower, { author_id: below }),
      ])
      const [one, two, three] = [guarded.slice(0, 3), guarded[3], guarded[4]]
      expect(one).toEqual([undefined, undefined, undefined])
      expect(two).toEqual({ ...rows[1], stock: most })
      expect(three).toBeUndefined()
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
