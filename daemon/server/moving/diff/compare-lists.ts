/** One list of two servers, record by record. The lists are read side by side, so that neither is held whole. */
import { type ApiRecord, isApiRecord } from '../api-record.ts'
import { isRefusedToken, type PageResponse, requestPages, type Side } from './compared-server.ts'
import { compare, type Rules } from './differences.ts'
import { idOf, type Read } from './reads.ts'

export interface ListOptions {
  readonly rules: Rules
  /** At most so many records; `Infinity` for all of them. */
  readonly most: number
  readonly signal: AbortSignal
  readonly onDifference: (field: string, a: unknown, b: unknown) => void
  /** Called if both servers refuse their token. */
  readonly refused: () => void
  /** Is given each record of the first server. */
  readonly found: (record: ApiRecord) => void
}

/** The records of one server that the other one has not shown yet. */
interface Waiting {
  readonly records: Map<string, unknown>
  /** The ids of all records so far, in their order. */
  readonly order: string[]
  isOver: boolean
}

const largestPage = 100

/** @returns how many pages were compared */
export async function compareLists(a: Side, b: Side, read: Read, options: ListOptions): Promise<number> {
  const { rules, most, signal, onDifference, found, refused } = options
  const perPage = Math.min(most, largestPage)
  const pages = { a: requestPages(a, read, perPage, signal), b: requestPages(b, read, perPage, signal) }
  const [left, right] = [waiting(), waiting()]
  let count = 0
  for (; !(left.isOver && right.isOver); count++) {
    const [one, other] = await Promise.all([next(pages.a, left), next(pages.b, right)])
    if (count === 0 && one && other) {
      if (one.status !== other.status) onDifference('status', one.status, other.status)
      else if (isRefusedToken(one) && isRefusedToken(other)) refused()
      else if (one.status >= 300) compare(one.body, other.body, '', rules, onDifference)
      if (one.status !== other.status || one.status >= 300) return 1
      compare(one.envelope, other.envelope, 'envelope', rules, onDifference)
    }
    take(one, left, most)
    take(other, right, most)
    for (const record of one?.records ?? []) if (isApiRecord(record)) found(record)
    for (const [id, record] of left.records) {
      if (!right.records.has(id)) continue
      compare(record, right.records.get(id), `items[${id}]`, rules, onDifference)
      left.records.delete(id)
      right.records.delete(id)
    }
  }
  compareRest(left, right, most, onDifference)
  await Promise.all([pages.a.return(undefined), pages.b.return(undefined)])
  return count
}

const waiting = (): Waiting => ({ records: new Map(), order: [], isOver: false })

async function next(pages: AsyncGenerator<PageResponse, void, undefined>, side: Waiting): Promise<PageResponse | undefined> {
  if (side.isOver) return undefined
  const { value } = await pages.next()
  if (!value || value.isLast) side.isOver = true
  return value ?? undefined
}

function take(page: PageResponse | undefined, side: Waiting, most: number): void {
  for (const record of page?.records ?? []) {
    if (side.order.length >= most) break
    const id = (isApiRecord(record) ? idOf(record) : '') || `#${side.order.length}`
    side.records.set(id, record)
    side.order.push(id)
  }
  if (side.order.length >= most) side.isOver = true
}

/** Records that only one server has, and another order. */
function compareRest(left: Waiting, right: Waiting, most: number, onDifference: ListOptions['onDifference']): void {
  for (const id of onlyIn(left, right, most)) onDifference(`items[${id}]`, 'a record', undefined)
  for (const id of onlyIn(right, left, most)) onDifference(`items[${id}]`, undefined, 'a record')
  if (left.records.size > 0 || right.records.size > 0) return
  const at = left.order.findIndex((id, index) => id !== right.order[index])
  if (at !== -1) onDifference(`items, place ${at + 1}`, left.order[at], right.order[at])
}

/**
 * The records that only one server has. In the first records of two lists, one record more pushes the last one of the other list
 * out: such a one is not missing.
 */
function onlyIn({ records, order }: Waiting, other: Waiting, most: number): readonly string[] {
  const certain = order.length < most ? order.length : most - other.records.size
  return order.slice(0, Math.max(0, certain)).filter((id) => records.has(id))
}
