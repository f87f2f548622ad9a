/**
 * Storages that are each wrong in one way. The suite has to catch every one of them, at the case that is about it.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import { type Patch, type Query, type Storage, StorageError, type Tx, type Where } from '../../../lib/storage/contract.ts'
import { shownValue } from '../../../lib/storage/json.ts'
import type { Row, Table } from '../../../lib/storage/table.ts'
import type { StorageUnderTest } from '../../../lib/testing/index.ts'
import { recordingOutbox } from '../../adapters/storage/recording-outbox.ts'

export interface FaultyAdapter {
  readonly defect: string
  /** The titles of cases that have to fail. */
  readonly caughtBy: readonly string[]
  open(): StorageUnderTest
}

/** A right storage, whose transactions or storage functions are replaced by wrong ones. */
function faulty(wrong: { tx?: (tx: Tx) => Partial<Tx>; storage?: (storage: Storage) => Partial<Storage> }): StorageUnderTest {
  const outbox = recordingOutbox()
  const rightAdapter = memoryStorage({ outbox })
  const half: Storage = {
    close: () => rightAdapter.close(),
    transaction: (work, options) => rightAdapter.transaction((tx) => work({ ...tx, ...wrong.tx?.(tx) }), options),
  }
  return { storage: { ...half, ...wrong.storage?.(half) }, records: outbox.records }
}

/** One that does as it should, to show that the wrapping alone fails nothing. */
export const rightAdapter = () => faulty({})

const withQuery = (change: <R extends Row>(query: Query<R>) => Query<R>) => () =>
  faulty({ tx: (tx) => ({ find: (table, query) => tx.find(table, change(query)) }) })

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0

const withoutEmptyLists = <R>(where: Where<R> = {}): Where<R> =>
  Object.fromEntries(Object.entries(where).filter(([, value]) => !isEmptyList(value))) as Where<R>

/** Same name, same rows, but nothing has to be unique. */
const withoutKeys = <R extends Row, N>(table: Table<R, N>): Table<R, N> => ({ ...table, name: `${table.name}_free`, unique: [] })

/** A `findJson` made of `find`, right but for what is done to each value. */
const writing = (change: (value: unknown) => unknown) =>
  faulty({
    tx: (tx) => ({
      async findJson(table, query, fields) {
        const rows: readonly Readonly<Record<string, unknown>>[] = (await tx.find(table, query)) as never
        const texts = rows.map((row) => {
          const values = fields.map(([name, source]) => [name, change(shownValue(source, row))] as const)
          return JSON.stringify(Object.fromEntries(values))
        })
        const last = String(rows.at(-1)?.[query.order?.by ?? 'id'])
        return { json: texts.join(), count: rows.length, last, hasMore: false }
      },
    }),
  })

