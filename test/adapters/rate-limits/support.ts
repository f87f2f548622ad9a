/** Shared by the tests of rate limits: a database, and a look at its rows. */
import { onTestFinished } from 'vitest'
import { type PostgresRateLimitOptions, postgresRateLimits, type SharedRateLimits } from '../../../adapters/rate-limits/index.ts'
import type { TestPostgres } from '../../support/postgres.ts'

export interface CountsUnderTest {
  /** Rate limits as another process would have them: with a separate connection. */
  open(): Promise<SharedRateLimits>
  /** The rows of the table: what each key has used, and the seconds until its minute ends. */
  rows(): Promise<readonly { readonly key: string; readonly used: number; readonly seconds: number }[]>
  /** Moves the end of every minute by so many seconds. */
  move(seconds: number): Promise<void>
}

/** Closed with the test. */
export function closing<L extends SharedRateLimits>(limits: L): L {
  onTestFinished(() => limits.close())
  return limits
}

/** No test may miss that counts were not shared. */
const fail = (sentence: string): never => {
  throw new Error(sentence)
}

export async function postgresCounts(
  server: TestPostgres,
  options: Partial<PostgresRateLimitOptions> = {},
): Promise<CountsUnderTest & { schema: string }> {
  const schema = server.newSchema()
  const client = await server.client()
  return {
    schema,
    open: async () => closing(await postgresRateLimits({ url: server.url, schema, timeoutMs: 60_000, warn: fail, ...options })),
    rows: async () =>
      (
        await client.query(
          `SELECT key, used, extract(epoch FROM ends_at - now())::float8 AS seconds FROM "${schema}".rate_limits ORDER BY key`,
        )
      ).rows,
    move: async (seconds) => {
      await client.query(`UPDATE "${schema}".rate_limits SET ends_at = ends_at + $1 * interval '1 second'`, [seconds])
    },
  }
}
