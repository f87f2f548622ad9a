/**
 * Statements that travel together: one message to PostgreSQL, and one back.
 *
 * `pg` ends each statement with a Sync, and requests the columns of each response. A batch has one Sync, and no caller needs the
 * columns. PostgreSQL runs its statements in order. If one fails, those behind it are skipped.
 */
import type { PgClient, PgResult } from '../connection.ts'
import { noteError } from '../fitness.ts'
import { forgetMessages, takeMessages, writeBind, writeExecute, writeParse, writeSync } from './messages.ts'

export interface BatchStatement {
  readonly text: string
  readonly values: readonly unknown[]
  /** Names it as a prepared one, which a connection parses once. */
  readonly name: string | undefined
  readonly resolve: (result: PgResult) => void
  readonly reject: (error: unknown) => void
}

/** The connection below a client of `pg`, as its queries use it. */
interface Wire {
  /** The texts of the prepared statements, by name: those that PostgreSQL has parsed, and those on their way. */
  readonly parsedStatements: Record<string, string | undefined>
  readonly submittedNamedStatements: Record<string, string | undefined>
  readonly stream: { readonly writable: boolean; write(bytes: Uint8Array): unknown }
}

type Callback = (error: unknown) => void
type QueryClass = new (text: string) => object
type BatchClass = new (statements: readonly BatchStatement[], client: PgClient) => object

/** A client of `pg` that sends ahead. It takes a query of a subclass, and calls its methods with the responses of PostgreSQL. */
interface BatchClient {
  readonly constructor: { readonly Query: QueryClass }
  readonly connection: { readonly stream: { cork(): void; uncork(): void } }
  query(batch: object): unknown
}

export const takesBatches = (client: PgClient): boolean =>
  client.pipeline === true && typeof (client.constructor as Partial<BatchClient['constructor']>).Query === 'function'

/** Sends statements together. Each gets its response, or its error. */
export function sendBatch(client: PgClient, statements: readonly BatchStatement[]): void {
  const taker = client as unknown as BatchClient
  const { Query } = taker.constructor
  const Batch = classes.get(Query) ?? batchesOver(Query)
  classes.set(Query, Batch)
  taker.query(new Batch(statements, client))
}

/** Keeps batches from leaving until the end of this turn of the event loop: those of the turn are one message. */
export function holdBack(client: PgClient): void {
  const { stream } = (client as unknown as BatchClient).connection
  stream.cork()
  setImmediate(() => stream.uncork())
}

const classes = new WeakMap<QueryClass, BatchClass>()

function batchesOver(Query: QueryClass): BatchClass {
  return class extends Query {
    /** `pg` replaces it by one that ends the time limit, too. */
    callback: Callback
    /** Of the statement whose response is being read: `pg` notes by it that PostgreSQL has parsed the statement. */
    name: string | undefined
    text = ''
    #statements: readonly BatchStatement[]
    #completed = 0
    #rows: unknown[][] = []

    constructor(statements: readonly BatchStatement[], client: PgClient) {
      super('')
      this.#statements = statements
      this.callback = (error) => {
        if (error) noteError(client, error)
        this.#end(error)
      }
    }

    submit(wire: Wire): null {
      try {
        for (const { text, values, name } of this.#statements) {
          if (!name || (wire.parsedStatements[name] ?? wire.submittedNamedStatements[name]) === undefined) {
            writeParse(name ?? '', text)
            if (name) wire.submittedNamedStatements[name] = text
          }
          writeBind(name ?? '', values.map(textOf))
          writeExecute()
        }
        writeSync()
        const messages = takeMessages()
        if (wire.stream.writable) wire.stream.write(messages)
      } finally {
        forgetMessages()
      }
      this.#next()
      return null
    }

    #next(): void {
      const statement = this.#statements[this.#completed]
      this.name = statement?.name
      this.text = statement?.text ?? ''
    }

    handleDataRow({ fields }: { readonly fields: unknown[] }): void {
      this.#rows.push(fields)
    }

    handleCommandComplete({ text }: { readonly text: string }): void {
      // `INSERT 0 1`, `SELECT 3`, `COMMIT`
      const words = text.split(' ')
      const count = words.length > 1 ? Number(words.at(-1)) : Number.NaN
      const rowCount = Number.isNaN(count) ? null : count
      // Immediately: the caller of a page can write it while PostgreSQL makes the next one.
      this.#statements[this.#completed]?.resolve({ rows: this.#rows, fields: [], command: words[0] ?? '', rowCount })
      this.#completed++
      this.#rows = []
      this.#next()
    }

    handleReadyForQuery(): void {
      this.callback(null)
    }

    handleError(error: unknown, wire: Wire): void {
      // Those behind were never parsed. The one that failed has been noted by `pg`, if it was.
      for (const { name } of this.#statements.slice(this.#completed)) if (name) delete wire.submittedNamedStatements[name]
      this.callback(error)
    }

    /** Those that have no response yet get none. */
    #end(error: unknown): void {
      const [failed, ...behind] = this.#statements.slice(this.#completed)
      // Otherwise many of their values became old with this object, and only a large collection took them away.
      this.#statements = []
      failed?.reject(error)
      for (const { reject } of behind) reject(skipped(error))
    }
  }
}

/** The error of a statement behind one that failed: as PostgreSQL would report it in a failed transaction. */
const skipped = (cause: unknown): Error =>
  Object.assign(new Error('a statement before this one failed', { cause }), { code: '25P02' })

/** A value as PostgreSQL reads it. */
function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return null
  return Array.isArray(value) ? `{${value.map(elementOf).join(',')}}` : String(value)
}

const elementOf = (value: unknown): string => {
  const text = textOf(value)
  return text === null ? 'NULL' : `"${text.replace(/[\\"]/g, '\\$&')}"`
}
