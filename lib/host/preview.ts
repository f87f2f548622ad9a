/**
 * Previews: any work of the host, run in one transaction that is rolled back. And acts, which commit only if they change what
 * their preview has named.
 *
 * Transactions never nest, so those of the work become parts of the one. They run one after another, and one that fails is taken
 * back by itself, as if it had been alone.
 */

import * as v from 'valibot'
import type { Chance } from '../base/chance.ts'
import { counted } from '../base/counted.ts'
import { fail, invalid } from '../errors.ts'
import type { CommittedEvent } from '../events/catalogue.ts'
import { movedOn } from '../kernel/pipeline.ts'
import { retryOnConflict, type Transactions, transactionsOf } from '../kernel/transactions.ts'
import type { Limits } from '../limits.ts'
import { type AnyOperation, routesOf } from '../operation.ts'
import type { NewFile } from '../ports.ts'
import type { Settings } from '../settings.ts'
import { type Storage, StorageError, type Tx } from '../storage/contract.ts'
import { type RecordedChanges, Recorder, type RowCounts } from '../storage/recorder.ts'
import type { Id } from '../storage/table.ts'
import { tables } from '../storage/tables.ts'
import { checkArgument, shape } from './arguments.ts'

/** What work would change, and a token by which it is done only if it still changes that. */
export interface Preview<T = unknown> extends RecordedChanges {
  /** What the work has returned. An id of a record that it would add is `0` there. */
  readonly result: T
  /** Given as `if` to the same work, it is done only if it changes these rows as they were, and causes these events. */
  readonly token: string
  /** The changes for people: `1 member changes, 14 RSVPs go; 8 events, 16 deliveries to 2 endpoints; nothing was changed`. */
  readonly sentence: string
}

const Token = shape({ if: v.string('must be the token of a preview') })

/** The token of an act. @throws TypeError, ApiError 422 */
export const tokenIn = (options: unknown, limits: Limits): string => checkArgument('act', Token, options, limits).if

/** @throws ApiError 422 for an operation that only reads */
export function requireWriting<Name extends string>(operations: readonly AnyOperation[], id: Name): Name {
  const method = routesOf(operations).find((route) => route.id === id)?.method
  return method === 'GET' ? fail(invalid('operation'), `${id} only reads, so it has no preview`) : id
}

/** Makes what the work is given, over the storage that is inside of the one transaction. */
type PartsOf<P> = (inside: Settings, transactions: Transactions, newId: () => Id) => P

/** Runs work in one transaction. */
export interface Rehearsal<P> {
  preview<T>(work: (parts: P) => Promise<T>): Promise<Preview<T>>
  /** @throws ApiError 409 if the work changes anything else than its preview has named */
  act<T>(work: (parts: P) => Promise<T>, token: string): Promise<T>
}

const rolledBack = Symbol('rolled back')

export function rehearsalOf<P>(settings: Settings, { announce, newId }: Transactions, partsOf: PartsOf<P>): Rehearsal<P> {
  async function run<T>(work: (parts: P) => Promise<T>, token: string | undefined) {
    const isPreview = token === undefined
    const recorder = new Recorder(isPreview)
    const events: CommittedEvent[] = []
    const files: NewFile[] = []
    let value: { readonly result: T } | undefined
    const ids = isPreview ? previewIds() : newId
    const { assets } = settings.ports
    const ports = assets
      ? {
          ...settings.ports,
          assets: {
            put: (bytes: Uint8Array, file: NewFile) => assets.put(bytes, file),
            remove: async (file: NewFile) => void files.push(file),
          },
        }
      : settings.ports
    try {
      await settings.storage.transaction(
        async (tx) => {
          const { storage, end } = storageIn(tx, recorder)
          const inside = { ...settings, storage, recorder, ports, ...(isPreview ? { chance: previewChance() } : {}) }
          try {
            value = {
              result: await work(
                partsOf(
                  inside,
                  transactionsOf(inside, ids, (event) => events.push(event)),
                  ids,
                ),
              ),
            }
          } finally {
            await end()
          }
          if (isPreview) throw rolledBack
          if ((await recorder.token()) !== token) fail(movedOn)
        },
        isPreview ? { isPreview } : {},
      )
    } catch (error) {
      if (error !== rolledBack) throw error
    }
    if (!value) throw new Error('the work has ended without a result')
    return { ...value, recorder, events, files }
  }

  return {
    async preview(work) {
      const { result, recorder } = await retryOnConflict(() => run(work, undefined))
      const { recorded } = recorder
      return { ...recorded, result: withoutNewIds(result), token: await recorder.token(), sentence: sentenceOf(recorded) }
    },
    async act(work, token) {
      const { result, events, files } = await retryOnConflict(() => run(work, token))
      for (const event of events) announce(event)
      for (const file of files)
        await settings.ports.assets?.remove(file).catch((error: unknown) => settings.report(error, { task: 'remove a file' }))
      return result
    },
  }
}

