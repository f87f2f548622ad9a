/** Rate limits when their database does not respond: each process counts for itself, and no one waits for long. */
import { afterEach, expect, test, vi } from 'vitest'
import { type PostgresRateLimitOptions, postgresRateLimits, type SharedRateLimits } from '../../../adapters/rate-limits/index.ts'
import { until } from '../../daemon/relay/support.ts'
import { testPostgres } from '../../support/postgres.ts'
import { proxyTo } from '../../support/proxy.ts'
import { closing, postgresCounts } from './support.ts'

const server = await testPostgres()
const admin = await server.client()

const alone = expect.stringMatching(/^rate limits: each process counts alone for now: ./)
const together = 'rate limits: the processes count together again'

afterEach(() => vi.useRealTimers())

/** Counts until the database has been tried again, with keys that no one looks at. */
async function recovered(limits: SharedRateLimits, warnings: readonly string[]): Promise<void> {
  await until(async () => {
    await limits.count('somebody', 1e6)
    return warnings.at(-1) === together
  }, 'the processes count together again')
}

/** Requests of one key that pass, of 10 with a limit of 3. */
async function passing(limits: SharedRateLimits, key: string): Promise<number> {
  const counts = await Promise.all(Array.from({ length: 10 }, () => limits.count(key, 3)))
  return counts.filter(({ allowed }) => allowed).length
}

async function onPostgres(options: Partial<PostgresRateLimitOptions> = {}) {
  const warnings: string[] = []
  const settings = { timeoutMs: 2_000, retryMs: 20, warn: (sentence: string) => void warnings.push(sentence) }
  const counts = await postgresCounts(server)
  const from = options.pool ? {} : { url: server.url }
  const limits = closing(await postgresRateLimits({ ...from, schema: counts.schema, ...settings, ...options }))
  return { ...counts, limits, warnings }
}

test('a connection that is cut: each counts for itself, and together again when it is mended', async () => {
  const proxy = await proxyTo(server.url)
  const { limits, warnings, rows } = await onPostgres({ url: proxy.url })
  await limits.count('before', 3)
  proxy.cut()
  expect(await passing(limits, 'during')).toBe(3)
  expect(warnings).toEqual([alone])
  proxy.mend()
  await recovered(limits, warnings)
  expect(await passing(limits, 'after')).toBe(3)
  expect(warnings).toEqual([alone, together])
  expect((await rows()).map(({ key }) => key)).toEqual(['after', 'before', 'somebody'])
})

test('a network that swallows everything: no one waits longer than the time-out, and no password is shown', async () => {
  const proxy = await proxyTo(server.url)
  const { limits, warnings } = await onPostgres({ url: proxy.url })
  await limits.count('before', 3)
  proxy.silence()
  expect(await passing(limits, 'during')).toBe(3)
  expect(warnings).toEqual([alone])
  // No one waits while it is known to be silent, though the database is tried again and again.
  for (let n = 0; n < 100; n++) await limits.count('during', 3)
  proxy.mend()
  await recovered(limits, warnings)
  expect(warnings.join()).not.toContain('postgres:postgres')
})

test("a host's own pool without a free connection is waited for as long as the time-out, and then again", async () => {
  const pool = server.pool({ max: 1 })
  const { limits, warnings, rows } = await onPostgres({ pool, timeoutMs: 50 })
  const held = await pool.connect()
  const passed = await passing(limits, 'during')
  held.release()
  expect(passed).toBe(3)
  expect(warnings).toEqual([expect.stringMatching(/no connection to PostgreSQL became free in \d+ ms$/)])
  await recovered(limits, warnings)
  expect((await rows()).map(({ key }) => key)).toEqual(['somebody'])
  await limits.close()
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
})

test('a table that someone holds locked: each counts for itself until it is free', async () => {
  const { limits, warnings, schema } = await onPostgres({ timeoutMs: 100 })
  await admin.query(`BEGIN; LOCK TABLE "${schema}".rate_limits`)
  const passed = await passing(limits, 'during')
  await admin.query('COMMIT')
  expect(passed).toBe(3)
  await recovered(limits, warnings)
  expect(warnings).toEqual([alone, together])
})

test('a table that is gone: each counts for itself, and opening them makes it again', async () => {
  const { limits, warnings, schema, open } = await onPostgres()
  await admin.query(`DROP TABLE "${schema}".rate_limits`)
  expect(await passing(limits, 'during')).toBe(3)
  expect(warnings).toEqual([alone])
  await expect(postgresRateLimits({ url: server.url, schema, migrate: false })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('folkmoot migrate'),
  })
  const second = await open()
  expect(await passing(second, 'again')).toBe(3)
  await recovered(limits, warnings)
})

test('a key that has used up its minute stays refused while the database does not respond', async () => {
  const proxy = await proxyTo(server.url)
  const { limits } = await onPostgres({ url: proxy.url })
  expect(await passing(limits, 'spent')).toBe(3)
  proxy.cut()
  await limits.count('somebody', 3)
  expect(await passing(limits, 'spent')).toBe(0)
})

test('a machine whose clock is an hour ahead, or behind, counts in the same minute', async () => {
  const { open } = await postgresCounts(server)
  const [first, second, third] = [await open(), await open(), await open()]
  await first.count('1', 5)
  for (const [limits, hours, remaining] of [
    [second, 1, 3],
    [third, -1, 2],
    [first, 0, 1],
  ] as const) {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * 3_600_000 })
    const count = await limits.count('1', 5)
    vi.useRealTimers()
    expect(count).toMatchObject({ allowed: true, remaining })
    expect(count.resetSeconds).toBeLessThanOrEqual(60)
  }
})

test('a database that makes every transaction serializable counts as exactly', async () => {
  const { schema } = await postgresCounts(server)
  const warnings: string[] = []
  const processes = await Promise.all(
    [1, 2, 3, 4].map(async () => {
      const pool = server.pool({ options: '-c default_transaction_isolation=serializable' })
      return closing(
        await postgresRateLimits({ pool, schema, timeoutMs: 60_000, warn: (sentence) => void warnings.push(sentence) }),
      )
    }),
  )
  const counted = processes.map(async (limits) => {
    let passed = 0
    for (let n = 0; n < 100; n++) if ((await limits.count('1', 250)).allowed) passed++
    return passed
  })
  expect((await Promise.all(counted)).reduce((sum, passed) => sum + passed, 0)).toBe(250)
  expect(warnings).toEqual([])
})

test('a database that cannot be reached is refused at the start, without the password', async () => {
  const refused = await postgresRateLimits({ url: 'postgres://me:open-sesame@127.0.0.1:1/x' }).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'unavailable' })
  expect(String(refused)).not.toContain('open-sesame')
  await expect(postgresRateLimits({})).rejects.toThrow('option `url` or `pool`')
})