export const faultyAdapters: readonly FaultyAdapter[] = [
  {
    defect: 'the version stays as it is',
    caughtBy: ['version, where there is one, stands still between commits and changes with each of them'],
    open: () => faulty({ storage: () => ({ version: () => 1 }) }),
  },
  {
    defect: 'the version of a table stays as it is',
    caughtBy: ['version of a table, where there is one, changes with each commit that changes its rows'],
    open: () => faulty({ storage: () => ({ version: () => 1 }) }),
  },
  {
    defect: 'the version changes by itself',
    caughtBy: ['version, where there is one, stands still between commits and changes with each of them'],
    open: () => {
      let version = 0
      return faulty({ storage: () => ({ version: () => ++version }) })
    },
  },
  {
    defect: 'the JSON text has an empty text for null',
    caughtBy: ['findJson, where there is one, writes every column and source as JSON has it'],
    open: () => writing((value) => value ?? ''),
  },
  {
    defect: 'the JSON text shows every field of the records in a list',
    caughtBy: ['findJson, where there is one, shows the named fields of a list of records and nothing else of them'],
    open: () => writing((value) => value),
  },
  {
    defect: 'the JSON text is of the rows in another order',
    caughtBy: [
      'findJson, where there is one, finds the rows that find finds, in its order, and says their last place and whether more follow',
    ],
    open: () =>
      faulty({
        tx: (tx) => ({
          async findJson(table, query) {
            const rows = (await tx.find(table, query)).toReversed()
            return { json: rows.map((row) => JSON.stringify(row)).join(), count: rows.length, last: null, hasMore: false }
          },
        }),
      }),
  },
  {
    defect: 'count is always -1',
    caughtBy: ['count is how many rows find finds'],
    open: () => faulty({ tx: () => ({ count: async () => -1 }) }),
  },
  {
    defect: 'the guard of an update is ignored',
    caughtBy: ['an update whose guard no longer holds gives undefined and changes nothing'],
    open: () => faulty({ tx: (tx) => ({ update: (table, id, patch) => tx.update(table, id, patch) }) }),
  },
  {
    defect: 'the guard is looked at first and the update comes later',
    caughtBy: ['50 guarded decrements at once never go below zero'],
    open: () => faulty({ storage: (storage) => ({ transaction: (work) => work(looksFirst(everyCallAlone(storage))) }) }),
  },
  {
    defect: 'the guard of a removal is ignored',
    caughtBy: ['a removal whose guard does not hold gives undefined and removes nothing'],
    open: () => faulty({ tx: (tx) => ({ remove: (table, id) => tx.remove(table, id) }) }),
  },
  {
    defect: 'the guard of an increment is ignored',
    caughtBy: ['an increment whose guard does not hold gives undefined and changes nothing'],
    open: () => faulty({ tx: (tx) => ({ increment: (table, id, by) => tx.increment(table, id, by) }) }),
  },
  {
    defect: 'an increment stores the number that is to be added',
    caughtBy: ['increment adds to the columns that are named and leaves the others', 'of 50 increments at once none is lost'],
    open: () =>
      faulty({ tx: (tx) => ({ increment: (table, id, by, guard) => tx.update(table, id, by as Patch<never>, guard) }) }),
  },
  {
    defect: 'an increment reads the row first and writes the sum later',
    caughtBy: ['of 50 increments at once none is lost'],
    open: () => faulty({ storage: (storage) => ({ transaction: (work) => work(addsLater(everyCallAlone(storage))) }) }),
  },
  {
    defect: 'a lock gives the row and locks nothing',
    caughtBy: [
      'a row that is locked is neither changed nor removed before the end',
      '50 changes at once that each depend on a locked row never go below zero',
    ],
    open: () => faulty({ storage: (storage) => ({ transaction: (work) => work(everyCallAlone(storage)) }) }),
  },
  {
    defect: 'a lock gives the row as it was when the transaction began',
    caughtBy: ['lock gives the row as it is in this transaction, and changes nothing'],
    open: () => faulty({ tx: remembersLocked }),
  },
  {
    defect: 'a lock takes the row away',
    caughtBy: ['lock gives the row as it is in this transaction, and changes nothing'],
    open: () => faulty({ tx: (tx) => ({ lock: (table, id) => tx.remove(table, id) }) }),
  },
  {
    defect: 'a transaction inside of another one waits for it',
    caughtBy: ['a transaction inside of another one is refused at once, and the outer one goes on'],
    open: () =>
      faulty({
        storage: (storage) => ({
          transaction: (work, options) => outsideOfAll(() => storage.transaction(work, options)),
        }),
      }),
  },
  {
    defect: 'what was begun in a transaction is refused after its end as well',
    caughtBy: ['what was begun in a transaction may begin another one after its end'],
    open: () => faulty({ storage: refusesForEver }),
  },
  {
    defect: 'every call is a transaction of its own',
    caughtBy: [
      'a transaction that throws leaves every row as it was',
      'a transaction that throws leaves no records',
      'the keys of a transaction that threw are free',
      '50 transactions at once happen in full or not at all, records included',
      'a reader never sees half of a transaction',
      'a reader never sees what a transaction undoes',
      'close waits for transactions that run',
    ],
    open: () => faulty({ storage: (storage) => ({ transaction: (work) => work(everyCallAlone(storage)) }) }),
  },
  {
    defect: 'an update writes null over the columns that the patch leaves out',
    caughtBy: ['update changes the columns of the patch and leaves the others'],
    open: () =>
      faulty({
        tx: (tx) => ({
          update: (table, id, patch, guard) => tx.update(table, id, { slug: null, folder: null, ...patch }, guard),
        }),
      }),
  },
  {
    defect: 'undefined in a patch clears the column',
    caughtBy: ['undefined in a patch leaves a column as it is, null is stored'],
    open: () =>
      faulty({
        tx: (tx) => ({
          update: (table, id, patch, guard) =>
            tx.update(
              table,
              id,
              Object.fromEntries(Object.entries(patch).map(([key, value]) => [key, value ?? null])) as typeof patch,
              guard,
            ),
        }),
      }),
  },
  {
    defect: 'a transaction that throws keeps its rows',
    caughtBy: ['a transaction that throws leaves every row as it was'],
    open: () => faulty({ storage: keepsRows }),
  },
  {
    defect: 'a transaction that throws keeps its records',
    caughtBy: ['a transaction that throws leaves no records'],
    open: appendsAtOnce,
  },
  {
    defect: 'records are dropped',
    caughtBy: ['committed records are in the outbox, unchanged and in the order of the calls'],
    open: () => faulty({ tx: () => ({ append: async () => {} }) }),
  },
  {
    defect: 'the records of one call are appended in reverse',
    caughtBy: ['committed records are in the outbox, unchanged and in the order of the calls'],
    open: () => faulty({ tx: (tx) => ({ append: (records) => tx.append(records.toReversed()) }) }),
  },
  {
    defect: 'ids sort as text',
    caughtBy: ['ids compare as numbers, not as text'],
    open: () =>
      faulty({
        tx: (tx) => ({
          find: async (table, query) => {
            const rows = await tx.find(table, query)
            return (query.order?.by ?? 'id') === 'id' ? rows.sort((a, b) => (a.id < b.id ? -1 : 1)) : rows
          },
        }),
      }),
  },
  {
    defect: 'text sorts as in a dictionary',
    caughtBy: ['text orders by code unit, not by language'],
    open: () =>
      faulty({
        tx: (tx) => ({
          find: async (table, query) => {
            const by = query.order?.by ?? 'id'
            const rows = await tx.find(table, query)
            return by === 'title' ? rows.sort((a, b) => String(a[by]).localeCompare(String(b[by]), 'en')) : rows
          },
        }),
      }),
  },
  {
    defect: 'rows with the same value follow each other upwards in both directions',
    caughtBy: ['rows with the same value follow each other by id in the same direction'],
    open: () =>
      faulty({
        tx: (tx) => ({
          find: async (table, query) => {
            const rows = await tx.find(table, query)
            const by = query.order?.by ?? 'id'
            if (query.order?.direction !== 'desc' || by === 'id') return rows
            return rows.sort((a, b) => (a[by] === b[by] ? Number(a.id) - Number(b.id) : 0))
          },
        }),
      }),
  },
  {
    defect: 'rows are shared with the caller and can be changed',
    caughtBy: ['a row that went in or came out cannot be used to change the store'],
    open: () => {
      const share = sharing()
      return faulty({
        tx: (tx) => ({
          get: async (table, id) => share(await tx.get(table, id)),
          find: async (table, query) => (await tx.find(table, query)).map(share),
        }),
      })
    },
  },
  {
    defect: 'unique keys are ignored',
    caughtBy: ['a taken unique key is a unique violation that names its columns, on insert and on update'],
    open: () =>
      faulty({
        tx: (tx) => ({
          get: (table, id) => tx.get(withoutKeys(table), id),
          find: (table, query) => tx.find(withoutKeys(table), query),
          count: (table, where) => tx.count(withoutKeys(table), where),
          insert: (table, row) => tx.insert(withoutKeys(table), row),
          update: (table, id, patch, guard) => tx.update(withoutKeys(table), id, patch, guard),
          increment: (table, id, by, guard) => tx.increment(withoutKeys(table), id, by, guard),
          remove: (table, id, guard) => tx.remove(withoutKeys(table), id, guard),
          lock: (table, id, strength) => tx.lock(withoutKeys(table), id, strength),
        }),
      }),
  },
  {
    defect: 'null counts as a value in a unique key',
    caughtBy: ['a null in a unique key never collides'],
    open: () =>
      faulty({
        tx: (tx) => ({
          insert: async (table, row) => {
            const taken =
              'slug' in row &&
              row.slug === null &&
              (await tx.find(table, {})).some((other) => 'slug' in other && other.slug === null)
            if (taken) throw new StorageError('unique', 'null is taken')
            return tx.insert(table, row)
          },
        }),
      }),
  },
  {
    defect: '`after` is ignored',
    caughtBy: ['after leaves out everything up to that value, whether a row has it or not'],
    open: withQuery(({ after: _, ...query }) => query),
  },
  {
    defect: '`after` takes the row itself in again',
    caughtBy: ['four pages one after another, each sought by its key, are one big find'],
    open: withQuery((query) =>
      typeof query.after === 'string' && query.order?.direction !== 'desc' && /^\d+$/.test(query.after)
        ? { ...query, after: String(Number(query.after) - 1) }
        : query,
    ),
  },
  {
    defect: 'an empty list filters nothing',
    caughtBy: ['an empty list matches no row'],
    open: () =>
      faulty({
        tx: (tx) => ({
          find: (table, query) => tx.find(table, { ...query, where: withoutEmptyLists(query.where) }),
          count: (table, where) => tx.count(table, withoutEmptyLists(where)),
        }),
      }),
  },
  {
    defect: 'the limit is applied before the offset',
    caughtBy: ['offset leaves rows out first, limit counts from there'],
    open: () =>
      faulty({
        tx: (tx) => ({
          find: async (table, { offset = 0, ...query }) => (await tx.find(table, query)).slice(offset),
        }),
      }),
  },
  {
    defect: 'half of a surrogate pair is stored as a replacement character',
    caughtBy: ['half of a surrogate pair or a zero character comes back unchanged or is refused, never stored as something else'],
    open: () => faulty({ tx: (tx) => ({ insert: (table, row) => tx.insert(table, wellFormed(row)) }) }),
  },
  {
    defect: 'what work throws is wrapped',
    caughtBy: ['what work returns or throws comes through unchanged'],
    open: () =>
      faulty({
        storage: (storage) => ({
          transaction: (work, options) =>
            storage.transaction(work, options).catch((cause: unknown) => {
              throw cause instanceof StorageError ? cause : new StorageError('unavailable', 'transaction failed', { cause })
            }),
        }),
      }),
  },
  {
    defect: 'it works on after it was closed',
    caughtBy: ['close may be called again, and nothing works afterwards'],
    open: () => faulty({ storage: () => ({ close: async () => {} }) }),
  },
  {
    defect: 'it does not wait for running transactions when it closes',
    caughtBy: ['close waits for transactions that run'],
    open: () => faulty({ storage: (storage) => ({ close: () => Promise.race([storage.close(), Promise.resolve()]) }) }),
  },
  {
    defect: 'what was stored is gone after opening again',
    caughtBy: ['what was committed is there after opening again, and keys hold'],
    open: () => ({ ...faulty({}), reopen: async () => memoryStorage() }),
  },
]

