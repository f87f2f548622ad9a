/** Two servers get the same read requests. */
import { each } from '../parents.ts'
import { compareLists } from './compare-lists.ts'
import { isRefusedToken, reach, requestRecord, type Side } from './compared-server.ts'
import { compare, type Difference, type Rules } from './differences.ts'
import { type Found, filteredReads, idOf, listOfRecord, listRoutes, pathOf, type Read, recordRoutes, sourceOf } from './reads.ts'

export interface ComparisonOptions {
  readonly a: Side
  readonly b: Side
  /** At most so many records of a list, and requests of an operation; `Infinity` for all. */
  readonly sample: number
  /** Fields that are left out, and paths that begin with a slash. */
  readonly ignore: readonly string[]
  readonly onProgress?: (operation: string, responses: number) => void
}

export interface Comparison {
  /** The first 10,000 differences. */
  readonly differences: readonly Difference[]
  /** How many there are in all. */
  readonly total: number
  /** Responses of each server that were compared. */
  readonly responses: number
  /** Requests that both servers refused, because their tokens lack a scope. */
  readonly refused: number
}

const maxKept = 10_000
/** Concurrent requests to each server. */
const atOnce = 4
const unknownId = '9007199254740991'

/**
 * Compares the responses of two servers.
 * @throws ClientError, UsageError if one of them does not respond, or has no such network
 */
export async function compareServers({ a, b, sample, ignore, onProgress = () => {} }: ComparisonOptions): Promise<Comparison> {
  const rules: Rules = { bases: [a.base, b.base], ignored: new Set(ignore.filter((name) => !name.startsWith('/'))) }
  const paths = ignore.filter((name) => name.startsWith('/')).map((path) => path.replace(/\/$/, ''))
  const isLeftOut = (path: string): boolean =>
    paths.some((left) => path === left || path.startsWith(`${left}/`) || path.startsWith(`${left}?`))
  const found = new Map<string, Found[]>()
  const differences: Difference[] = []
  let [total, responses, refused] = [0, 0, 0]

  const note = (path: string) => (field: string, left: unknown, right: unknown) => {
    total++
    if (differences.length < maxKept) differences.push({ path, field, a: left, b: right })
  }

  async function compareRead(read: Read, signal: AbortSignal, keep: boolean): Promise<void> {
    const path = pathOf(read)
    if (isLeftOut(path)) return
    const { route, params } = read
    if (route.isList) {
      const here = found.get(route.id) ?? []
      found.set(route.id, here)
      const keeping = (record: Found['record']) => void (keep && here.push({ params, record }))
      const options = { rules, most: sample, signal, onDifference: note(path), found: keeping, refused: refuse }
      const pages = await compareLists(a, b, read, options)
      // Not `responses += await …`: that reads the sum before it waits, and others add to it in the meantime.
      responses += pages
    } else {
      const [one, other] = await Promise.all([requestRecord(a, read, signal), requestRecord(b, read, signal)])
      responses++
      if (isRefusedToken(one) && isRefusedToken(other)) refuse()
      else if (one.status === other.status) compare(one.body, other.body, '', rules, note(path))
      else note(path)('status', one.status, other.status)
    }
    onProgress(route.id, responses)
  }

  const refuse = (): void => {
    refused++
  }
  const foundIn = (list: string): readonly Found[] => found.get(list) ?? []
  const compareAll = (all: readonly Read[], keep: boolean) => each(all, atOnce, (read, signal) => compareRead(read, signal, keep))
  await Promise.all([reach(a), reach(b)])
  for (const route of listRoutes)
    await compareAll(
      combinations(route.params, foundIn, sample).map((params) => ({ route, params, query: {} })),
      true,
    )
  for (const route of recordRoutes) {
    const list = listOfRecord(route)
    const last = route.params.at(-1)
    const known =
      list && last
        ? foundIn(list.id)
            .filter(({ record }) => idOf(record) !== '')
            .slice(0, sample)
        : []
    const params = known.map((one) => ({ ...one.params, [last ?? '']: idOf(one.record) }))
    const parents = known[0]?.params ?? combinations(route.params.slice(0, -1), foundIn, 1)[0]
    const unknown = last && parents ? [{ ...parents, [last]: unknownId }] : []
    const only = last ? [] : [{}]
    await compareAll(
      [...params, ...unknown, ...only].map((ids) => ({ route, params: ids, query: {} })),
      false,
    )
  }
  await compareAll(filteredReads(foundIn, Math.min(sample, 25)), false)
  return { differences, total, responses: responses - refused, refused }
}

/** The ids for the path of a list. Of several, the last one changes last: a few of them meet every one of the first. */
function combinations(
  params: readonly string[],
  found: (list: string) => readonly Found[],
  most: number,
): readonly Readonly<Record<string, string>>[] {
  let all: readonly Readonly<Record<string, string>>[] = [{}]
  for (const param of params) {
    const ids = [...new Set(found(sourceOf(param)).map(({ record }) => idOf(record)))].filter((id) => id !== '')
    all = ids.slice(0, most).flatMap((id) => all.map((others) => ({ ...others, [param]: id })))
  }
  return all.slice(0, most)
}
