/** Lines of an outbox, made without the code that writes them. */
import { crc32 } from 'node:zlib'
import type { LinePart } from '../../lib/outbox/line.ts'
import type { OutboxRecord } from '../../lib/outbox/record.ts'
import { recordsText } from '../../lib/outbox/text.ts'

/** The bytes of one line, newline included. @param part which line of a large commit it is; without one it is a commit by itself */
export function encodeLine(records: readonly OutboxRecord[], part?: LinePart): Buffer {
  const rest = `${part ? `"part":${JSON.stringify(part)},` : ''}"records":${recordsText(records)}}`
  return Buffer.from(`{"crc":"${crc32(rest).toString(16).padStart(8, '0')}",${rest}\n`)
}
