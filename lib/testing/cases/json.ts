import { expect } from 'vitest'
import type { JsonFields, JsonRows } from '../../storage/json.ts'
import { type Note, note, notes, store } from '../notes.ts'
import type { StorageCase } from '../subject.ts'

const fields: JsonFields = [
  ['id', { from: 'column', column: 'id' }],
  ['number', { from: 'number', column: 'id' }],
  ['author_id', { from: 'column', column: 'author_id' }],
  ['author', { from: 'number', column: 'author_id' }],
  ['title', { from: 'column', column: 'title' }],
  ['slug', { from: 'column', column: 'slug' }],
  ['stock', { from: 'column', column: 'stock' }],
  ['pinned', { from: 'column', column: 'pinned' }],
  ['due_at', { from: 'column', column: 'due_at' }],
  ['extra', { from: 'column', column: 'extra' }],
  ['kind', { from: 'text', text: `it's "a" note\\ ä` }],
  ['link', { from: 'around', before: 'https://a.example/', column: 'id', after: "/it's" }],
  ['image', { from: 'address', column: 'folder', base: 'https://files.example' }],
  ['shown', { from: 'choice', column: 'pinned', yes: { from: 'column', column: 'title' }, no: { from: 'text', text: '' } }],
  ['none', { from: 'nothing' }],
]

const recordOf = ({ id, author_id, title, slug, stock, pinned, due_at, extra, folder }: Note) => ({
  ...{ id, number: Number(id), author_id, author: author_id === null ? null : Number(author_id) },
  ...{ title, slug, stock, pinned, due_at, extra, kind: `it's "a" note\\ ä`, link: `https://a.example/${id}/it's` },
  ...{ image: folder?.startsWith('/') ? `https://files.example${folder}` : folder, shown: pinned ? title : '', none: null },
})

const decoder = new TextDecoder()
const parsed = (found: JsonRows | undefined): unknown[] | undefined =>
  found && (JSON.parse(`[${typeof found.json === 'string' ? found.json : decoder.decode(found.json)}]`) as unknown[])

/** Rows as JSON text. A storage without `findJson` passes: the library makes the text. */
export const jsonCases: readonly StorageCase[] = [
  {
    title: 'findJson, where there is one, writes every column and source as JSON has it',
    async run({ storage }) {
      const rows = [
        note({ id: '1', title: `"quoted" \\ / \b\f\n\r\t \u0001 \u007f ä – 漢 😀 \u2028`, pinned: true, folder: '/a b.png' }),
        note({ id: '2', author_id: '9007199254740991', slug: '', stock: -5, due_at: '2026-11-20T10:00:00.000Z', folder: 'x/y' }),
        note({ id: '3', extra: { b: [1, 2.5, 'ä', null, true], a: { '': '{"' } }, folder: '' }),
        note({ id: '4', extra: null }),
      ].map((row) => (row.extra === null ? { ...row, extra: [] } : row))
      await store(storage, ...rows)
      const found = await storage.transaction(async (tx) => parsed(await tx.findJson?.(notes, {}, fields)), { readOnly: true })
      if (found) expect(found).toEqual(rows.map(recordOf))
    },
  },
  {
    title: 'findJson, where there is one, shows the named fields of a list of records and nothing else of them',
    async run({ storage }) {
      const lists = [[], [{ id: '7', title: 'A – b', more: 1 }, { id: '8' }], [{ title: null, id: '9' }]]
      await store(storage, ...lists.map((extra, place) => note({ id: String(place + 1), extra })))
      const list = (isNumber: boolean): JsonFields => [
        [
          'list',
          {
            from: 'list',
            column: 'extra',
            fields: [
              { name: 'id', isNumber },
              { name: 'title', isNumber: false },
            ],
          },
        ],
      ]
      for (const isNumber of [false, true]) {
        const found = await storage.transaction(async (tx) => parsed(await tx.findJson?.(notes, {}, list(isNumber))))
        const idOf = (id: string) => (isNumber ? Number(id) : id)
        const expected = [
          { list: [] },
          {
            list: [
              { id: idOf('7'), title: 'A – b' },
              { id: idOf('8'), title: null },
            ],
          },
          { list: [{ id: idOf('9'), title: null }] },
        ]
        if (found) expect(found).toEqual(expected)
      }
    },
  },
  {
    title:
      'findJson, where there is one, finds the rows that find finds, in its order, and says their last place and whether more follow',
    async run({ storage }) {
      const rows = Array.from({ length: 12 }, (_, place) =>
        note({ id: String(place + 1), stock: (place * 7) % 12, folder: place % 2 ? 'odd' : null }),
      )
      await store(storage, ...rows)
      const queries = [
        { limit: 3 },
        { limit: 3, offset: 4 },
        { limit: 3, after: '4' },
        { where: { folder: 'odd' }, order: { by: 'stock', direction: 'desc' }, limit: 4, after: '9' },
        { where: { folder: null }, order: { by: 'id', direction: 'desc' }, limit: 20 },
        { where: { id: ['3', '5', '99'] } },
        { where: { title: 'nobody has it' }, limit: 2 },
      ] as const
      for (const query of queries) {
        const [found, expected, all] = await storage.transaction(
          async (tx) =>
            [
              await tx.findJson?.(notes, query, fields),
              await tx.find(notes, query),
              'limit' in query ? await tx.find(notes, { ...query, limit: query.limit + 1 }) : [],
            ] as const,
          { readOnly: true },
        )
        if (!found) continue
        expect(parsed(found)).toEqual(expected.map(recordOf))
        const by = 'order' in query ? query.order.by : 'id'
        const last = expected.at(-1)
        expect({ ...found, json: '' }).toEqual({
          json: '',
          count: expected.length,
          last: last ? String(last[by]) : null,
          hasMore: all.length > expected.length,
        })
      }
    },
  },
]
