/** Bodies that arrive in many parts. */
import { expect, test } from 'vitest'
import { fromRequest } from '../../../lib/http/exchange.ts'
import { createPieces } from '../../../lib/http/pieces.ts'
import { heapInUse } from '../../support/heap.ts'

const MiB = 1024 * 1024

test('parts of every length become one piece, in their order', () => {
  const lengths = Array.from({ length: 3_000 }, (_, index) => (index % 700 < 400 ? 1 : (index * 7) % 2_000))
  const parts = lengths.map((length, index) => new Uint8Array(length).fill(index))
  const pieces = createPieces()
  for (const part of parts) pieces.add(part)
  expect(Buffer.compare(pieces.whole(), Buffer.concat(parts))).toBe(0)
  expect(createPieces().whole()).toHaveLength(0)
})

test('a body of a `fetch` host that comes byte by byte takes little more memory than its bytes', async () => {
  const count = 300_000
  let left = count
  let [before, most] = [0, 0]
  const body = new ReadableStream({
    pull(controller) {
      if (left === count) before = heapInUse()
      if (left === 1) most = heapInUse()
      if (left-- === 0) controller.close()
      else controller.enqueue(Uint8Array.of(left))
    },
  })
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' }
  const read = await fromRequest(new Request('http://localhost/', init)).read(MiB)
  expect(read).toHaveLength(count)
  expect(most - before).toBeLessThan(10 * MiB)
})
