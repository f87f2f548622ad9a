/** Statements on their way to PostgreSQL: alone, or those of one tick together. */
import { createHash } from 'node:crypto'
import { nextTick } from 'node:process'
import type { PgClient, PgResult } from '../connection.ts'
import { noteError } from '../fitness.ts'
import { type BatchStatement, sendBatch, takesBatches } from './batch.ts'

/** Values come as the text that PostgreSQL sends: numbers over 2^53 must not pass through a JavaScript number. */
const types = { getTypeParser: () => (text: string) => text }

/**
 * Runs a statement. Where the connection sends ahead, those of one tick travel together, in one batch. If one of them fails, none
 * behind it runs. So they are statements of one transaction, which has begun before or begins in the batch.
 *
 * @param name names it as a prepared one, which a connection parses once
 * @returns the result; its `fields` are empty if it came in a batch
 */
export function send(client: PgClient, text: string, values: readonly unknown[] = [], name?: string): Promise<PgResult> {
  if (!takesBatches(client)) return sendAlone(client, text, values, name)
  return new Promise((resolve, reject) => batchOf(client).statements.push({ text, values, name, resolve, reject }))
}

/** Runs the statements of one text. They have no parameters. */
export function sendScript(client: PgClient, text: string): Promise<PgResult> {
  sendWaiting(client)
  return sendAlone(client, text, [])
}

/** Milliseconds, 24 days: `pg` has no other way to say that a statement has no limit. */
const noLimit = 2 ** 31 - 1

/** The class of queries, where `pg` made the connection. */
type QueryClass = new (config: object) => { query_timeout?: number }

/**
 * Runs a statement that may take as long as it needs, such as building an index. The limit that PostgreSQL itself keeps,
 * `statement_timeout`, is the caller's to lift.
 */
export function sendLong(client: PgClient, text: string, values: readonly unknown[] = []): Promise<PgResult> {
  sendWaiting(client)
  const config = { text, values: [...values], rowMode: 'array' as const, types }
  const { Query } = client.constructor as { readonly Query?: QueryClass }
  if (!Query) return noting(client, client.query({ ...config, query_timeout: noLimit }))
  // `pg` before 8.13 takes the limit of one query only from an object of this class.
  const result = new Promise<PgResult>((resolve, reject) => {
    const query = new Query({
      ...config,
      callback: (error: unknown, result: PgResult) => (error ? reject(error) : resolve(result)),
    })
    query.query_timeout = noLimit
    ;(client as { query(query: object): unknown }).query(query)
  })
  return noting(client, result)
}

const sendAlone = (client: PgClient, text: string, values: readonly unknown[], name?: string): Promise<PgResult> =>
  // `pg` does not change the values that it is given.
  noting(client, client.query({ text, values: values as unknown[], rowMode: 'array', types, name }))

/** As it is, with its error noted before any caller gets it. */
const noting = (client: PgClient, result: Promise<PgResult>): Promise<PgResult> =>
  result.catch((error: unknown) => {
    noteError(client, error)
    throw error
  })

const names = new Map<string, string>()

/** The same text has the same name in every process, as poolers that share prepared statements need it. */
export function nameOf(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = `folkmoot_${createHash('sha1').update(text).digest('hex')}`
  names.set(text, name)
  return name
}

/** Statements that wait for the end of the tick. */
export interface Batch {
  readonly statements: BatchStatement[]
}

const batches = new WeakMap<PgClient, Batch>()
const held = new WeakSet<PgClient>()

/** The batch in which the next statement travels. It is another one as soon as this one is sent. None where each travels alone. */
export const nextBatch = (client: PgClient): Batch | undefined => (takesBatches(client) ? batchOf(client) : undefined)

function batchOf(client: PgClient): Batch {
  const waiting = batches.get(client)
  if (waiting) return waiting
  const batch: Batch = { statements: [] }
  batches.set(client, batch)
  // Once more, for statements that are sent at the end of the tick.
  atEndOfTick(() =>
    nextTick(() => {
      if (!held.has(client) && batches.get(client) === batch) sendWaiting(client)
    }),
  )
  return batch
}

/** Sends the statements that wait, so that others come behind them. */
export function sendWaiting(client: PgClient): void {
  const batch = batches.get(client)
  if (!batch) return
  batches.delete(client)
  if (batch.statements.length > 0) sendBatch(client, batch.statements)
}

/**
 * Keeps later statements waiting, so that those of the next tick go out with them.
 * @returns sends them
 */
export function keep(client: PgClient): () => void {
  if (!takesBatches(client)) return () => {}
  held.add(client)
  return () => {
    held.delete(client)
    sendWaiting(client)
  }
}

/** Calls back when all work of this tick waits for something. */
function atEndOfTick(callback: () => void): void {
  // A tick's callbacks run when no promise has anything left to run.
  queueMicrotask(() => nextTick(callback))
}
