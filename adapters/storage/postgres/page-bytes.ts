/** Long pages as bytes. */
import type { PgResult } from '../../sql/postgres/connection.ts'
import { bytesOf } from '../../utf8.ts'

/** Shorter texts stay text: a server may send them together with the headers, as one piece. */
const shortLength = 4_096

/** The answer with a page, whose text is bytes if it is long. */
export function longInBytes(answer: PgResult): PgResult {
  const [[text, ...others] = []] = answer.rows
  if (typeof text !== 'string' || text.length <= shortLength) return answer
  return { ...answer, rows: [[bytesOf(text), ...others]] }
}
