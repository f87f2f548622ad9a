import { expect, test } from 'vitest'
import { runningWork } from '../../../../adapters/storage/sql/running-work.ts'

test('everyone who waits until nothing runs is notified', async () => {
  const { idle, hold } = runningWork()
  const { promise, resolve } = Promise.withResolvers<void>()
  hold(promise)
  const notified: number[] = []
  const waiting = [1, 2].map((place) => idle().then(() => notified.push(place)))
  resolve()
  await Promise.race([Promise.all(waiting), new Promise(setImmediate)])
  expect(notified).toEqual([1, 2])
})