// ---- The longer defects -------------------------------------------------------------------------------------

/** A door to data that commits every call at once. */
function everyCallAlone(storage: Storage): Tx {
  return {
    get: (table, id) => storage.transaction((tx) => tx.get(table, id)),
    find: (table, query) => storage.transaction((tx) => tx.find(table, query)),
    count: (table, where) => storage.transaction((tx) => tx.count(table, where)),
    insert: (table, row) => storage.transaction((tx) => tx.insert(table, row)),
    update: (table, id, patch, guard) => storage.transaction((tx) => tx.update(table, id, patch, guard)),
    increment: (table, id, by, guard) => storage.transaction((tx) => tx.increment(table, id, by, guard)),
    remove: (table, id, guard) => storage.transaction((tx) => tx.remove(table, id, guard)),
    lock: (table, id, strength) => storage.transaction((tx) => tx.lock(table, id, strength)),
    append: (records) => storage.transaction((tx) => tx.append(records)),
  }
}

/** Compares the guard with a row that was read before, as code without compare-and-set does. */
function looksFirst(tx: Tx): Tx {
  return {
    ...tx,
    async update(table, id, patch, guard) {
      const [row] = await tx.find(table, { where: { ...guard, id } as Where<never> })
      return row && tx.update(table, id, patch)
    },
  }
}

