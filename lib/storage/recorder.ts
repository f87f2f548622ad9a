/**
 * What transactions change, row by row: for a preview, and to compare an act with the preview before it.
 *
 * Terms
 * - **Preview**: work whose transaction is rolled back in any case.
 * - **Step**: one change of a row, with the row before and after it.
 * - **Token**: a digest of what work was given, of the rows that it changed as they were before, and of its events. Ids, times and
 *   secrets that are made in the work are not part of it, so an act has the token of its preview if nothing has changed in between.
 */
import { sha256 } from '../base/sha256.ts'
import { ApiError } from '../errors.ts'
import type { EventRecord } from '../outbox/record.ts'
import { wants } from '../outbox/wanted.ts'
import { isStorageError, type Patch, type Tx } from './contract.ts'
import type { Id, Row, Table } from './table.ts'
import { idempotencyKeys, webhookEndpoints } from './tables/administration.ts'

/** How many rows of a table work adds, changes and removes. */
export interface RowCounts {
  readonly inserted: number
  readonly changed: number
  readonly removed: number
}

/** What work changes. */
export interface RecordedChanges {
  /** By the name of the table; only tables of which rows change. */
  readonly rows: Readonly<Record<string, RowCounts>>
  /** How often each event happens, by its type, such as `PostCreatedHook`. */
  readonly events: Readonly<Record<string, number>>
  /** Endpoints that get some of these events, and how many. */
  readonly deliveries: readonly { readonly endpoint_id: Id; readonly events: number }[]
}

/** Rows that are remembered, as two digests each. */
const mostRows = 50_000

interface Step {
  readonly table: string
  readonly id: Id
  readonly before: Row | undefined
  readonly after: Row | undefined
  /** Takes it back. */
  undo(tx: Tx): Promise<unknown>
}

/** The digests of a row before the first and after the last change; `undefined`: there is no such row. */
interface Digests {
  readonly before: string | undefined
  after: string | undefined
}

/** The changes of the transaction that runs. */
class Changes {
  readonly steps: Step[] = []
  readonly events: EventRecord[] = []
  readonly subjects: string[] = []
}

export class Recorder {
  /** Whether nothing leaves the work: its transaction is rolled back. */
  readonly isPreview: boolean
  /** What undid the whole of the transaction, so that nothing more can be done in it. */
  lost: unknown
  readonly #most: number
  readonly #rows = new Map<string, Map<Id, Digests>>()
  readonly #events = new Map<string, number>()
  readonly #deliveries = new Map<Id, number>()
  readonly #subjects: string[] = []
  #count = 0
  #changes = new Changes()

  constructor(isPreview: boolean, most = mostRows) {
    this.isPreview = isPreview
    this.#most = most
  }

  /** Notes what the work was given, in the transaction that runs. */
  note(subject: string): void {
    this.#changes.subjects.push(subject)
  }

  /** A transaction whose changes are recorded from now on; those of one before that was not kept are forgotten. */
  over(tx: Tx): Tx {
    const changes = new Changes()
    this.#changes = changes
    let last: Promise<unknown> = Promise.resolve()
    // A change is two statements here, and calls may come before the results of earlier ones.
    const next = <T>(call: () => Promise<T>): Promise<T> => {
      const called = last.then(call).catch((error: unknown) => {
        if (isStorageError(error) && error.code === 'conflict') this.lost ??= error
        throw error
      })
      last = called.catch(() => undefined)
      return called
    }
    /** What would not be recorded does not happen. */
    const recording = <T>(call: (add: (step: Step) => void) => Promise<T>): Promise<T> =>
      next(() => {
        if (changes.steps.length >= this.#most) throw this.#tooMany()
        return call((step) => changes.steps.push(step))
      })
    const changing = <R extends Row, N>(table: Table<R, N>, id: Id, change: () => Promise<R | undefined>) =>
      recording(async (add) => {
        const before = await tx.lock(table, id, 'update')
        const after = await change()
        if (before && after) add({ table: table.name, id, before, after, undo: (tx) => tx.update(table, id, patchOf(before)) })
        return after
      })
    const isPreview = this.isPreview
    return {
      get: (table, id) => next(() => tx.get(table, id)),
      find: (table, query) => next(() => tx.find(table, query)),
      count: (table, query) => next(() => tx.count(table, query)),
      lock: (table, id, strength) => next(() => tx.lock(table, id, strength)),
      insert: (table, row) =>
        recording(async (add) => {
          const after = await tx.insert(table, row)
          const { id } = after
          add({ table: table.name, id, before: undefined, after, undo: (tx) => tx.remove(table, id) })
          return after
        }),
      update: (table, id, patch, guard) => changing(table, id, () => tx.update(table, id, patch, guard)),
      increment: (table, id, by, guard) => changing(table, id, () => tx.increment(table, id, by, guard)),
      remove: (table, id, guard) =>
        recording(async (add) => {
          const before = await tx.remove(table, id, guard)
          if (before) add({ table: table.name, id, before, after: undefined, undo: (tx) => tx.insert(table, before) })
          return before
        }),
      append: (records) =>
        next(async () => {
          for (const record of records) if (record.kind === 'event') changes.events.push(record)
          if (!isPreview) await tx.append(records)
        }),
      get native() {
        return tx.native
      },
    }
  }

  /** Keeps the changes of the transaction that has run. */
  async keep(tx: Tx): Promise<void> {
    const changes = this.#changes
    const { events } = changes
    this.#changes = new Changes()
    await this.#add(
      changes,
      events.map(({ event_type }) => event_type),
    )
    for (const [network_id, own] of Map.groupBy(events, (event) => event.network_id))
      for (const endpoint of await tx.find(webhookEndpoints, { where: { network_id } })) {
        const wanted = own.filter((event) => wants(endpoint, event)).length
        if (wanted > 0) this.#deliveries.set(endpoint.id, (this.#deliveries.get(endpoint.id) ?? 0) + wanted)
      }
  }

