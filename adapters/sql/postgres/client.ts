/** The part of `pg` that these adapters use, as separate types: the package is optional, and a host brings its own pool. */
import { createHash } from 'node:crypto'
import { nextTick } from 'node:process'

export interface PgQuery {
  readonly text: string
  readonly values?: unknown[]
  readonly name?: string | undefined
  readonly rowMode: 'array'
  readonly types?: { getTypeParser(): (text: string) => unknown }
}

export interface PgResult {
  readonly rows: unknown[][]
  readonly fields: readonly { readonly name: string }[]
  readonly command: string
  readonly rowCount: number | null
}

/** A connection, or a client of a pool. */
export interface PgClient {
  query(query: PgQuery): Promise<PgResult>
  /** Whether it sends a statement without waiting for the answers to those before. */
  readonly pipeline?: boolean
  readonly connection?: { readonly stream?: { cork(): void; uncork(): void } }
}

export interface PgPoolClient extends PgClient {
  release(error?: Error | boolean): void
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
}

/** A pool of connections, such as `new pg.Pool()`. */
export interface PgPool {
  connect(): Promise<PgPoolClient>
  end(): Promise<void>
  /** Its options. */
  readonly options?: object
}

/** Whether the connections of a pool send statements without waiting for the answers to those before. */
export const isPipelined = ({ options }: PgPool): boolean =>
  options !== undefined && 'pipeline' in options && options.pipeline === true

/** Values come as the text that PostgreSQL sends: numbers over 2^53 must not pass through a JavaScript number. */
const types = { getTypeParser: () => (text: string) => text }

/**
 * Runs a statement. Statements that do not wait for each other's answers travel together, if the connection sends ahead.
 * @param name names it as a prepared one, which a connection parses once
 */
export function send(client: PgClient, text: string, values: readonly unknown[] = [], name?: string): Promise<PgResult> {
  keepForTick(client)
  // `pg` does not change the values that it is given.
  return client.query({ text, values: values as unknown[], rowMode: 'array', types, name })
}

const names = new Map<string, string>()

/** The same text has the same name in every process, as poolers that share prepared statements need it. */
export function nameOf(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = `folkmoot_${createHash('sha1').update(text).digest('hex')}`
  names.set(text, name)
  return name
}

/**
 * Buffers later statements, so that they go out together: each alone would wake PostgreSQL up.
 * @returns sends the buffered statements
 */
export function keep(client: PgClient): () => void {
  const stream = client.pipeline ? client.connection?.stream : undefined
  stream?.cork()
  return () => stream?.uncork()
}

const kept = new WeakSet<PgClient>()

/** Buffers statements until all work of this tick waits for answers. */
function keepForTick(client: PgClient): void {
  if (!client.pipeline || kept.has(client)) return
  kept.add(client)
  const letGo = keep(client)
  // Once more, for statements that are sent at the end of the tick.
  atEndOfTick(() =>
    nextTick(() => {
      kept.delete(client)
      letGo()
    }),
  )
}

/** Calls back when all work of this tick waits for something. */
export function atEndOfTick(callback: () => void): void {
  // A tick's callbacks run when no promise has anything left to run.
  queueMicrotask(() => nextTick(callback))
}
