/** The bytes of pages, whose text may be long. */
import buffer from 'node:buffer'
import type { PgResult } from '../../sql/postgres/connection.ts'

/** Shorter texts stay text: a server may send them together with the headers, as one piece. */
const shortLength = 4_096

/** By way of UTF-16, as a text beyond Latin-1 is in memory: a third of the time of `Buffer.from`. */
const transcoded = (text: string): Buffer => {
  const bytes = buffer.transcode(Buffer.from(text, 'utf16le'), 'utf16le', 'utf8')
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes)
}

/** Not every runtime has the function, and one that has it may throw. */
function transcodes(): boolean {
  const text = 'Sea 🌊, 海'
  try {
    return transcoded(text).equals(Buffer.from(text))
  } catch {
    return false
  }
}

/** The bytes of a text. */
export const bytesOf: (text: string) => Buffer = transcodes() ? transcoded : (text) => Buffer.from(text)

/** The answer with a page, whose text is bytes if it is long. */
export function longInBytes(answer: PgResult): PgResult {
  const [[text, ...others] = []] = answer.rows
  if (typeof text !== 'string' || text.length <= shortLength) return answer
  return { ...answer, rows: [[bytesOf(text), ...others]] }
}
