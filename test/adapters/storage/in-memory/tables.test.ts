import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { frozenCopy, matches, type StoredRow } from '../../../../adapters/storage/in-memory/row.ts'
import { type Change, type RowQuery, type TableInMemory, tableInMemory } from '../../../../adapters/storage/in-memory/table.ts'
import { boolean, integer, nullable, table, text } from '../../../../lib/storage/table.ts'

const shape = table('shapes', { colour: nullable(text()), size: integer(), round: boolean() }, { unique: [['size', 'round']] })

const anId = fc.integer({ min: 1, max: 30 }).map(String)
const colour = fc.constantFrom('a', 'B', 'é', '', null)
const size = fc.integer({ min: 0, max: 12 })
const row = fc
  .record({ id: anId, colour, size, round: fc.boolean() })
  .map((values): StoredRow => ({ network_id: '1', created_at: '', updated_at: '', ...values }))
const patch = fc.record({ colour, size, round: fc.boolean() }, { requiredKeys: [] })
const step = fc.oneof(
  fc.record({ do: fc.constant('insert' as const), row }),
  fc.record({ do: fc.constant('update' as const), id: anId, patch }),
  fc.record({ do: fc.constant('remove' as const), id: anId }),
  fc.record({ do: fc.constant('undo' as const), steps: fc.integer({ min: 1, max: 5 }) }),
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

const oneOrMore = <T>(value: fc.Arbitrary<T>) => fc.oneof(value, fc.array(value, { maxLength: 3 }))
const where = fc.record(
  { id: oneOrMore(anId), colour: oneOrMore(colour), size: oneOrMore(size), round: fc.boolean() },
  { requiredKeys: [] },
)
const afters: Readonly<Record<string, fc.Arbitrary<string | number | undefined>>> = {
  id: fc.option(anId, { nil: undefined }),
  size: fc.option(size, { nil: undefined }),
  colour: fc.constantFrom('a', 'C', '', undefined),
}
const query = fc
  .record(
    {
      where,
      order: fc.record({
        by: fc.constantFrom('id', 'size', 'colour', 'round'),
        direction: fc.constantFrom('asc' as const, 'desc' as const),
      }),
      limit: fc.integer({ min: 0, max: 6 }),
      offset: fc.integer({ min: 0, max: 6 }),
    },
    { requiredKeys: [] },
  )
  .chain((query) => {
    const after = afters[query.order?.by ?? 'id'] ?? fc.constant(undefined)
    return after.map((value) => ({ ...query, ...(value !== undefined && { after: value }) }))
  })

/** The same question answered by looking at every row, which is slow and plainly right. */
function lookAtAll(rows: readonly StoredRow[], { where = {}, order, after, limit = rows.length, offset = 0 }: RowQuery) {
  const by = order?.by ?? 'id'
  const rank = (value: unknown) => (by === 'id' ? Number(value) : value === null ? undefined : value)
  const compare = (a: unknown, b: unknown): number => {
    const [left, right] = [rank(a), rank(b)]
    if (left === right) return 0
    if (left === undefined || right === undefined) return left === undefined ? -1 : 1
    return (left as string) < (right as string) ? -1 : 1
  }
  const sign = order?.direction === 'desc' ? -1 : 1
  return rows
    .filter((row) => matches(row, where))
    .filter((row) => after === undefined || sign * compare(row[by], after) > 0)
    .sort((a, b) => sign * (compare(a[by], b[by]) || Number(a.id) - Number(b.id)))
    .slice(offset, offset + limit)
}

/** Does a step and gives what an undo needs; a step that is refused does nothing. */
function take(subject: TableInMemory, log: Change[], next: Step) {
  try {
    if (next.do === 'undo') for (const change of log.splice(-next.steps).reverse()) subject.undo(change)
    const change = next.do === 'insert' ? subject.insert(next.row) : undefined
    const changed = next.do === 'update' ? subject.update(next.id, next.patch, {}) : change
    const last = next.do === 'remove' ? subject.remove(next.id, {}) : changed
    if (last) log.push(last)
  } catch (error) {
    expect(error).toMatchObject({ code: 'unique' })
  }
}

describe('a table in memory', () => {
  test('responds to every query as a look at every row would, whatever was done and undone before', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(step, query), { maxLength: 60 }), (script) => {
        const subject = tableInMemory(shape)
        const log: Change[] = []
        for (const [next, question] of script) {
          take(subject, log, next)
          const rows = [...subject.rows.values()]
          expect(subject.find(question)).toEqual(lookAtAll(rows, question))
          expect(subject.count({ where: question.where ?? {} })).toBe(lookAtAll(rows, { where: question.where ?? {} }).length)
          const keys = rows.map(({ size, round }) => `${size} ${round}`)
          expect(new Set(keys).size).toBe(keys.length)
        }
        for (const change of log.toReversed()) subject.undo(change)
        expect([subject.rows.size, subject.find({ where: { round: [true, false] } })]).toEqual([0, []])
      }),
      { numRuns: 300 },
    )
  })

  test('hands out the row that it keeps, frozen all through', () => {
    const subject = tableInMemory(shape)
    const given = {
      id: '1',
      network_id: '1',
      created_at: '',
      updated_at: '',
      colour: 'a',
      size: 1,
      round: true,
      extra: { list: [{}] },
    }
    subject.insert(given)
    const kept = subject.rows.get('1') as typeof given
    expect(subject.find({ where: { colour: 'a' } })[0]).toBe(kept)
    expect(kept).not.toBe(given)
    expect(Object.isFrozen(given)).toBe(false)
    expect([kept, kept.extra, kept.extra.list, kept.extra.list[0]].every(Object.isFrozen)).toBe(true)
  })

  test('looks at no more rows for a late page than for an early one', () => {
    const subject = tableInMemory(shape)
    let looks = 0
    for (let id = 1; id <= 5_000; id++)
      subject.insert({ id: String(id), network_id: '1', created_at: '', updated_at: '', size: id, round: true })
    // Ids are compared as texts, so this one counts how often it is compared.
    const counting = (after: string) => {
      const look = () => {
        looks++
        return after
      }
      return { toString: look } as unknown as string
    }
    const cost = (after: string) => {
      looks = 0
      const page = subject.find({ where: { network_id: '1' }, after: counting(after), limit: 25 })
      return { looks, first: page[0]?.id }
    }
    subject.find({ where: { network_id: '1' } })
    const [early, late] = [cost('25'), cost('4900')]
    expect([early.first, late.first]).toEqual(['26', '4901'])
    // A binary search among 5,000 rows compares at most 13 times.
    expect(Math.max(early.looks, late.looks)).toBeLessThanOrEqual(13)
  })
})

test('a column that there is not is refused, as a database refuses it', () => {
  const shapes = tableInMemory(shape)
  const known: StoredRow = { id: '1', network_id: '1', created_at: '', updated_at: '', colour: null, size: 1, round: true }
  shapes.insert(known)
  expect(() => shapes.update('1', { weight: 3 }, {})).toThrow(new RangeError('shapes has no column weight'))
  expect(shapes.rows.get('1')).toEqual(known)
})

test('a member of a JSON value that is called `__proto__` is kept as a member, and is no prototype', () => {
  const given = '{"a":null,"__proto__":{"list":[1,{"b":2}]}}'
  const copy = frozenCopy(JSON.parse(given))
  expect(JSON.stringify(copy)).toBe(given)
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
  expect('list' in copy).toBe(false)
})
