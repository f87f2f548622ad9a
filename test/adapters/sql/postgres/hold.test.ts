/** A connection out of a pool, and what a pool without one leaves behind. */
import { expect, test } from 'vitest'
import { holdClient } from '../../../../adapters/sql/postgres/hold.ts'

test('a pool that throws synchronously leaves nothing behind that could end the process later', async () => {
  const late: unknown[] = []
  const listen = (reason: unknown) => late.push(reason)
  process.on('unhandledRejection', listen)
  const pool = {
    connect() {
      throw new TypeError('Invalid URL')
    },
    end: async () => {},
  }
  await expect(holdClient(pool, 1)).rejects.toThrow('Invalid URL')
  // A later timer of the same length fires after it.
  await new Promise((resolve) => setTimeout(resolve, 2))
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', listen)
  expect(late).toEqual([])
})
