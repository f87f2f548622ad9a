import { expect, test } from 'vitest'
import { inFlightBytesFor } from '../../../daemon/server/memory.ts'

const mebibytes = 1024 * 1024

test.each([
  [16 * 1024, 256],
  [1024, 256],
  [512, 128],
  [256, 64],
  // Room for one upload and its form.
  [64, 26],
])('of %d MiB a server lets requests take %d', (memory, inFlight) => {
  expect(inFlightBytesFor(memory * mebibytes)).toBe(inFlight * mebibytes)
})

test('without a word it goes by this machine', () => {
  expect(inFlightBytesFor()).toBeGreaterThanOrEqual(26 * mebibytes)
})
