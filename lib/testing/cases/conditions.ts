import { expect } from 'vitest'
import { within } from '../../storage/conditions.ts'
import type { CountQuery, Query, Storage } from '../../storage/contract.ts'
import { ids, type Note, note, notes, readings, store, transact } from '../notes.ts'
import type { StorageCase } from '../subject.ts'

const findIds = async (storage: Storage, query: Query<Note>) => ids(await transact(storage, (tx) => tx.find(notes, query)))
const count = (storage: Storage, query: CountQuery<Note>) => transact(storage, (tx) => tx.count(notes, query))

const at = (second: number) => `2026-11-20T10:00:0${second}.000Z`

/** Readings of notes, one for each of `notes` and `reader`. */
const read = (storage: Storage, network_id: string, reader: string, ...of: readonly string[]) =>
  transact(storage, async (tx) => {
    for (const note_id of of) {
      const id = String(100 + (await tx.count(readings, {})))
      await tx.insert(readings, { id, network_id, created_at: at(0), updated_at: at(0), note_id, reader })
    }
  })

const readBy = (reader: string | readonly string[], network_id = '1') => within(readings, 'note_id', { network_id, reader })

/** Notes of two folders, with dates and texts. */
const six = [
  note({ id: '2', folder: 'a', stock: 1, title: 'Ada Ash', due_at: at(1) }),
  note({ id: '3', folder: 'b', stock: 2, title: 'Ben Ash', due_at: at(2) }),
  note({ id: '9', folder: null, stock: 10, title: 'ada 100%_', due_at: null }),
  note({ id: '10', folder: 'a', stock: 9, title: "O'Hara Ádá", due_at: at(2) }),
  note({ id: '11', folder: 'a', stock: -1, title: '', due_at: at(3) }),
  note({ id: '20', folder: 'b', stock: 3, title: 'Ash\\Ada', network_id: '2' }),
]

