/**
 * A host's own functions under a table: existing members stay in the host's tables.
 *
 * Each function is given the transaction's `native` handle, so that a host on the same database joins the transaction. Rows go
 * in and out as `tables/` declares them; how they are kept is the host's business.
 */
import { suggestion } from '../base/suggest.ts'
import { ApiError, accessError } from '../errors.ts'
import type { CountQuery, Increment, LockStrength, Patch, Query, Storage, Tx, Where } from './contract.ts'
import { asksForMore, evaluated } from './evaluated.ts'
import type { Id, Row, Table } from './table.ts'
import type { CommentRow, PostRow, ReactionRow } from './tables/content.ts'
import type { RsvpRow } from './tables/events.ts'
import type { CollectionRow, MemberRow, SpaceRow } from './tables/members.ts'
import type { InviteRow, PlanMembershipRow, PlanRow, PurchaseRow, SubscriptionRow } from './tables/plans.ts'
import { tables } from './tables.ts'

/** The functions that a host may provide for one table; `Tx` describes each. A missing function is a 403. */
export interface HostTable<R extends Row, Native = unknown> {
  /** The row with this id, or `undefined`. */
  get?(native: Native, id: Id): Promise<R | undefined>
  /** The rows that match, in order. */
  find?(native: Native, query: Query<R>): Promise<R[]>
  /** How many rows match. */
  count?(native: Native, where: Where<R>): Promise<number>
  /** @throws UniqueViolation naming the columns of the key that is taken */
  insert?(native: Native, row: R): Promise<R>
  /** Changes a row and returns it; `undefined` if there is none or `guard` does not hold. */
  update?(native: Native, id: Id, patch: Patch<R>, guard?: Where<R>): Promise<R | undefined>
  /** Removes a row and returns it; `undefined` if there was none or `guard` does not hold. */
  remove?(native: Native, id: Id, guard?: Where<R>): Promise<R | undefined>
  /**
   * `SELECT … FOR SHARE` or `FOR UPDATE`. Without it, `get` is called. That is right if transactions that write run one at a
   * time, as on SQLite, or if rows are never changed nor removed.
   */
  lock?(native: Native, id: Id, strength: LockStrength): Promise<R | undefined>
}

/** The rows of the tables that a host may have already. */
export interface HostRows {
  /** People of the network, also those who left, for authors of old posts. */
  members: Omit<MemberRow, 'name_key' | 'search_key'>
  /** The parts of the network in which members meet. */
  spaces: SpaceRow
  /** Groups of spaces, in the order in which members see them. */
  collections: CollectionRow
  /** Posts and articles; polls, questions and events are posts, too. */
  posts: Omit<PostRow, 'search_key'>
  /** Comments and the replies to them. */
  comments: CommentRow
  /** One emoji of a member on a post or comment. */
  reactions: ReactionRow
  /** One answer of a member to an event, or to one occurrence of a series. */
  rsvps: RsvpRow
  /** What the network offers for money or for free. */
  plans: PlanRow
  /** Who has which plan, and by what. */
  plan_memberships: PlanMembershipRow
  /** Repeated payments for plans. */
  subscriptions: SubscriptionRow
  /** Single payments for plans. */
  purchases: PurchaseRow
  /** Invites to the network and to its plans, accepted or not. */
  invites: InviteRow
}

/** A host's functions by the name of their table. */
export type HostTables<Native = unknown> = { readonly [Name in keyof HostRows]?: HostTable<HostRows[Name], Native> }

type AnyHostTable = HostTable<Row, unknown>

/**
 * A storage that reads some tables from the host, and all others from `storage`.
 *
 * @param storage where everything else is; what its transactions have as `native` is what the host's functions are given
 * @param hostTables the host's functions
 * @returns a storage whose transactions throw ApiError 403 for omitted functions, and the errors of the host's functions
 * @throws TypeError that names tables and functions which do not exist, and for what is no storage
 */
export function withTables<Native = unknown>(storage: Storage, hostTables: HostTables<Native>): Storage {
  requireStorage(storage)
  if (typeof hostTables !== 'object' || hostTables === null)
    throw new TypeError('withTables: the second argument must be the functions of your tables, as in { members: { get, find } }')
  // Each function is called only with rows of its table.
  const byName = new Map(Object.entries(hostTables) as [string, AnyHostTable][])
  const unknown = [...byName.keys()].filter((name) => !tables.some((table) => table.name === name))
  if (unknown.length > 0) throw new TypeError(`withTables: there are no tables ${unknown.join(', ')} that a host could provide`)
  const problems = [...byName].flatMap(([name, functions]) => problemsOf(name, functions))
  if (problems.length > 0) throw new TypeError(`withTables: ${problems.join('; ')}`)
  for (const [name, host] of byName) byName.set(name, bound(host))
  const unwritable = new Map([...byName].map(([name, host]) => [name, withoutWrites(host)]))

  return {
    transaction: (work, options) =>
      // What the host's functions write outside of the transaction, no rollback undoes.
      storage.transaction(
        (tx) => work(wrapped(tx, options?.isPreview && tx.native === undefined ? unwritable : byName)),
        options,
      ),
    close: () => storage.close(),
    // Keys are looked up first: a host's functions can have side effects that a rollback can't undo. And they may wait for anything: no `add`.
    fast: { version: () => Number.NaN },
    ...(storage.using ? { using: (native: unknown) => withTables(joinedTo(storage, native), hostTables) } : {}),
  }
}

