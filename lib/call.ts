/**
 * The context of a handler, and of the rules that it calls. It has the request, the page, and the events that may be published,
 * typed by the declaration of the operation.
 */
import type * as v from 'valibot'
import type { Context } from './context.ts'
import type { EventName, PayloadOf, UpdateName } from './events/catalogue.ts'
import type { Change } from './events/changed.ts'
import type { Fields } from './fields.ts'
import type { Conditions, Query } from './storage/contract.ts'
import type { Id, Row, Table } from './storage/table.ts'

/** The names of the ids in a path. */
export type ParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

/** The parsed value of a schema. */
export type Output<S> = S extends v.GenericSchema ? v.InferOutput<S> : undefined
type QueryOf<Q> = Q extends Fields ? v.InferOutput<v.ObjectSchema<Q, undefined>> : Record<never, never>

/** Numbers of a list, as connectors read them. */
export interface PageMeta {
  /** The page, from 1. */
  readonly current_page: number
  /** Records on a page. */
  readonly per_page: number
  /** Records on all pages. */
  readonly total_count: number
  /** Pages with these records. */
  readonly total_pages: number
  /** Set if there are more records than `total_count`. */
  readonly total_count_capped?: true
}

/** A page on its way out: its records, and where the next one begins. */
export interface Page<Item> {
  /** In the order of the list; empty after the last page. */
  readonly items: readonly Item[]
  /** The value of the order column behind which the next page begins; `null` on the last page. */
  readonly after: string | null
  /** How many records there are on all pages, if the caller requested it: exact up to `mostCounted`. */
  readonly count?: number
}

/** A context in which these events may be published: what rules need that several operations share. */
export interface Emitter<E extends EventName> extends Context {
  /**
   * Publishes an event in this transaction.
   * @param change the record before and after: of an update the event names the changed fields, and the history of a member has
   * their role and state
   */
  emit<Name extends E>(name: Name, payload: PayloadOf<Name>, ...change: Name extends UpdateName ? [Change] : [Change?]): void
}

/** The rows of a list, and their order. */
export interface Listing<R> extends Conditions<R>, Pick<Query<R>, 'order'> {
  /**
   * Only rows for which this holds, where no column says so. The list is then by ascending id, and read up to the end of the
   * page: where few rows are picked, that is much of it.
   */
  readonly picks?: (row: R) => boolean
}

/** A context in which a page was requested. */
export interface Pager extends Context {
  /**
   * One page of a table, as the request's `page`, `per_page` and `after` say.
   * @param query the rows to list; by default ordered by id, ascending
   * @param present makes the records out of the page's rows; left out where the rows are the records
   */
  page<R extends Row, N>(table: Table<R, N>, query?: Listing<R>): Promise<Page<R>>
  page<R extends Row, N, Item>(
    table: Table<R, N>,
    query: Listing<R>,
    present: (rows: readonly R[]) => readonly Item[] | Promise<readonly Item[]>,
  ): Promise<Page<Item>>
  /** A list that is returned as a whole, whatever `per_page` says; a page after the first one is empty. */
  whole<Item>(items: readonly Item[]): Page<Item>
}

/** The context of work before the transaction: the request, without access to data. */
export interface Preparation<B> extends Pick<Context, 'ports' | 'limits'> {
  /** The body, parsed by the operation's schema. */
  readonly body: Output<B>
  /** A name for a new file, which can't be guessed. */
  newName(): string
  /**
   * Counts bytes that are held until the request has its response.
   * @throws ApiError 503 when too much is in flight
   */
  addBytes(bytes: number): void
}

/** A handler's argument: the request's parts, typed by its declaration, and the context. */
export interface Call<Path extends string, Q, B, E extends EventName, Prepared> extends Emitter<E>, Pager {
  /** The ids of the path by name, such as `{ id: '1001' }`. */
  readonly params: { readonly [Name in ParamNames<Path>]: Id }
  /** The query, parsed by the operation's schema. */
  readonly query: QueryOf<Q>
  /** The body, parsed by the operation's schema; `undefined` if it takes none. */
  readonly body: Output<B>
  /** The result of `prepare`. */
  readonly prepared: Prepared
}

/** A call with its types erased. */
export interface AnyCall extends Context {
  /** The ids of the path by name, such as `{ id: '1001' }`. */
  readonly params: Readonly<Record<string, string>>
  /** The query, parsed by the operation's schema. */
  readonly query: unknown
  /** The body, parsed by the operation's schema; `undefined` if it takes none. */
  readonly body: unknown
  /** The result of `prepare`; `undefined` without one. */
  readonly prepared: unknown
  /** Publishes an event in this transaction; its payload must fit the event's schema. */
  emit(name: EventName, payload: unknown, change?: Change): void
  /** One page of a table, as the request's `page`, `per_page` and `after` say. See `Pager`. */
  page<R extends Row, N>(
    table: Table<R, N>,
    query?: Listing<R>,
    present?: (rows: readonly R[]) => readonly unknown[] | Promise<readonly unknown[]>,
  ): Promise<Page<unknown>>
  /** A list that is returned as a whole, whatever `per_page` says; a page after the first one is empty. */
  whole(items: readonly unknown[]): Page<unknown>
}
