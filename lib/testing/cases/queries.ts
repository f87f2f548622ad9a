import { expect } from 'vitest'
import type { Query, Storage, Where } from '../../storage/contract.ts'
import { ids, type Note, note, notes, store, transact } from '../notes.ts'
import type { StorageCase } from '../subject.ts'

const find = (storage: Storage, query: Query<Note>) => transact(storage, (tx) => tx.find(notes, query))
const findIds = async (storage: Storage, query: Query<Note>) => ids(await find(storage, query))
const count = (storage: Storage, where: Where<Note>) => transact(storage, (tx) => tx.count(notes, { where }))

/** Five notes that differ in folder and stock. */
const five = [
  note({ id: '1', folder: 'a', stock: 1 }),
  note({ id: '2', folder: 'b', stock: 1 }),
  note({ id: '3', folder: null, stock: 2 }),
  note({ id: '4', folder: 'a', stock: 2 }),
  note({ id: '5', folder: 'a', stock: 1, network_id: '2' }),
]

/** Conditions over them, and the ids that they leave. */
const conditions: readonly (readonly [Where<Note>, readonly string[]])[] = [
  [{}, ['1', '2', '3', '4', '5']],
  [{ folder: 'a' }, ['1', '4', '5']],
  [{ folder: 'a', stock: 1 }, ['1', '5']],
  [{ folder: 'a', stock: 1, network_id: '1' }, ['1']],
  [{ folder: 'nowhere' }, []],
  [{ folder: null }, ['3']],
  [{ folder: ['b', 'a', 'nowhere'] }, ['1', '2', '4', '5']],
  [{ folder: ['a', 'a'] }, ['1', '4', '5']],
  [{ folder: ['b', null] }, ['2', '3']],
  [{ folder: ['a', 'b'], stock: [1, 3] }, ['1', '2', '5']],
  [{ id: '4' }, ['4']],
  [{ id: ['5', '1', '99', '1'] }, ['1', '5']],
  [{ id: ['1', '2', '3'], stock: 1 }, ['1', '2']],
]