/** The body of the refusal of a change that nothing takes back. It has no preview, and may be made all the same. */
export const noPreview = {
  error: 'This changes records in tables of the host application, which are not rolled back: it has no preview',
}

const refusePreview = (): Promise<never> => Promise.reject(new ApiError(403, noPreview))

/** The same functions; those that write refuse it. One that is missing is still refused as such. */
const withoutWrites = (host: AnyHostTable): AnyHostTable => ({
  ...host,
  ...(host.insert ? { insert: refusePreview } : {}),
  ...(host.update ? { update: refusePreview } : {}),
  ...(host.remove ? { remove: refusePreview } : {}),
})

const functionNames = ['get', 'find', 'count', 'insert', 'update', 'remove', 'lock']

function requireStorage(storage: unknown): void {
  if (storage instanceof Promise) throw new TypeError('withTables: the first argument is a Promise: await the storage')
  const { transaction } = (storage ?? {}) as { readonly transaction?: unknown }
  if (typeof transaction !== 'function') throw new TypeError('withTables: the first argument must be a storage')
}

/** A misspelt function would be refused only when a request needs it. */
function problemsOf(table: string, functions: unknown): string[] {
  if (typeof functions !== 'object' || functions === null) return [`\`${table}\` must be an object of functions`]
  return Object.entries(functions).flatMap(([name, given]) => {
    const isFunction = typeof given === 'function'
    if (functionNames.includes(name)) return isFunction || given === undefined ? [] : [`\`${table}.${name}\` must be a function`]
    // Other fields may be the object's own.
    return isFunction ? [`function \`${table}.${name}\` does not exist; ${suggestion(name, functionNames)}`] : []
  })
}

/** The functions of an object, which they may call `this`. */
const bound = (host: AnyHostTable): AnyHostTable =>
  Object.fromEntries(functionNames.map((name) => [name, host[name as keyof AnyHostTable]?.bind(host)]))

/** @throws TypeError when the storage has no transactions that a host could open */
export function joinedTo(storage: Storage, native: unknown): Storage {
  if (!storage.using)
    throw new TypeError('this storage has no `using`: only SQLite and PostgreSQL share a transaction with the host')
  return storage.using(native)
}

function wrapped(tx: Tx, byName: ReadonlyMap<string, AnyHostTable>): Tx {
  const { native } = tx
  const own = (table: Pick<Table, 'name'>) => byName.get(table.name)
  const isEvaluated = (table: Table, query: Query<Row>): boolean =>
    (own(table) !== undefined && asksForMore(query, table.columns)) || (query.within ?? []).some((one) => own(one.table))
  // An async function, so that a refusal is a rejection as everywhere else.
  const wrapper = {
    native,
    append: (records: Parameters<Tx['append']>[0]) => tx.append(records),

    async get(table: Table, id: Id) {
      const host = own(table)
      return host ? required(table, host.get)(native, id) : tx.get(table, id)
    },
    async find(table: Table, query: Query<Row>): Promise<Row[]> {
      const host = own(table)
      if (isEvaluated(table, query)) return evaluated((of, given) => wrapper.find(of as Table, given), table, query)
      return host ? required(table, host.find)(native, query) : tx.find(table, query)
    },
    async count(table: Table, query: CountQuery<Row>): Promise<number> {
      const host = own(table)
      if (isEvaluated(table, query)) return (await wrapper.find(table, query)).length
      if (!host) return tx.count(table, query)
      return Math.min(await required(table, host.count)(native, query.where ?? {}), query.limit ?? Number.POSITIVE_INFINITY)
    },
    async insert(table: Table, row: Row) {
      const host = own(table)
      return host ? required(table, host.insert)(native, withoutDerived(table, row)) : tx.insert(table, row)
    },
    async update(table: Table, id: Id, patch: Patch<Row>, guard?: Where<Row>) {
      const host = own(table)
      return host
        ? required(table, host.update)(native, id, withoutDerived(table, patch), guard)
        : tx.update(table, id, patch, guard)
    },
    async increment(table: Table, id: Id, by: Increment<Row>, guard?: Where<Row>) {
      const host = own(table)
      if (!host) return tx.increment(table, id, by, guard)
      const update = required(table, host.update)
      const row = await required(table, host.lock ?? host.get)(native, id, 'update')
      return row && update(native, id, incremented(row, by), guard)
    },
    async remove(table: Table, id: Id, guard?: Where<Row>) {
      const host = own(table)
      return host ? required(table, host.remove)(native, id, guard) : tx.remove(table, id, guard)
    },
    async lock(table: Table, id: Id, strength: LockStrength) {
      const host = own(table)
      return host ? required(table, host.lock ?? host.get)(native, id, strength) : tx.lock(table, id, strength)
    },
  }
  return wrapper as unknown as Tx
}

/** Without what follows from other columns: a host need not keep it. */
const withoutDerived = <T extends object>({ columns }: Pick<Table, 'columns'>, row: T): T =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !columns[name]?.derived)) as T

/** The sums as a patch: no other transaction changes a row that is locked. */
const incremented = (row: Row, by: Increment<Row>): Patch<Row> =>
  Object.fromEntries(Object.entries<number>(by).map(([name, added]) => [name, Number(row[name as keyof Row]) + added]))

/** @throws ApiError 403 when the host left it out */
function required<F>({ name }: Pick<Table, 'name'>, provided: F | undefined): F {
  if (provided) return provided
  const records = name.replaceAll('_', ' ')
  const subject = `${records.charAt(0).toUpperCase()}${records.slice(1)}`
  throw accessError(403, 'forbidden', `${subject} are managed by the host application`)
}
