import { afterEach, expect, test, vi } from 'vitest'
import { testCommunity } from '../../../adapters/testing/index.ts'

const mebibyte = 1024 * 1024

afterEach(() => void vi.useRealTimers())

/** A body of 40 MiB of spaces, which then does as told. */
function bodyThat(goesOn: (controller: ReadableStreamDefaultController<Uint8Array>) => unknown, cut: () => void) {
  let sent = 0
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (sent++ < 40) controller.enqueue(new Uint8Array(mebibyte).fill(0x20))
      else await goesOn(controller)
    },
    cancel: cut,
  })
}

const post = (body: ReadableStream<Uint8Array>, headers: Readonly<Record<string, string>> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body,
  duplex: 'half' as const,
})

test('a body that is too long is read to its end before the response: its client sees the 413', async () => {
  const { request } = await testCommunity()
  const events: string[] = []
  const ends = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    events.push('read to its end')
    controller.close()
  }
  const response = await request('/tags', post(bodyThat(ends, () => events.push('cut off'))))
  expect([...events, response.status]).toEqual(['read to its end', 413])
})

test.each([
  ['no length', {}],
  ['a length that is too small', { 'content-length': '20' }],
])('a body with %s, too long and without an end, is cut off after 5 seconds', async (_, headers) => {
  const { request } = await testCommunity()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const events: string[] = []
  const stalled = Promise.withResolvers<void>()
  const stalls = () => {
    stalled.resolve()
    return new Promise(() => {})
  }
  const answered = request(
    '/tags',
    post(
      bodyThat(stalls, () => events.push('cut off')),
      headers,
    ),
  )
  await stalled.promise
  expect(events).toEqual([])
  await vi.advanceTimersByTimeAsync(5_000)
  expect([...events, (await answered).status]).toEqual(['cut off', 413])
})