function addsLater(tx: Tx): Tx {
  return {
    ...tx,
    async increment(table, id, by) {
      const row = await tx.get(table, id)
      const sums = Object.entries(by).map(([name, added]) => [name, Number(row?.[name as keyof typeof row]) + Number(added)])
      return tx.update(table, id, Object.fromEntries(sums))
    },
  }
}

function remembersLocked(tx: Tx): Partial<Tx> {
  const seen = new Map<string, unknown>()
  return {
    async lock(table, id, strength) {
      if (!seen.has(id)) seen.set(id, await tx.lock(table, id, strength))
      return seen.get(id) as never
    },
  }
}

/** Runs something in a context that no transaction is part of. */
const outsideOfAll = AsyncLocalStorage.snapshot()

function refusesForEver(storage: Storage): Partial<Storage> {
  const begun = new AsyncLocalStorage<true>()
  return {
    async transaction(work, options) {
      if (begun.getStore()) throw new TypeError('no transaction inside of another one')
      return storage.transaction((tx) => begun.run(true, () => work(tx)), options)
    },
  }
}

function keepsRows(storage: Storage): Partial<Storage> {
  return {
    async transaction(work, options) {
      const outcome = await storage.transaction(async (tx) => {
        const records: OutboxRecord[] = []
        const append = async (added: readonly OutboxRecord[]) => void records.push(...added)
        try {
          const value = await work({ ...tx, append })
          if (records.length > 0) await tx.append(records)
          return { value }
        } catch (thrown) {
          return { thrown }
        }
      }, options)
      if ('thrown' in outcome) throw outcome.thrown
      return outcome.value
    },
  }
}

function appendsAtOnce(): StorageUnderTest {
  const outbox = recordingOutbox()
  const storage = memoryStorage()
  const append = (records: readonly OutboxRecord[]) => outbox.append([records])
  return {
    storage: {
      close: () => storage.close(),
      transaction: (work, options) => storage.transaction((tx) => work({ ...tx, append }), options),
    },
    records: outbox.records,
  }
}

/** Gives one and the same changeable copy for a stored row, every time. */
function sharing() {
  const copies = new WeakMap<object, unknown>()
  return <R extends Row | undefined>(row: R): R => {
    if (row === undefined) return row
    if (!copies.has(row)) copies.set(row, structuredClone(row))
    return copies.get(row) as R
  }
}

function wellFormed<R extends Row>(row: R): R {
  const values = Object.entries(row).map(([key, value]) => [key, typeof value === 'string' ? value.toWellFormed() : value])
  return Object.fromEntries(values) as R
}
