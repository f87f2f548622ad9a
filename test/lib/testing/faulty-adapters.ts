/**
 * Storages that are each wrong in one way. The suite has to catch every one of them, at the case that is about it.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import {
  Conflict,
  type LockStrength,
  type Patch,
  type Query,
  type Range,
  type Storage,
  StorageError,
  type Tx,
  UniqueViolation,
  type Where,
} from '../../../lib/storage/contract.ts'
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

const withEnds = <R>(ranges: NonNullable<Query<R>['ranges']>): NonNullable<Query<R>['ranges']> =>
  Object.fromEntries(
    Object.entries<Range | undefined>(ranges).map(([name, range]) => [
      name,
      typeof range?.before === 'number' ? { ...range, before: range.before + 1 } : range,
    ]),
  ) as NonNullable<Query<R>['ranges']>

/** Same name, same rows, but nothing has to be unique. */
const withoutKeys = <R extends Row, N>(table: Table<R, N>): Table<R, N> => ({ ...table, name: `${table.name}_free`, unique: [] })

const alikeTexts =
  'texts that differ only in case, accents, form or blanks at the end are different, in conditions, keys and guards'
const longestKeys = 'a unique key may be as long as the contract has it, and its last character counts'
const highestNumbers = 'the highest ids and whole numbers are exact: in rows, conditions, references, guards and order'