/** A storage whose transactions are parts of one that is open. */
export function storageIn(tx: Tx, recorder: Recorder): { readonly storage: Storage; end(): Promise<void> } {
  let last: Promise<unknown> = Promise.resolve()
  const run = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    if (recorder.lost) throw new StorageError('unavailable', 'the transaction is lost', { cause: recorder.lost })
    try {
      const value = await work(recorder.over(tx))
      await recorder.keep(tx)
      return value
    } catch (error) {
      await recorder.undo(tx).catch(() => {
        recorder.lost ??= error
      })
      throw error
    }
  }
  return {
    storage: {
      transaction(work) {
        const turn = last.then(() => run(work))
        last = turn.catch(() => undefined)
        return turn
      },
      close: async () => {},
    },
    /** Work that has begun ends before the transaction does. @throws what undid the whole of it */
    async end() {
      await last
      if (recorder.lost) throw recorder.lost
    },
  }
}

/** Ids that no record gets: higher than any that is made before 2094. */
const firstPreviewId = Number.MAX_SAFE_INTEGER - 2 ** 32

function previewIds(): () => Id {
  let last = firstPreviewId
  return () => String(++last)
}

/** Secrets that differ visibly from real ones: all zeros, and a number. Nothing that is random leaves a preview. */
function previewChance(): Chance {
  let drawn = 0
  return {
    below: () => 0,
    bytes(length) {
      const bytes = new Uint8Array(length)
      new DataView(bytes.buffer).setUint32(Math.max(0, length - 4), ++drawn)
      return bytes
    },
    uuid: () => `00000000-0000-4000-8000-${String(++drawn).padStart(12, '0')}`,
  }
}

const isNew = (digits: string | number): boolean => Number(digits) > firstPreviewId && Number(digits) <= Number.MAX_SAFE_INTEGER

/** The same value, in which no id is one that only the preview had. */
function withoutNewIds<T>(value: T): T
function withoutNewIds(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\d{16}/g, (digits) => (isNew(digits) ? '0' : digits))
  if (typeof value === 'number') return isNew(value) ? 0 : value
  if (Array.isArray(value)) return value.map((each) => withoutNewIds(each))
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutNewIds(each)]))
}

/** Rows that no one looks for. */
const unnamed: readonly string[] = ['audit', 'idempotency_keys', 'member_history']

/** One and several rows of a table, where its name does not say it. */
const words: Readonly<Record<string, readonly [string, string]>> = {
  api_keys: ['API key', 'API keys'],
  rsvps: ['RSVP', 'RSVPs'],
  events: ['calendar event', 'calendar events'],
  segments: ['tag, badge or option', 'tags, badges or options'],
  member_segments: ['tag or badge of a member', 'tags or badges of members'],
  webhook_endpoints: ['endpoint', 'endpoints'],
}

function sentenceOf({ rows, events, deliveries }: RecordedChanges): string {
  const named = tables.map(({ name }) => name).filter((name) => !unnamed.includes(name))
  const changes = named.flatMap((name) => (rows[name] ? phrasesOf(name, rows[name]) : []))
  const happened = sum(Object.values(events))
  const sent = sum(deliveries.map((endpoint) => endpoint.events))
  const hooks = [
    counted(happened, 'event', 'events'),
    `${counted(sent, 'delivery', 'deliveries')} to ${counted(deliveries.length, 'endpoint', 'endpoints')}`,
  ]
  return [changes.join(', ') || 'no record changes', happened > 0 ? hooks.join(', ') : 'no event', 'nothing was changed'].join(
    '; ',
  )
}

function phrasesOf(table: string, { inserted, changed, removed }: RowCounts): string[] {
  const several = table.replaceAll('_', ' ')
  const names = words[table] ?? [several.replace(/s$/, ''), several]
  const verbs = [
    [inserted, 'is added', 'are added'],
    [changed, 'changes', 'change'],
    [removed, 'goes', 'go'],
  ] as const
  return verbs.flatMap(([count, one, many]) => (count === 0 ? [] : [`${counted(count, ...names)} ${count === 1 ? one : many}`]))
}

const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0)
