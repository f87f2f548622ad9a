import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { bytesOf } from '../../../adapters/utf8.ts'
import { decodeLine, encodeCommits, isDamaged } from '../../../lib/outbox/line.ts'
import type { EventRecord, OutboxRecord } from '../../../lib/outbox/record.ts'
import { encodeLine } from '../../support/outbox-line.ts'

const event = (body: string): EventRecord => ({
  kind: 'event',
  network_id: '1',
  event_id: '0b5c4f5e-7b1c-4f5e-9b1c-4f5e7b1c4f5e',
  event_type: 'PostCreatedHook',
  event_timestamp: '2026-11-20T10:00:00.000Z',
  audience: 'integration',
  body,
})

const piecesOf = (commits: readonly (readonly OutboxRecord[])[]) => [...encodeCommits(commits, crc32, bytesOf)]
const lineOf = (records: readonly OutboxRecord[]) => Buffer.concat(piecesOf([records]))
const read = (line: Uint8Array) => decodeLine(line.subarray(0, -1), crc32)

// Around 256 KiB, in characters and in bytes, the text goes another way to its bytes.
test.each([
  ['short', 'a "quoted" text'],
  ['wide', 'Straße – 日本 – 👩‍🚀'],
  ['long', 'x'.repeat(270_000)],
  ['short in characters and long in bytes', '–'.repeat(140_000)],
  ['long and wide', '👩‍🚀'.repeat(90_000)],
])('a line comes back as it was written: %s', (_, body) => {
  const line = lineOf([event(body)])
  expect(line.at(-1)).toBe(0x0a)
  const text = new TextDecoder().decode(line)
  const rest = line.subarray('{"crc":"01234567",'.length, -1)
  expect(text.slice(0, 18)).toBe(`{"crc":"${crc32(rest).toString(16).padStart(8, '0')}",`)
  expect(JSON.parse(text).records).toEqual([event(body)])
  expect(isDamaged(read(line))).toBe(false)
  // The same as a piece of JSON.
  const json = event(JSON.stringify({ payload: { text: body } }))
  expect(read(lineOf([json]))).toEqual({ records: [json], unusable: [] })
})

test('an event has its body as JSON, which comes back character by character', () => {
  const bodies = ['{"b":1.0,"a":{"2":[],"1":{}} , "a":"\\u00e4–"}', '{}', '{"a":[{"body_length":2,"body":{}},{}]}', '{"a":"}}]"}']
  const endpoint = { kind: 'endpoint', action: 'remove', id: '7', network_id: '1' } as const
  const records = [endpoint, ...bodies.map((body) => event(body)), endpoint, { ...event('{"z":1}'), subject: 'post:"1"' }]
  const line = lineOf(records)
  expect(JSON.parse(new TextDecoder().decode(line)).records[2]).toMatchObject({ event_id: event('').event_id, body: {} })
  expect(read(line)).toEqual({ records, unusable: [] })
})

test.each([
  ['of two lines', '{"a":\n1}'],
  ['that a search for lines would find', '{"payload":{"crc":"01234567","records":[]}}'],
])('a body %s is a string', (_, body) => {
  const line = lineOf([event(body)])
  expect(JSON.parse(new TextDecoder().decode(line)).records).toEqual([event(body)])
  expect(read(line)).toEqual({ records: [event(body)], unusable: [] })
})

test('a line is not changed by the next one', () => {
  const [first] = piecesOf([[event('first')]])
  const kept = first?.slice()
  piecesOf([[event('second')]])
  expect(kept).toBeDefined()
  expect(first).toEqual(kept)
})

test('the lines of commits together are the bytes of each line, one behind the other', () => {
  const texts = ['first', '–'.repeat(60_000), 'Straße', 'x'.repeat(100_000), '–'.repeat(140_000), 'x'.repeat(270_000), 'last']
  const commits = texts.map((text) => [event(text)])
  const pieces = piecesOf(commits)
  const kept = pieces.map((piece) => piece.slice())
  piecesOf([[event('another')]])
  expect(pieces).toEqual(kept)
  expect(pieces.length).toBeLessThan(texts.length)
  expect(Buffer.concat(pieces).equals(Buffer.concat(commits.map((records) => encodeLine(records))))).toBe(true)
})

test('several records of one commit share a line, and a large commit has several', () => {
  const few = [event('one'), event('two')]
  expect(lineOf(few).equals(encodeLine(few))).toBe(true)
  const many = Array.from({ length: 4 }, () => event('x'.repeat(100_000)))
  const lines = lineOf(many).toString().trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).part.last)).toEqual([false, true])
  expect(lines.flatMap((line) => JSON.parse(line).records)).toEqual(many)
})

test('a line beyond 16 MiB is refused', () => {
  expect(() => piecesOf([[event('x'.repeat(16 * 1024 * 1024))]])).toThrow(RangeError)
})