/** Which rows a query finds, and in which order. */
export const queryCases: readonly StorageCase[] = [
  {
    title: 'find gives whole rows that match every condition, in the order of their ids',
    async run({ storage }) {
      await store(storage, ...five.toReversed())
      for (const [where, expected] of conditions) {
        expect(await find(storage, { where }), JSON.stringify(where)).toEqual(five.filter(({ id }) => expected.includes(id)))
      }
    },
  },
  {
    title: 'an empty list matches no row',
    async run({ storage }) {
      await store(storage, ...five)
      expect(await find(storage, { where: { folder: [] } })).toEqual([])
      expect(await find(storage, { where: { id: [] } })).toEqual([])
      expect(await find(storage, { where: { folder: 'a', stock: [] } })).toEqual([])
      expect(await count(storage, { folder: [] })).toBe(0)
    },
  },
  {
    title: 'count is how many rows find finds',
    async run({ storage }) {
      await store(storage, ...five)
      for (const [where, expected] of conditions) {
        expect(await count(storage, where), JSON.stringify(where)).toBe(expected.length)
      }
    },
  },
  {
    title: 'conditions find rows by the values that they have now',
    async run({ storage }) {
      await store(storage, ...five)
      await find(storage, { where: { folder: 'a' }, order: { by: 'stock', direction: 'asc' } })
      await transact(storage, async (tx) => {
        await tx.update(notes, '1', { folder: 'b', stock: 9 })
        await tx.update(notes, '4', { stock: 0 })
        await tx.remove(notes, '2')
        await tx.insert(notes, note({ id: '6', folder: 'a', stock: 5 }))
      })
      expect(await findIds(storage, { where: { folder: 'a' }, order: { by: 'stock', direction: 'asc' } })).toEqual([
        '4',
        '5',
        '6',
      ])
      expect(await findIds(storage, { where: { folder: 'b' } })).toEqual(['1'])
      expect(await count(storage, { folder: 'a' })).toBe(3)
    },
  },
  {
    title: 'ids compare as numbers, not as text',
    async run({ storage }) {
      const upwards = ['2', '9', '10', '11', '100', '9007199254740991']
      await store(storage, ...['100', '9', '9007199254740991', '2', '11', '10'].map((id) => note({ id, folder: 'a' })))
      const order = (direction: 'asc' | 'desc') => ({ by: 'id', direction }) as const
      expect(await findIds(storage, {})).toEqual(upwards)
      expect(await findIds(storage, { where: { folder: 'a' }, order: order('desc') })).toEqual(upwards.toReversed())
      expect(await findIds(storage, { after: '9', limit: 2 })).toEqual(['10', '11'])
      expect(await findIds(storage, { after: '10', order: order('desc') })).toEqual(['9', '2'])
    },
  },
  {
    title: 'columns that refer to an id compare as numbers as well',
    async run({ storage }) {
      await store(storage, ...['10', '9', '100'].map((author_id, i) => note({ id: String(i + 1), author_id })))
      const found = await find(storage, { order: { by: 'author_id', direction: 'asc' } })
      expect(found.map(({ author_id }) => author_id)).toEqual(['9', '10', '100'])
    },
  },
  {
    title: 'numbers order by value',
    async run({ storage }) {
      await store(storage, ...[10, 9, -1, 100].map((stock, i) => note({ id: String(i + 1), stock, weight: stock / 8 })))
      for (const by of ['stock', 'weight'] as const) {
        expect(await findIds(storage, { order: { by, direction: 'asc' } })).toEqual(['3', '2', '1', '4'])
        expect(await findIds(storage, { order: { by, direction: 'desc' } })).toEqual(['4', '1', '2', '3'])
      }
    },
  },
  {
    title: 'text orders by code unit, not by language',
    async run({ storage }) {
      const upwards = ['', '10', '9', 'B', 'Z', 'a', 'a b', 'ab', 'é', '中']
      await store(storage, ...upwards.toReversed().map((title, i) => note({ id: String(i + 1), title })))
      const found = await find(storage, { order: { by: 'title', direction: 'asc' } })
      expect(found.map(({ title }) => title)).toEqual(upwards)
    },
  },
  {
    title: 'null is found by null alone, in columns of every type that have it',
    async run({ storage }) {
      const rows = [
        note({ id: '1' }),
        note({ id: '2', folder: '', slug: 'null', author_id: '0', due_at: '1970-01-01T00:00:00.000Z' }),
        note({ id: '3', folder: 'a' }),
      ]
      await store(storage, ...rows)
      const columns = ['slug', 'author_id', 'due_at'] as const
      for (const column of columns) {
        expect(await findIds(storage, { where: { [column]: null } }), column).toEqual(['1', '3'])
        expect(await findIds(storage, { where: { [column]: [rows[1]?.[column] ?? '', null] } }), column).toEqual(['1', '2', '3'])
        expect(await findIds(storage, { where: { [column]: [null] } }), column).toEqual(['1', '3'])
        expect(await findIds(storage, { where: { [column]: rows[1]?.[column] ?? '' } }), column).toEqual(['2'])
        expect(await count(storage, { [column]: null, folder: null }), column).toBe(1)
      }
      const guarded = await transact(storage, async (tx) => [
        await tx.update(notes, '2', { stock: 1 }, { due_at: null }),
        await tx.remove(notes, '2', { author_id: null }),
        await tx.increment(notes, '1', { stock: 1 }, { due_at: null, author_id: [null, '7'] }),
      ])
      expect(guarded).toEqual([undefined, undefined, note({ id: '1', stock: 1 })])
    },
  },
  {
    title: 'null comes before every value',
    async run({ storage }) {
      const at = (second: number) => `2026-11-20T10:00:0${second}.000Z`
      await store(
        storage,
        note({ id: '1', folder: 'b', author_id: '10', due_at: at(2) }),
        note({ id: '2' }),
        note({ id: '3', folder: '', author_id: '9', due_at: at(1) }),
        note({ id: '10' }),
      )
      for (const by of ['folder', 'author_id', 'due_at'] as const) {
        expect(await findIds(storage, { order: { by, direction: 'asc' } }), by).toEqual(['2', '10', '3', '1'])
        expect(await findIds(storage, { order: { by, direction: 'desc' } }), by).toEqual(['1', '3', '10', '2'])
        expect(await findIds(storage, { order: { by, direction: 'desc' }, limit: 3 }), by).toEqual(['1', '3', '10'])
      }
      const list = { where: { folder: ['b', null] }, order: { by: 'folder', direction: 'desc' } } as const
      expect(await findIds(storage, { ...list, limit: 2 })).toEqual(['1', '10'])
    },
  },
  {
    title: 'rows with the same value follow each other by id in the same direction',
    async run({ storage }) {
      await store(storage, ...['10', '2', '9'].map((id) => note({ id, stock: 5 })), note({ id: '1', stock: 6 }))
      expect(await findIds(storage, { order: { by: 'stock', direction: 'asc' } })).toEqual(['2', '9', '10', '1'])
      expect(await findIds(storage, { order: { by: 'stock', direction: 'desc' } })).toEqual(['1', '10', '9', '2'])
    },
  },
  {
    title: 'offset leaves rows out first, limit counts from there',
    async run({ storage }) {
      await store(storage, ...Array.from({ length: 6 }, (_, i) => note({ id: String(i + 8), folder: i % 2 ? 'a' : 'b' })))
      expect(await findIds(storage, { limit: 2 })).toEqual(['8', '9'])
      expect(await findIds(storage, { offset: 2, limit: 3 })).toEqual(['10', '11', '12'])
      expect(await findIds(storage, { offset: 5, limit: 3 })).toEqual(['13'])
      expect(await findIds(storage, { offset: 6, limit: 3 })).toEqual([])
      expect(await findIds(storage, { offset: 4 })).toEqual(['12', '13'])
      expect(await findIds(storage, { limit: 0 })).toEqual([])
      const lists = { where: { folder: ['a', 'b'] }, order: { by: 'id', direction: 'desc' } } as const
      expect(await findIds(storage, { ...lists, offset: 1, limit: 2 })).toEqual(['12', '11'])
    },
  },
  {
    title: 'after leaves out everything up to that value, whether a row has it or not',
    async run({ storage }) {
      await store(storage, ...[2, 4, 6, 8].map((stock) => note({ id: String(stock), stock, title: `t${stock}` })))
      const by = (column: 'stock' | 'title', direction: 'asc' | 'desc') => ({ order: { by: column, direction } }) as const
      expect(await findIds(storage, { after: '4' })).toEqual(['6', '8'])
      expect(await findIds(storage, { after: '5', limit: 1 })).toEqual(['6'])
      expect(await findIds(storage, { after: '4', offset: 1 })).toEqual(['8'])
      expect(await findIds(storage, { after: '8' })).toEqual([])
      expect(await findIds(storage, { ...by('stock', 'desc'), after: 6 })).toEqual(['4', '2'])
      expect(await findIds(storage, { ...by('stock', 'asc'), after: '4' })).toEqual(['6', '8'])
      expect(await findIds(storage, { ...by('title', 'asc'), after: 't5' })).toEqual(['6', '8'])
      expect(await findIds(storage, { ...by('title', 'desc'), after: 't5' })).toEqual(['4', '2'])
      expect(await findIds(storage, { where: { id: ['2', '4', '6'] }, after: '2' })).toEqual(['4', '6'])
      await store(storage, note({ id: '5', stock: 4, title: 't4' }))
      for (const column of ['stock', 'title'] as const) {
        const place = column === 'stock' ? 4 : 't4'
        expect(await findIds(storage, { ...by(column, 'asc'), after: place })).toEqual(['6', '8'])
        expect(await findIds(storage, { ...by(column, 'desc'), after: place })).toEqual(['2'])
      }
    },
  },
  {
    title: 'four pages one after another, each sought by its key, are one big find',
    async run({ storage }) {
      const rows = Array.from({ length: 40 }, (_, i) => note({ id: String(i * 7 + 3), folder: i % 4 === 0 ? 'b' : 'a' }))
      await store(storage, ...rows)
      for (const folder of ['a', ['a', 'b']] as const) {
        for (const direction of ['asc', 'desc'] as const) {
          const query = { where: { folder }, order: { by: 'id', direction } } as const
          const all = await find(storage, { ...query, limit: 28 })
          const pages: Note[] = []
          for (let page = 0; page < 4; page++) {
            const after = pages.at(-1)?.id
            pages.push(...(await find(storage, { ...query, limit: 7, ...(after !== undefined && { after }) })))
          }
          expect(pages).toHaveLength(28)
          expect(pages).toEqual(all)
        }
      }
    },
  },
]
