/**
 * A transaction as a handler or a hook sees it: one network's. Every row that goes in carries the network, every row that comes out
 * matches it, and none leaves it. So no handler can forget it, and none can reach into another network. Rows that are added for
 * good, as those of the audit, it only reads: only the host's own functions add them, and only an erasure changes them.
 */
import { isStorableId } from '../base/ids.ts'
import type { OutboxRecord } from '../outbox/record.ts'
import { differs } from './changes.ts'
import type { Conditions, CountQuery, Increment, LockStrength, Patch, Query, Tx, Where } from './contract.ts'
import { derivedColumns, type Id, type Row, type Table } from './table.ts'

/** The same methods as `Tx`. `network_id` is filled in and checked, and inserts may omit columns with a default. */
export interface ScopedTx {
  /** The row of this network with this id, or `undefined`. */
  get<R extends Row, N>(table: Table<R, N>, id: Id): Promise<R | undefined>
  /** The rows of this network that match, in order. */
  find<R extends Row, N>(table: Table<R, N>, query: Query<R>): Promise<R[]>
  /** The first row that matches. */
  first<R extends Row, N>(table: Table<R, N>, where: Where<R>): Promise<R | undefined>
  /** How many rows of this network match, or `limit` if that is less. */
  count<R extends Row, N>(table: Table<R, N>, query: CountQuery<R>): Promise<number>
  /**
   * Stores a row and returns it. Columns with a default may be left out.
   * @throws TypeError for a table whose rows are added for good
   */
  insert<R extends Row, N>(table: Table<R, N>, row: NoInfer<N>): Promise<R>
  /**
   * Changes a row. A patch with `updated_at` that changes nothing else gives the row back as it is, `updated_at` and all.
   * @throws TypeError for a patch of the id or the network, and for a table whose rows are added for good
   */
  update<R extends Row, N>(table: Table<R, N>, id: Id, patch: Patch<R>, guard?: Where<R>): Promise<R | undefined>
  /** The same for a row to which something belongs that has changed: `updated_at` moves even if no other column does. */
  touch<R extends Row, N>(table: Table<R, N>, id: Id, patch: Patch<R>): Promise<R | undefined>
  /** Adds to columns of a row and returns it. Of concurrent increments none is lost. */
  increment<R extends Row, N>(table: Table<R, N>, id: Id, by: Increment<R>, guard?: Where<R>): Promise<R | undefined>
  /** Removes a row and returns it; `undefined` if there was none or `guard` does not hold. */
  remove<R extends Row, N>(table: Table<R, N>, id: Id, guard?: Where<R>): Promise<R | undefined>
  /** Locks a row until the transaction ends and returns its present state; `undefined` if it does not exist. */
  lock<R extends Row, N>(table: Table<R, N>, id: Id, strength: LockStrength): Promise<R | undefined>
  /** The network that it is bound to. */
  readonly network_id: Id
  /** The database handle of this transaction, so that a host's own tables can join; `undefined` without one. */
  readonly native: unknown
  /** How often this transaction has changed something so far. A lock is no change, nor is an update that changes nothing. */
  readonly changes: number
}

/** The transaction of the host's own functions. No handler and no hook is given one. Its `insert` adds to every table. */
export interface HostTx extends ScopedTx {
  /**
   * Changes a row that was added for good. Only for the erasure of a person: whatever else it says stays.
   * @throws TypeError for a table of other rows
   */
  redact<R extends Row, N>(table: Table<R, N>, id: Id, patch: Patch<R>): Promise<R | undefined>
  /**
   * Puts records into the outbox if and only if this transaction commits.
   * @throws TypeError for a record of another network
   */
  append(records: readonly OutboxRecord[]): Promise<void>
}

/**
 * Wraps a transaction for one network.
 * @param tx the storage's transaction
 * @param network_id the network that every row belongs to
 */
export function scoped(tx: Tx, network_id: Id): ScopedTx {
  return new NetworkTx(tx, network_id)
}

