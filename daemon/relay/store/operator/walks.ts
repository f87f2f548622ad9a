/** Walks through the deliveries of a search in steps. Each step reads a bounded number of rows, however many there are. */
import { type Plan, type RelayDatabase, type Rows, row } from '../database.ts'
import { number } from '../rows.ts'
import type { DeliverySearch } from './operator-store.ts'
import { countWithin, edgeOf, endpointsIn, isForFew, mostOfStep, type Order, type Range, select } from './searches.ts'

/** The second step of a page reads so many index entries, and each later one `mostOfStep`. */
const secondStep = 500

interface Step<T> {
  readonly value: T
  /** The id that it reached: the next step continues there. */
  readonly reached: number
  /** Index entries that it may have read. */
  readonly looked: number
}

/** The first id of an event that was ingested at or after a time. Ids follow the order in which events are ingested. */
function* idAt(time: number, low: number, high: number): Plan<number> {
  let [from, to] = [low, high]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    const found = yield* row(
      `SELECT d.id, e.received_at FROM $schema.deliveries d JOIN $schema.events e ON e.seq = d.event
       WHERE d.id >= ?1 AND d.id < ?2 ORDER BY d.id LIMIT 1`,
      [middle, to],
    )
    if (found && number(found, 'received_at') < time) from = number(found, 'id') + 1
    else to = middle
  }
  return from
}

function* boundsOf({ since, until, before }: DeliverySearch): Plan<Range> {
  // Two queries: with both conditions in one, SQLite reads the whole table.
  const found = yield* row(
    `SELECT coalesce((SELECT min(id) FROM $schema.deliveries), 0) AS low,
       coalesce((SELECT max(id) FROM $schema.deliveries), -1) + 1 AS high`,
  )
  const low = number(found ?? {}, 'low')
  const high = number(found ?? {}, 'high')
  const from = since === undefined ? low : yield* idAt(Date.parse(since), low, high)
  const to = until === undefined ? high : yield* idAt(Date.parse(until), from, high)
  return { from, to: Math.min(to, before ?? to) }
}

/**
 * @param sizeOf index entries of a step, by its number
 * @param work what is done with a range, which has at most so many rows
 */
async function* steps<T>(
  database: RelayDatabase,
  search: DeliverySearch,
  order: Order,
  sizeOf: (step: number) => number,
  work: (range: Range, most: number) => Plan<T>,
): AsyncGenerator<Step<T>> {
  const endpoints = await database.read(() => endpointsIn(search))
  if (endpoints === 0) return
  let { from, to } = await database.read(() => boundsOf(search))
  const isAscending = order === 'ASC'
  for (let number = 0; from < to; number++) {
    const rest = { from, to }
    const size = Math.max(1, Math.floor(Math.min(sizeOf(number), mostOfStep) / endpoints))
    const { range, value } = await database.read(function* () {
      const edge = isForFew(search) || isOfAll(search) ? null : yield* edgeOf(database, search, rest, order, size)
      const range = edge === null ? rest : isAscending ? { ...rest, to: edge + 1 } : { ...rest, from: edge }
      return { range, value: yield* work(range, Math.max(mostOfStep, endpoints)) }
    })
    if (isAscending) from = range.to
    else to = range.from
    yield { value, reached: isAscending ? from : to, looked: size * endpoints }
  }
}

/** Rows of one part of a walk through all networks. */
const partOfAll = 1000

/** The rows of a search in all networks: the database chooses how it reads them, as no network is rare. */
async function* walkAll(
  database: RelayDatabase,
  search: DeliverySearch,
  order: Order,
  limit: number,
): AsyncGenerator<Step<Rows>> {
  let { from, to } = await database.read(() => boundsOf(search))
  for (let rest = true; rest; ) {
    const value = await database.read(() => select(database, search, { from, to }, order, limit))
    const last = value.at(-1)
    if (last && order === 'ASC') from = number(last, 'id') + 1
    else if (last) to = number(last, 'id')
    rest = value.length === limit
    yield { value, reached: order === 'ASC' ? from : to, looked: value.length }
  }
}

/** A subject is rare, and no index has it: even among all networks it is searched in steps. */
const isOfAll = (search: DeliverySearch): boolean =>
  search.network_id === undefined && search.subject === undefined && !isForFew(search)

/**
 * The rows of a search, the oldest first, or the newest: a part with each step. A part may be empty.
 * @param limit of a page: its first steps are small, and a part has at most so many rows
 */
export const walk = (
  database: RelayDatabase,
  search: DeliverySearch,
  order: Order,
  limit?: number,
): AsyncGenerator<Step<Rows>> => {
  if (isOfAll(search)) return walkAll(database, search, order, limit ?? partOfAll)
  const sizeOf = (step: number) => (limit === undefined ? undefined : [limit * 2, secondStep][step]) ?? mostOfStep
  return steps(database, search, order, sizeOf, (range, most) => select(database, search, range, order, limit ?? most))
}

/** The number of rows of a search: a part of it with each step. */
export const counted = (database: RelayDatabase, search: DeliverySearch): AsyncGenerator<Step<number>> =>
  steps(
    database,
    search,
    'ASC',
    () => mostOfStep,
    (range) => countWithin(database, search, range),
  )