  async #add({ steps, subjects }: Changes, types: readonly string[]): Promise<void> {
    const last = new Map<Digests, Row | undefined>()
    for (const { table, id, before, after } of steps) last.set(await this.#digestsOf(table, id, before), after)
    for (const [digests, after] of last) digests.after = await digestOf(after)
    this.#subjects.push(...subjects)
    for (const type of types) this.#events.set(type, (this.#events.get(type) ?? 0) + 1)
  }

  /** Takes the changes of the transaction back that has run. */
  async undo(tx: Tx): Promise<void> {
    const { steps } = this.#changes
    this.#changes = new Changes()
    for (const step of steps.toReversed()) await step.undo(tx)
  }

  get recorded(): RecordedChanges {
    const rows = [...this.#rows].map(([table, own]) => [table, countsOf(own.values())] as const)
    return {
      rows: Object.fromEntries(rows.filter(([, { inserted, changed, removed }]) => inserted + changed + removed > 0)),
      events: Object.fromEntries(this.#events),
      deliveries: [...this.#deliveries].map(([endpoint_id, events]) => ({ endpoint_id, events })),
    }
  }

  /** @returns the token of all that was kept */
  token(): Promise<string> {
    const rows = [...this.#rows].flatMap(([table, own]) => {
      // The response that an `Idempotency-Key` keeps is not the work's.
      if (table === idempotencyKeys.name) return []
      const known = [...own].flatMap(([id, { before, after }]) =>
        before === undefined ? [] : [`${table} ${id} ${before} ${after === undefined ? 'removed' : before !== after}`],
      )
      return [...known, `${table} ${countsOf(own.values()).inserted}`]
    })
    return sha256(JSON.stringify([this.#subjects, rows.sort(), [...this.#events].sort(byName)]))
  }

  /**
   * The token of the transaction that runs, alone.
   * @param types those of its events
   */
  async tokenOf(types: readonly string[]): Promise<string> {
    const alone = new Recorder(this.isPreview, this.#most)
    await alone.#add(this.#changes, types)
    return alone.token()
  }

  async #digestsOf(table: string, id: Id, before: Row | undefined): Promise<Digests> {
    const own = this.#rows.get(table) ?? new Map<Id, Digests>()
    this.#rows.set(table, own)
    const known = own.get(id)
    if (known) return known
    if (++this.#count > this.#most) throw this.#tooMany()
    const made: Digests = { before: await digestOf(before), after: undefined }
    own.set(id, made)
    return made
  }

  #tooMany(): ApiError {
    const error = `This changes more than ${this.#most} rows, which is too much for a preview. Preview it in parts`
    return new ApiError(413, { error })
  }
}

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number => (one < other ? -1 : 1)

/** When a key was last used, no work writes: a key that is in use stays the same. */
async function digestOf(row: Row | undefined): Promise<string | undefined> {
  if (!row) return undefined
  const columns = Object.entries({ ...row, last_used_at: undefined })
  return sha256(JSON.stringify(columns.sort(byName)))
}

/** A row keeps its id and its network. */
function patchOf<R extends Row>({ id: _, network_id: _network, ...columns }: R): Patch<R> {
  return columns as Patch<R>
}

function countsOf(rows: Iterable<Digests>): RowCounts {
  const counts = { inserted: 0, changed: 0, removed: 0 }
  for (const { before, after } of rows) {
    if (before === undefined && after !== undefined) counts.inserted++
    else if (before !== undefined && after === undefined) counts.removed++
    else if (before !== after) counts.changed++
  }
  return counts
}
