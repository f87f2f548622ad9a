/** When snapshots begin, where the database takes time to respond. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { postgresDialect } from '../../../../adapters/sql/postgres/dialect.ts'
import { statementsOf } from '../../../../adapters/sql/statements.ts'
import { nestingIn } from '../../../../adapters/storage/nesting.ts'
import { sharedSnapshots } from '../../../../adapters/storage/sql/snapshots.ts'

// The wait for a response ends by a timer, which no slow machine may fire early here.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** Snapshots of a database whose responses the test gives. */
function slowDatabase() {
  const responses: PromiseWithResolvers<void>[] = []
  const snapshots = sharedSnapshots({
    open() {
      const response = Promise.withResolvers<void>()
      const number = responses.push(response)
      return { begun: response.promise, native: () => number, query: () => [], end() {} }
    },
    maxReads: 16,
    statements: statementsOf(postgresDialect('folkmoot')),
    nesting: nestingIn(),
  })
  /** A read that arrives, and the end of its turn. Gives the number of its snapshot. */
  async function arrives() {
    const number = snapshots.read(async (tx) => tx.native)
    await nextTurn()
    return { number }
  }
  return { answers: responses, arrives }
}

test('reads that arrive before the response to a snapshot begin together when it is there', async () => {
  const { answers, arrives } = slowDatabase()
  const [first, second, third] = [await arrives(), await arrives(), await arrives()]
  expect(await first.number).toBe(1)
  expect(answers).toHaveLength(1)
  answers[0]?.resolve()
  expect(await Promise.all([second.number, third.number])).toEqual([2, 2])
})

test('reads do not wait for a snapshot that could not begin', async () => {
  const { answers, arrives } = slowDatabase()
  const [first, second] = [await arrives(), await arrives()]
  expect(await first.number).toBe(1)
  answers[0]?.reject(new Error('lost'))
  expect(await second.number).toBe(2)
})

test('a response that does not come holds up no one for longer than 10 ms', async () => {
  const { answers, arrives } = slowDatabase()
  const [first, second] = [await arrives(), await arrives()]
  expect(await first.number).toBe(1)
  vi.advanceTimersByTime(9)
  await nextTurn()
  expect(answers).toHaveLength(1)
  vi.advanceTimersByTime(1)
  expect(await second.number).toBe(2)
})