/** The same for the host's own functions. */
export function hostScoped(tx: Tx, network_id: Id): HostTx {
  return new HostNetworkTx(tx, network_id)
}

// A class, not an object of closures: one is made per request, and its methods are shared.
class NetworkTx implements ScopedTx {
  readonly #tx: Tx
  readonly #network_id: Id
  #changes = 0

  constructor(tx: Tx, network_id: Id) {
    this.#tx = tx
    this.#network_id = network_id
  }

  // No field: a hook could set it. The methods read the private one, which can't be replaced.
  get network_id(): Id {
    return this.#network_id
  }

  get native(): unknown {
    return this.#tx.native
  }

  get changes(): number {
    return this.#changes
  }

  async get<R extends Row, N>(table: Table<R, N>, id: Id): Promise<R | undefined> {
    // Any uint64 may be requested; what no record can have is not worth a look.
    if (!isStorableId(id)) return undefined
    const row = await this.#tx.get(table, id)
    return row?.network_id === this.#network_id ? row : undefined
  }

  find<R extends Row, N>(table: Table<R, N>, query: Query<R>): Promise<R[]> {
    return this.#tx.find(table, this.#conditions(table, query))
  }

  async first<R extends Row, N>(table: Table<R, N>, where: Where<R>): Promise<R | undefined> {
    return (await this.find(table, { where, limit: 1 }))[0]
  }

  count<R extends Row, N>(table: Table<R, N>, query: CountQuery<R>): Promise<number> {
    return this.#tx.count(table, this.#conditions(table, query))
  }

  async insert<R extends Row, N>(table: Table<R, N>, row: NoInfer<N>): Promise<R> {
    refuseAppendOnly(table)
    this.#changes += 1
    return this.#tx.insert(table, wholeRow(table, row, this.#network_id))
  }

  async update<R extends Row, N>(table: Table<R, N>, id: Id, patch: Patch<R>, guard?: Where<R>): Promise<R | undefined> {
    refuseAppendOnly(table)
    refuseMoved(patch)
    if (!isStorableId(id)) return undefined
    const still = this.#where(guard)
    if (patch.updated_at !== undefined) {
      const row = await this.get(table, id)
      if (row && !differs(row, patch)) {
        // Locked like any updated row, so that it is the same when the transaction ends.
        const locked = await this.lock(table, id, 'update')
        if (!locked || !differs(locked, patch)) return guard ? this.first(table, { ...guard, id }) : locked
      }
    }
    const changed = await this.#tx.update(table, id, await withDerived(this, table, id, patch), still)
    if (changed) this.#changes += 1
    return changed
  }

  async touch<R extends Row, N>(table: Table<R, N>, id: Id, patch: Patch<R>): Promise<R | undefined> {
    refuseAppendOnly(table)
    refuseMoved(patch)
    this.#changes += 1
    return this.#tx.update(table, id, await withDerived(this, table, id, patch), this.#where())
  }

  async increment<R extends Row, N>(table: Table<R, N>, id: Id, by: Increment<R>, guard?: Where<R>): Promise<R | undefined> {
    refuseAppendOnly(table)
    refuseMoved(by)
    if (!isStorableId(id)) return undefined
    const changed = await this.#tx.increment(table, id, by, this.#where(guard))
    if (changed) this.#changes += 1
    return changed
  }

  async remove<R extends Row, N>(table: Table<R, N>, id: Id, guard?: Where<R>): Promise<R | undefined> {
    refuseAppendOnly(table)
    if (!isStorableId(id)) return undefined
    const removed = await this.#tx.remove(table, id, this.#where(guard))
    if (removed) this.#changes += 1
    return removed
  }

  async lock<R extends Row, N>(table: Table<R, N>, id: Id, strength: LockStrength): Promise<R | undefined> {
    if (!isStorableId(id)) return undefined
    const row = await this.#tx.lock(table, id, strength)
    return row?.network_id === this.#network_id ? row : undefined
  }

  #where<R extends Row>(where?: Where<R>): Where<R> {
    return { ...where, network_id: this.#network_id } as Where<R>
  }

