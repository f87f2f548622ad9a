import { expect, test } from 'vitest'
import { crc32 } from '../../../lib/base/crc32.ts'
import { decodeLine, encodeLine, isDamaged } from '../../../lib/outbox/line.ts'
import type { EventRecord } from '../../../lib/outbox/record.ts'

const event = (body: string): EventRecord => ({
  kind: 'event',
  network_id: '1',
  event_id: '0b5c4f5e-7b1c-4f5e-9b1c-4f5e7b1c4f5e',
  event_type: 'PostCreatedHook',
  event_timestamp: '2026-11-20T10:00:00.000Z',
  audience: 'integration',
  body,
})

// Around 64 KiB, in characters and in bytes, the text goes another way to its bytes.
test.each([
  ['short', 'a "quoted" text'],
  ['wide', 'Straße – 日本 – 👩‍🚀'],
  ['long', 'x'.repeat(70_000)],
  ['short in characters and long in bytes', '–'.repeat(40_000)],
  ['long and wide', '👩‍🚀'.repeat(30_000)],
])('a line comes back as it was written: %s', (_, body) => {
  const line = encodeLine([event(body)])
  expect(line.at(-1)).toBe(0x0a)
  const text = new TextDecoder().decode(line)
  const rest = line.subarray('{"crc":"01234567",'.length, -1)
  expect(text.slice(0, 18)).toBe(`{"crc":"${crc32(rest).toString(16).padStart(8, '0')}",`)
  expect(JSON.parse(text).records).toEqual([event(body)])
  expect(isDamaged(decodeLine(line.subarray(0, -1)))).toBe(false)
})

test('a line is not changed by the next one', () => {
  const first = encodeLine([event('first')])
  const kept = first.slice()
  encodeLine([event('second')])
  expect(first).toEqual(kept)
})