/** Conditions beside equality. */
export const conditionCases: readonly StorageCase[] = [
  {
    title: 'a range begins with its first value, and ends before its second',
    async run({ storage }) {
      await store(storage, ...six)
      const found = (ranges: Query<Note>['ranges']) => findIds(storage, { ranges: ranges ?? {} })
      expect(await found({ stock: { from: 2, before: 10 } })).toEqual(['3', '10', '20'])
      expect(await found({ stock: { from: 9 } })).toEqual(['9', '10'])
      expect(await found({ stock: { before: 1 } })).toEqual(['11'])
      expect(await found({ id: { from: '3', before: '11' } })).toEqual(['3', '9', '10'])
      expect(await found({ title: { from: 'A', before: 'B' } })).toEqual(['2', '20'])
      expect(await found({ stock: { from: 3, before: 3 } })).toEqual([])
      expect(await found({ stock: {} })).toHaveLength(6)
    },
  },
  {
    title: 'null is in no range, in whatever order',
    async run({ storage }) {
      await store(storage, ...six)
      for (const direction of ['asc', 'desc'] as const) {
        const order = { by: 'due_at', direction } as const
        const turned = (expected: string[]) => (direction === 'asc' ? expected : expected.toReversed())
        expect(await findIds(storage, { ranges: { due_at: { before: at(3) } }, order })).toEqual(turned(['2', '3', '10']))
        expect(await findIds(storage, { ranges: { due_at: { from: '' } }, order })).toEqual(turned(['2', '3', '10', '11']))
        expect(await findIds(storage, { ranges: { due_at: { from: at(2) } }, order, limit: 2 })).toEqual(
          turned(['3', '10', '11']).slice(0, 2),
        )
      }
    },
  },
  {
    title: 'every text must occur in its column, by code unit',
    async run({ storage }) {
      await store(storage, ...six)
      const found = (...title: readonly string[]) => findIds(storage, { contains: { title } })
      expect(await found('Ash')).toEqual(['2', '3', '20'])
      expect(await found('Ash', 'Ad')).toEqual(['2', '20'])
      expect(await found('ada')).toEqual(['9'])
      // Nothing in it is a pattern.
      expect(await found('%_')).toEqual(['9'])
      expect(await found('_sh')).toEqual([])
      expect(await found("O'Hara ")).toEqual(['10'])
      expect(await found('\\')).toEqual(['20'])
      expect(await found('Ádá')).toEqual(['10'])
      expect(await found('\ud800')).toEqual([])
      expect(await found()).toHaveLength(6)
      expect(await findIds(storage, { contains: { folder: ['a'] } })).toEqual(['2', '10', '11'])
    },
  },
  {
    title: 'parts of texts are found in every order and page, as they are now',
    async run({ storage }) {
      await store(storage, ...six, note({ id: '21', title: 'Ash 𐐨𐐩𐐪 "Ash" - x*' }), note({ id: '22', title: 'OR Ashes' }))
      const by = (column: 'id' | 'title', direction: 'asc' | 'desc') => ({ by: column, direction }) as const
      const found = (title: readonly string[], query: Query<Note> = {}) => findIds(storage, { ...query, contains: { title } })
      expect(await found(['Ash'])).toEqual(['2', '3', '20', '21', '22'])
      expect(await found(['Ash'], { order: by('id', 'desc'), limit: 2 })).toEqual(['22', '21'])
      expect(await found(['Ash'], { order: by('id', 'desc'), after: '21', limit: 2 })).toEqual(['20', '3'])
      expect(await found(['Ash'], { after: '3', limit: 1, offset: 1 })).toEqual(['21'])
      expect(await found(['Ash'], { order: by('title', 'desc'), limit: 3 })).toEqual(['22', '3', '20'])
      expect(await found(['Ash', 'n Ash'], { where: { network_id: '1', folder: ['a', 'b'] }, limit: 5 })).toEqual(['3'])
      expect(await found(['Ash'], { where: { id: ['3', '9'] } })).toEqual(['3'])
      expect(await found(['ash'])).toEqual([])
      expect(await found(['𐐨𐐩𐐪'])).toEqual(['21'])
      expect(await found(['𐐩𐐪 "A', '" - x*'])).toEqual(['21'])
      expect(await found(['"""'])).toEqual([])
      expect(await found(['OR Ash'])).toEqual(['22'])
      expect(await count(storage, { contains: { title: ['Ash'] }, limit: 4 })).toBe(4)
      await transact(storage, (tx) => tx.update(notes, '3', { title: 'Ben Oak' }))
      await transact(storage, (tx) => tx.remove(notes, '20'))
      const undone = transact(storage, async (tx) => {
        await tx.update(notes, '2', { title: 'Ada Elm' })
        throw new Error('undone')
      })
      await expect(undone).rejects.toThrow('undone')
      expect(await found(['Ash'])).toEqual(['2', '21', '22'])
      expect(await found(['Oak'])).toEqual(['3'])
      expect(await found(['Elm'])).toEqual([])
      const inside = await transact(storage, async (tx) => {
        await tx.update(notes, '9', { title: 'Ash at last' })
        return ids(await tx.find(notes, { contains: { title: ['Ash'] } }))
      })
      expect(inside).toEqual(['2', '9', '21', '22'])
    },
  },
  {
    title: 'rows that other tables name are found by them, in every order',
    async run({ storage }) {
      await store(storage, ...six)
      await read(storage, '1', 'mia', '10', '2', '11', '404')
      await read(storage, '1', 'noa', '2', '3', '9', '10')
      await read(storage, '2', 'mia', '20')
      const by = (column: 'id' | 'stock', direction: 'asc' | 'desc') => ({ by: column, direction }) as const
      const both = [readBy('mia'), readBy('noa')]
      expect(await findIds(storage, { within: [readBy('mia')] })).toEqual(['2', '10', '11'])
      expect(await findIds(storage, { within: [readBy('mia')], order: by('id', 'desc') })).toEqual(['11', '10', '2'])
      expect(await findIds(storage, { within: [readBy('mia')], order: by('stock', 'asc') })).toEqual(['11', '2', '10'])
      expect(await findIds(storage, { within: [readBy('mia')], order: by('stock', 'desc'), limit: 1, offset: 1 })).toEqual(['2'])
      expect(await findIds(storage, { within: [readBy('mia')], after: '2', limit: 1 })).toEqual(['10'])
      expect(await findIds(storage, { within: [readBy('mia')], after: '11', order: by('id', 'desc') })).toEqual(['10', '2'])
      expect(await findIds(storage, { within: [readBy('mia')], offset: 1, limit: 1 })).toEqual(['10'])
      expect(await findIds(storage, { within: both })).toEqual(['2', '10'])
      expect(await findIds(storage, { within: both, order: by('stock', 'desc') })).toEqual(['10', '2'])
      expect(await findIds(storage, { within: [readBy(['mia', 'noa'])] })).toEqual(['2', '3', '9', '10', '11'])
      expect(await findIds(storage, { within: [readBy([])] })).toEqual([])
      expect(await findIds(storage, { within: [readBy('nobody')] })).toEqual([])
      expect(await findIds(storage, { where: { id: ['10', '3'] }, within: [readBy('mia')] })).toEqual(['10'])
      expect(await findIds(storage, { where: { network_id: '2' }, within: [readBy('mia', '2')] })).toEqual(['20'])
    },
  },
  {
    title: 'a column may name the rows of its own table, more than once and by null',
    async run({ storage }) {
      const [first, second, ...others] = six
      if (!first || !second) throw new Error('there are six notes')
      await store(storage, { ...first, author_id: '3' }, { ...second, author_id: '3' }, ...others)
      const within_ = [within(notes, 'author_id', { network_id: '1' })]
      expect(await findIds(storage, { within: within_ })).toEqual(['3'])
      expect(await count(storage, { within: within_ })).toBe(1)
    },
  },
  {
    title: 'conditions of every kind hold together, with lists, pages and orders',
    async run({ storage }) {
      await store(storage, ...six)
      await read(storage, '1', 'mia', '2', '3', '10', '11')
      const query = {
        where: { network_id: '1', folder: ['a', 'b'] },
        ranges: { stock: { from: 1 } },
        contains: { title: ['A'] },
        within: [readBy('mia')],
      }
      expect(await findIds(storage, query)).toEqual(['2', '3'])
      expect(await findIds(storage, { ...query, limit: 1 })).toEqual(['2'])
      expect(await findIds(storage, { ...query, limit: 1, offset: 1 })).toEqual(['3'])
      expect(await findIds(storage, { ...query, limit: 5, after: '2' })).toEqual(['3'])
      expect(await findIds(storage, { ...query, limit: 5, order: { by: 'stock', direction: 'desc' } })).toEqual(['3', '2'])
    },
  },
  {
    title: 'count is how many rows find finds with the same conditions, and stops at its limit',
    async run({ storage }) {
      await store(storage, ...six)
      await read(storage, '1', 'mia', '2', '3', '10', '11')
      const queries: readonly Query<Note>[] = [
        { ranges: { stock: { from: 2 } } },
        { contains: { title: ['Ash'] } },
        { within: [readBy('mia')] },
        { where: { folder: 'a' }, within: [readBy('mia')], ranges: { stock: { before: 9 } } },
        { where: { folder: ['a', 'b'] }, contains: { title: ['s'] } },
      ]
      for (const query of queries)
        expect(await count(storage, query), JSON.stringify(query)).toBe((await findIds(storage, query)).length)
      expect(await count(storage, { limit: 4 })).toBe(4)
      expect(await count(storage, { limit: 7 })).toBe(6)
      expect(await count(storage, { where: { folder: 'a' }, limit: 2 })).toBe(2)
      expect(await count(storage, { within: [readBy('mia')], limit: 3 })).toBe(3)
    },
  },
]