  #conditions<R extends Row, N, Q extends Conditions<R>>(table: Table<R, N>, query: Q): Q {
    const where = this.#where(storable(table, query.where))
    if (!query.within) return { ...query, where }
    const within = query.within.map((one) => ({ ...one, where: this.#where(storable(one.table, one.where)) }))
    return { ...query, where, within }
  }
}

class HostNetworkTx extends NetworkTx implements HostTx {
  readonly #tx: Tx

  constructor(tx: Tx, network_id: Id) {
    super(tx, network_id)
    this.#tx = tx
  }

  override async insert<R extends Row, N>(table: Table<R, N>, row: NoInfer<N>): Promise<R> {
    return table.appendOnly ? this.#tx.insert(table, wholeRow(table, row, this.network_id)) : super.insert(table, row)
  }

  async redact<R extends Row, N>(table: Table<R, N>, id: Id, patch: Patch<R>): Promise<R | undefined> {
    if (!table.appendOnly) throw new TypeError(`rows of ${table.name} are changed by update`)
    refuseMoved(patch)
    return this.#tx.update(table, id, patch, { network_id: this.network_id } as Where<R>)
  }

  async append(records: readonly OutboxRecord[]): Promise<void> {
    const foreign = records.find(({ network_id }) => network_id !== this.network_id)
    if (foreign) throw new TypeError(`network ${this.network_id} can't append a record of network ${foreign.network_id}`)
    return this.#tx.append(records)
  }
}

/** The row with the network and the defaults of its table. */
function wholeRow<R extends Row, N>(table: Table<R, N>, row: N, network_id: Id): R {
  const given = row as Readonly<Record<string, unknown>>
  const whole: Record<string, unknown> = {}
  for (const name in table.columns) {
    const value = given[name]
    whole[name] = name === 'network_id' ? network_id : value === undefined ? table.columns[name]?.default : value
  }
  return { ...whole, ...derivedColumns(table, whole) } as unknown as R
}

/** The patch with the columns that follow from those in it. The row is locked: two that change one part each end in one. */
async function withDerived<R extends Row, N>(tx: ScopedTx, table: Table<R, N>, id: Id, patch: Patch<R>): Promise<Patch<R>> {
  const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
  if (!Object.values(table.columns).some(({ derived }) => derived?.from.some((name) => name in given))) return patch
  const row = await tx.lock(table, id, 'update')
  return row ? ({ ...patch, ...derivedColumns(table, { ...row, ...given }) } as Patch<R>) : patch
}

/** @throws TypeError for a change of what a row keeps. The compiler refuses it too, but a cast or a spread row passes it. */
function refuseMoved(patch: object): void {
  if (('id' in patch && patch.id !== undefined) || ('network_id' in patch && patch.network_id !== undefined))
    throw new TypeError('a row keeps its id and its network_id')
}

/** @throws TypeError for a table whose rows stay as they are */
function refuseAppendOnly({ name, appendOnly }: Pick<Table, 'name' | 'appendOnly'>): void {
  if (appendOnly) throw new TypeError(`rows of ${name} are added and never changed`)
}

/** More digits than any stored id has. A request may name such an id, and a database column could not even compare it. */
const isTooLong = (value: unknown): boolean => typeof value === 'string' && value.length > 16

/** The same condition; an id that no row can have matches none. */
function storable<W extends object>(table: Pick<Table, 'columns'>, where: W | undefined): W | undefined {
  const isTooWide = (name: string, value: unknown): boolean =>
    table.columns[name]?.type === 'id' && (Array.isArray(value) ? value.some(isTooLong) : isTooLong(value))
  const all = (where ?? {}) as Readonly<Record<string, unknown>>
  let narrowed: Record<string, unknown> | undefined
  for (const name in all)
    if (isTooWide(name, all[name])) {
      narrowed ??= { ...all }
      narrowed[name] = [all[name]].flat().filter((value) => !isTooLong(value))
    }
  return narrowed ? (narrowed as W) : where
}
