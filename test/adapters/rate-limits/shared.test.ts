/** Rate limits in a database, over several connections to it: as several processes have them. */
import { describe, expect, test } from 'vitest'
import { postgresRateLimits } from '../../../adapters/rate-limits/index.ts'
import type { RateCount } from '../../../lib/index.ts'
import { testPostgres } from '../../support/postgres.ts'
import { closing, postgresCounts } from './support.ts'

const server = await testPostgres()

const allowed = (counts: readonly RateCount[]) => counts.filter((count) => count.allowed)
const times = (number: number) => Array.from({ length: number }, (_, index) => index)

const database = () => postgresCounts(server)

describe('postgres', () => {
  test('each request takes one from what is left, and one too many is refused', async () => {
    const { open } = await database()
    const limits = await open()
    const counts: RateCount[] = []
    for (const _ of times(4)) counts.push(await limits.count('1', 3))
    expect(counts.map(({ allowed, remaining }) => ({ allowed, remaining }))).toEqual([
      { allowed: true, remaining: 2 },
      { allowed: true, remaining: 1 },
      { allowed: true, remaining: 0 },
      { allowed: false, remaining: 0 },
    ])
    for (const { resetSeconds } of counts) {
      expect(resetSeconds).toBeGreaterThan(0)
      expect(resetSeconds).toBeLessThanOrEqual(60)
    }
  })

  test('of 600 concurrent requests, in four processes, exactly as many pass as the limit allows, each with another number', async () => {
    const { open } = await database()
    const processes = await Promise.all(times(4).map(() => open()))
    const counts = await Promise.all(times(600).map(async (n) => processes[n % 4]?.count('1', 150)))
    const passed = allowed(counts.filter((count) => count !== undefined))
    expect(passed.map(({ remaining }) => remaining).sort((a, b) => b - a)).toEqual(times(150).reverse())
  })

  test('keys have separate counts, whatever a host calls them', async () => {
    const { open, rows } = await database()
    const [first, second] = [await open(), await open()]
    const keys = ['1', '01', 'a key', 'ключ', 'quote"\\', '', '\0', '\ud800', "'); DROP TABLE", 'x'.repeat(5000), '__proto__']
    await Promise.all(keys.map((key) => first.count(key, 5)))
    const again = await Promise.all(keys.map((key) => second.count(key, 5)))
    expect(again.map(({ remaining }) => remaining)).toEqual(keys.map(() => 3))
    expect(await rows()).toHaveLength(keys.length)
  })

  test('when the minute has ended, the count starts over', async () => {
    const { open, move } = await database()
    const [first, second] = [await open(), await open()]
    for (const _ of times(3)) await first.count('1', 5)
    await move(-61)
    expect(await second.count('1', 5)).toMatchObject({ allowed: true, remaining: 4 })
    expect(await first.count('1', 5)).toMatchObject({ allowed: true, remaining: 3 })
  })

  test('a minute that was begun before the clock was set back does not last for an hour', async () => {
    const { open, move } = await database()
    const limits = await open()
    for (const _ of times(3)) await limits.count('1', 5)
    await move(3600)
    const count = await limits.count('1', 5)
    expect(count).toMatchObject({ allowed: true, remaining: 4 })
    expect(count.resetSeconds).toBeLessThanOrEqual(60)
  })

  test('a key that has used up its minute is refused without asking the database', async () => {
    const { open, rows } = await database()
    const limits = await open()
    for (const _ of times(100)) await limits.count('1', 3)
    expect(await rows()).toMatchObject([{ key: '1', used: 3 }])
  })

  test('a plan with a higher limit counts immediately, and continues with the present count', async () => {
    const { open } = await database()
    const limits = await open()
    for (const _ of times(3)) await limits.count('1', 2)
    expect(await limits.count('1', 10)).toMatchObject({ allowed: true, remaining: 7 })
    expect(await limits.count('1', 2)).toMatchObject({ allowed: false, remaining: 0 })
  })

  test('counts of minutes that have ended are removed', async () => {
    const { open, rows, move } = await database()
    const first = await open()
    await Promise.all(times(50).map((n) => first.count(`old ${n}`, 5)))
    await move(-61)
    const second = await open()
    await second.count('new', 5)
    await second.close()
    expect(await rows()).toMatchObject([{ key: 'new', used: 1 }])
  })

  test('closed, they say so, and may be closed again', async () => {
    const { open } = await database()
    const limits = await open()
    const last = limits.count('1', 3)
    await limits.close()
    await limits.close()
    expect(await last).toMatchObject({ allowed: true, remaining: 2 })
    await expect(limits.count('1', 3)).rejects.toMatchObject({ code: 'closed' })
  })

  test('of many that open an empty database concurrently each one works', async () => {
    const { open } = await database()
    const processes = await Promise.all(times(6).map(() => open()))
    const counts = await Promise.all(processes.map((limits) => limits.count('1', 6)))
    expect(allowed(counts)).toHaveLength(6)
    expect(await processes[0]?.count('1', 6)).toMatchObject({ allowed: false })
  })
})

test('over pools of hosts whose default is `serializable` the count is exact, and races cost no connection', async () => {
  const connected: string[] = []
  const schema = server.newSchema()
  const processes = await Promise.all(
    ['one', 'other'].map((name) => {
      const pool = server.pool({ max: 1, options: '-c default_transaction_isolation=serializable' })
      pool.on('connect', () => void connected.push(name))
      return postgresRateLimits({ pool, schema, timeoutMs: 60_000 }).then(closing)
    }),
  )
  for (const round of times(300)) {
    const counts = await Promise.all(processes.map((limits) => limits.count('1', 1000)))
    expect(counts.map(({ remaining }) => remaining).sort((a, b) => b - a)).toEqual([999 - 2 * round, 998 - 2 * round])
  }
  expect(connected.sort()).toEqual(['one', 'other'])
})