export const faultyAdapters: readonly FaultyAdapter[] = [
  {
    defect: 'the version stays as it is',
    caughtBy: ['version, where there is one, stands still between commits and changes with each of them'],
    open: () => faulty({ storage: () => ({ fast: { version: () => 1 } }) }),
  },
  {
    defect: 'the version of a table stays as it is',
    caughtBy: ['version of a table, where there is one, changes with each commit that changes its rows'],
    open: () => faulty({ storage: () => ({ fast: { version: () => 1 } }) }),
  },
  {
    defect: 'the version changes by itself',
    caughtBy: ['version, where there is one, stands still between commits and changes with each of them'],
    open: () => {
      let version = 0
      return faulty({ storage: () => ({ fast: { version: () => ++version } }) })
    },
  },
  {
    defect: 'work that fails runs again over what it has added',
    caughtBy: ['of concurrent work that adds rows each happens once, whatever it does'],
    open: () =>
      faulty({
        storage: (storage) => ({
          transaction: (work, options) => storage.transaction((tx) => work(tx).catch(() => work(tx)), options),
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
    caughtBy: ['50 concurrent guarded decrements never go below zero'],
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
    caughtBy: ['increment adds to the columns that are named and leaves the others', 'of 50 concurrent increments none is lost'],
    open: () =>
      faulty({ tx: (tx) => ({ increment: (table, id, by, guard) => tx.update(table, id, by as Patch<never>, guard) }) }),
  },
  {
    defect: 'an increment reads the row first and writes the sum later',
    caughtBy: ['of 50 concurrent increments none is lost'],
    open: () => faulty({ storage: (storage) => ({ transaction: (work) => work(addsLater(everyCallAlone(storage))) }) }),
  },
  {
    defect: 'a lock gives the row and locks nothing',
    caughtBy: [
      'a row that is locked is neither changed nor removed before the end',
      '50 concurrent changes that depend on a locked row never go below zero',
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
    caughtBy: ['a transaction inside another is refused immediately, and the outer one goes on'],
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
      '50 concurrent transactions happen in full or not at all, records included',
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
          count: (table, query) => tx.count(withoutKeys(table), query),
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
  ...(
    [
      ['case', (text) => text.toLowerCase()],
      ['accents', (text) => text.normalize('NFD').replace(/\p{Mn}/gu, '')],
      ['the form of an accent', (text) => text.normalize('NFC')],
      ['blanks at the end', (text) => text.replace(/ +$/, '')],
    ] satisfies [string, Same][]
  ).flatMap(([difference, same]) => [
    {
      defect: `conditions ignore ${difference}`,
      caughtBy: [alikeTexts],
      open: () => faulty({ tx: (tx) => finding(tx, (wanted, value) => isAlike(same, wanted, value)) }),
    },
    {
      defect: `guards ignore ${difference}`,
      caughtBy: [alikeTexts],
      open: () => faulty({ tx: (tx) => guarding(tx, (wanted, value) => isAlike(same, wanted, value)) }),
    },
    {
      defect: `unique keys ignore ${difference}`,
      caughtBy: [alikeTexts],
      open: () => faulty({ tx: (tx) => ({ insert: insertUnless(tx, same) }) }),
    },
  ]),
  {
    defect: 'a text of a unique key may have 255 characters',
    caughtBy: [longestKeys],
    open: () =>
      faulty({
        tx: (tx) => ({
          insert: async (table, row) => {
            if ('slug' in row && String(row.slug).length > 255) throw new RangeError('the text is too long')
            return tx.insert(table, row)
          },
        }),
      }),
  },
  {
    defect: 'a unique key compares the first 255 characters',
    caughtBy: [longestKeys],
    open: () => faulty({ tx: (tx) => ({ insert: insertUnless(tx, (text) => text.slice(0, 255)) }) }),
  },
  {
    defect: 'conditions compare the first 255 characters',
    caughtBy: [longestKeys],
    open: () => faulty({ tx: (tx) => finding(tx, (wanted, value) => isAlike((text) => text.slice(0, 255), wanted, value)) }),
  },
  {
    defect: 'numbers and ids in conditions are floating-point numbers of 32 bits',
    caughtBy: [highestNumbers],
    open: () => faulty({ tx: (tx) => finding(tx, isNear) }),
  },
  {
    defect: 'numbers and ids in guards are floating-point numbers of 32 bits',
    caughtBy: [highestNumbers],
    open: () => faulty({ tx: (tx) => guarding(tx, isNear) }),
  },
  {
    defect: '`after` is a floating-point number of 32 bits',
    caughtBy: [highestNumbers],
    open: withQuery((query) =>
      Number(query.after) > 2 ** 32 ? { ...query, after: String(Math.fround(Number(query.after))) } : query,
    ),
  },
  {
    defect: 'null in a condition is equal to nothing, as `=` of SQL has it',
    caughtBy: ['null is found by null alone, in columns of every type that have it'],
    open: () => faulty({ tx: (tx) => finding(tx, (wanted, value) => wanted !== null && wanted === value) }),
  },
  {
    defect: 'null in a guard is equal to every value',
    caughtBy: ['null is found by null alone, in columns of every type that have it'],
    open: () => faulty({ tx: (tx) => guarding(tx, (wanted, value) => wanted === null || wanted === value) }),
  },
  {
    defect: 'null comes after every value',
    caughtBy: ['null comes before every value'],
    open: () =>
      faulty({
        tx: (tx) => ({
          find: async (table, query) => {
            const { by, direction } = query.order ?? { by: 'id', direction: 'asc' }
            const isLast = (row: object) => (by in row && row[by as never] === null) === (direction === 'asc')
            return (await tx.find(table, query)).sort((a, b) => Number(isLast(a)) - Number(isLast(b)))
          },
        }),
      }),
  },
  {
    defect: 'an update that changes nothing gives undefined, as changed rows of MySQL would',
    caughtBy: ['an update to the values that the row already has gives the row, and so does an update of nothing'],
    open: () =>
      faulty({
        tx: (tx) => ({
          update: async (table, id, patch, guard) => {
            const before = await tx.get(table, id)
            const after = await tx.update(table, id, patch, guard)
            return JSON.stringify(before) === JSON.stringify(after) ? undefined : after
          },
        }),
      }),
  },
  {
    defect: 'an update of nothing gives undefined',
    caughtBy: ['an update to the values that the row already has gives the row, and so does an update of nothing'],
    open: () =>
      faulty({
        tx: (tx) => ({
          update: async (table, id, patch, guard) => (isEmptyPatch(patch) ? undefined : tx.update(table, id, patch, guard)),
        }),
      }),
  },
  {
    defect: 'an increment by zero or by nothing gives undefined',
    caughtBy: ['an increment by zero or by nothing gives the row'],
    open: () =>
      faulty({
        tx: (tx) => ({
          increment: async (table, id, by, guard) =>
            Object.values(by).some((added) => added !== 0) ? tx.increment(table, id, by, guard) : undefined,
        }),
      }),
  },
  {
    defect: 'an error of work with the code of a database is a conflict',
    caughtBy: ['an error of work comes through unchanged, also with the code of a database or of a socket, and undoes the work'],
    open: () => faulty({ storage: translatesErrors }),
  },
  {
    defect: 'a read-only transaction sees what is committed between its reads',
    caughtBy: ['a read-only transaction sees one state, whatever is committed in between'],
    open: () =>
      faulty({
        storage: (storage) => ({
          transaction: (work, options) =>
            options?.readOnly ? work(everyCallAlone(storage)) : storage.transaction(work, options),
        }),
      }),
  },
  {
    defect: 'share is refused beside share',
    caughtBy: ['two transactions may hold share on one row at the same time, where they run at the same time at all'],
    open: () => faulty({ storage: (storage) => lockingRows(storage, (held) => held === undefined) }),
  },
  {
    defect: 'share is granted beside update',
    caughtBy: ['a lock that excludes another one is the only one until its transaction ends'],
    open: () =>
      faulty({ storage: (storage) => lockingRows(storage, (held, wanted) => held === undefined || wanted === 'share') }),
  },
  {
    defect: 'update is granted beside share',
    caughtBy: ['a lock that excludes another one is the only one until its transaction ends'],
    open: () => faulty({ storage: (storage) => lockingRows(storage, (held) => held !== 'update') }),
  },
  {
    defect: 'statements after a conflict are committed alone',
    caughtBy: ['of two transactions that wait for each other none commits a part, even if its work catches the error'],
    open: () => faulty({ storage: (storage) => lockingRows(storage, besideShare) }),
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
          count: (table, query) => tx.count(table, { ...query, where: withoutEmptyLists(query.where) }),
        }),
      }),
  },
  {
    defect: 'a range has its end, too',
    caughtBy: ['a range begins with its first value, and ends before its second'],
    open: withQuery(({ ranges, ...query }) => ({ ...query, ...(ranges ? { ranges: withEnds(ranges) } : {}) })),
  },
  {
    defect: 'texts are sought without regard to case',
    caughtBy: ['every text must occur in its column, by code unit'],
    open: withQuery(({ contains, ...query }) =>
      contains && 'title' in contains ? query : { ...query, ...(contains ? { contains } : {}) },
    ),
  },
  {
    defect: 'of several tables that name ids only the first one counts',
    caughtBy: ['rows that other tables name are found by them, in every order'],
    open: withQuery(({ within, ...query }) => ({ ...query, ...(within ? { within: within.slice(0, 1) } : {}) })),
  },
  {
    defect: 'count goes on beyond its limit',
    caughtBy: ['count is how many rows find finds with the same conditions, and stops at its limit'],
    open: () => faulty({ tx: (tx) => ({ count: (table, { limit: _limit, ...query }) => tx.count(table, query) }) }),
  },
  {
    defect: 'count knows equality alone',
    caughtBy: ['count is how many rows find finds with the same conditions, and stops at its limit'],
    open: () =>
      faulty({
        tx: (tx) => ({
          count: (table, { where, limit }) =>
            tx.count(table, { ...(where ? { where } : {}), ...(limit === undefined ? {} : { limit }) }),
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

/** The part of a text that is compared. */
type Same = (text: string) => string

/** Whether a value of a row is the one that a condition names. */
type IsEqual = (wanted: unknown, value: unknown) => boolean

const isAlike = (same: Same, wanted: unknown, value: unknown): boolean =>
  typeof wanted === 'string' && typeof value === 'string' ? same(wanted) === same(value) : wanted === value

const isNear: IsEqual = (wanted, value) =>
  wanted === null || value === null || Number.isNaN(Number(wanted))
    ? wanted === value
    : Math.fround(Number(wanted)) === Math.fround(Number(value))

const isEmptyPatch = (patch: object): boolean => Object.values(patch).every((value) => value === undefined)

const holds = (row: object, where: object, isEqual: IsEqual): boolean =>
  Object.entries(where).every(([column, wanted]) => [wanted].flat().some((each) => isEqual(each, row[column as never])))

/** Looks for rows by another equality. */
const finding = (tx: Tx, isEqual: IsEqual): Partial<Tx> => ({
  find: async (table, { where = {}, limit, offset = 0, ...query }) => {
    const found = (await tx.find(table, query)).filter((row) => holds(row, where, isEqual))
    return found.slice(offset, limit === undefined ? undefined : offset + limit)
  },
  count: async (table, where) => (await tx.find(table, {})).filter((row) => holds(row, where, isEqual)).length,
})

/** Compares guards by another equality. */
function guarding(tx: Tx, isEqual: IsEqual): Partial<Tx> {
  const may = async <R extends Row, N>(table: Table<R, N>, id: string, guard: Where<R> = {}): Promise<boolean> => {
    const row = await tx.get(table, id)
    return row !== undefined && holds(row, guard, isEqual)
  }
  return {
    update: async (table, id, patch, guard) => ((await may(table, id, guard)) ? tx.update(table, id, patch) : undefined),
    increment: async (table, id, by, guard) => ((await may(table, id, guard)) ? tx.increment(table, id, by) : undefined),
    remove: async (table, id, guard) => ((await may(table, id, guard)) ? tx.remove(table, id) : undefined),
  }
}

/** Takes a slug for taken that another equality takes for taken. */
const insertUnless =
  (tx: Tx, same: Same): Tx['insert'] =>
  async (table, row) => {
    const slugOf = (of: object): string | undefined => ('slug' in of && typeof of.slug === 'string' ? same(of.slug) : undefined)
    const slug = slugOf(row)
    const isTaken =
      slug !== undefined &&
      (await tx.find(table, { where: { network_id: row.network_id } as never })).some((other) => slugOf(other) === slug)
    if (isTaken) throw new UniqueViolation(table.name, ['network_id', 'slug'])
    return tx.insert(table, row)
  }

function translatesErrors(storage: Storage): Partial<Storage> {
  return {
    transaction: (work, options) =>
      storage.transaction(work, options).catch((cause: unknown) => {
        const isOfDatabase = cause instanceof Error && !(cause instanceof StorageError) && 'code' in cause
        throw isOfDatabase ? new Conflict('run it again', { cause }) : cause
      }),
  }
}

/**
 * Transactions that run at the same time, in which every call commits at once and a lock lasts until the end. Of two that wait for
 * each other the second gets a conflict, which undoes its inserts.
 * @param mayHave whether a lock is granted beside the strongest one that another transaction holds
 */
function lockingRows(
  storage: Storage,
  mayHave: (held: LockStrength | undefined, wanted: LockStrength) => boolean,
): Partial<Storage> {
  const locks: { readonly id: string; readonly strength: LockStrength; readonly owner: object; readonly ended: Promise<void> }[] =
    []
  const waiting = new Set<object>()
  return {
    async transaction(work, options) {
      if (options?.readOnly) return storage.transaction(work, options)
      const owner = {}
      const end = Promise.withResolvers<void>()
      const alone = everyCallAlone(storage)
      const undo: (() => Promise<unknown>)[] = []
      try {
        return await work({
          ...alone,
          async insert(table, row) {
            undo.push(() => alone.remove(table, row.id))
            return alone.insert(table, row)
          },
          async lock(table, id, strength) {
            for (;;) {
              const others = locks.filter((lock) => lock.id === id && lock.owner !== owner)
              const [first] = others
              const held = others.some((lock) => lock.strength === 'update') ? 'update' : first?.strength
              if (first === undefined || mayHave(held, strength)) break
              if (waiting.has(first.owner)) {
                for (const step of undo.splice(0)) await step()
                throw new Conflict('undone')
              }
              waiting.add(owner)
              await first.ended
              waiting.delete(owner)
            }
            locks.push({ id, strength, owner, ended: end.promise })
            return alone.get(table, id)
          },
        })
      } finally {
        for (const lock of locks.filter((each) => each.owner === owner)) locks.splice(locks.indexOf(lock), 1)
        end.resolve()
      }
    },
  }
}

/** The locks that are right. */
const besideShare = (held: LockStrength | undefined, wanted: LockStrength): boolean =>
  held === undefined || (held === 'share' && wanted === 'share')

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
