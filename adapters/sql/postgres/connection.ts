/** The part of `pg` that these adapters use, as separate types: the package is optional, and a host brings its own pool. */

/** As much of a query of `pg` as is used. */
export interface PgQuery {
  readonly text: string
  readonly values?: unknown[]
  readonly name?: string | undefined
  readonly rowMode: 'array'
  readonly types?: { getTypeParser(): (text: string) => unknown }
  /** Milliseconds until `pg` stops waiting for the response; those of the connection by default. */
  readonly query_timeout?: number
}

/** As much of a result of `pg` as is used. */
export interface PgResult {
  readonly rows: unknown[][]
  readonly fields: readonly { readonly name: string }[]
  readonly command: string
  readonly rowCount: number | null
}

/** A connection, or a client of a pool. */
export interface PgClient {
  query(query: PgQuery): Promise<PgResult>
  /** Whether it sends a statement without waiting for the responses to those before. */
  readonly pipeline?: boolean
}

/** A connection of a pool, which goes back to it by `release`. */
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
  /** Those who wait for a connection. */
  readonly waitingCount?: number
}

/** Whether the connections of a pool send statements without waiting for the responses to those before. */
export const isPipelined = ({ options }: PgPool): boolean =>
  options !== undefined && 'pipeline' in options && options.pipeline === true
