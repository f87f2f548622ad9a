/**
 * The records of a commit as one JSON text, a list.
 *
 * The body of an event is the last member of its record: the object itself, behind its length. So JSON is not escaped inside of
 * JSON, and a reader takes exactly these characters. Earlier versions wrote the body as a string; a body that could be taken for
 * lines still is one.
 */
import type { EventRecord, OutboxRecord } from './record.ts'

export const lineStart = '{"crc":"'

/** The text between the facts of an event and its body, and how it begins. */
const lengthText = (length: number): string => `${lengthName}${length},"body":`
const lengthName = ',"body_length":'

export const recordsText = (records: readonly OutboxRecord[]): string => `[${records.map(recordText).join(',')}]`

function recordText(record: OutboxRecord): string {
  if (record.kind !== 'event' || !isWithinLine(record.body)) return JSON.stringify(record)
  const facts = JSON.stringify({ ...record, body: undefined }).slice(0, -1)
  return `${facts}${lengthText(record.body.length)}${record.body}}`
}

/** Whether a body can be a piece of a line, and no search for lines finds one in it. */
const isWithinLine = (body: unknown): boolean =>
  typeof body === 'string' && body.startsWith('{') && body.endsWith('}') && !body.includes('\n') && !body.includes(lineStart)

/** An event as its text is parsed. */
export interface ParsedEvent extends Omit<EventRecord, 'body'> {
  readonly body_length: number
  readonly body: object
}

/** The bodies of events as they were parsed with their records, for filters: none is parsed twice. */
const parsedBodies = new WeakMap<EventRecord, object>()

/** The body of an event, parsed. One that was a text in its record, as of earlier versions, is parsed here. */
export function parsedBody(event: EventRecord): unknown {
  const known = parsedBodies.get(event)
  if (known) return known
  const parsed: unknown = JSON.parse(event.body)
  if (typeof parsed === 'object' && parsed !== null) parsedBodies.set(event, parsed)
  return parsed
}

/**
 * Finds the bodies of events, which must be read in their order.
 * @param text the text of a commit
 * @returns the event with its body as a text, character by character; `undefined` where its `body_length`, or that of an earlier event, is wrong
 */
export function bodiesIn(text: string): (event: ParsedEvent) => EventRecord | undefined {
  let behind = 0
  return ({ body_length, body: parsed, ...event }) => {
    const before = lengthText(body_length)
    const at = text.indexOf(lengthName, behind)
    const start = at + before.length
    const body = text.slice(start, start + body_length)
    behind = start + body_length
    // The record ends behind its body.
    if (text.startsWith(`${before}{`, at) && /^\}\}[\],]/.test(text.slice(behind - 1, behind + 2))) {
      const record = { ...event, body }
      parsedBodies.set(record, parsed)
      return record
    }
    // Another search could find the body of another event.
    behind = text.length
    return undefined
  }
}
