/** Whose fault it is when something cannot be written: the record's, or the database's. */

/** SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_RANGE: what is written, not where. */
const aboutValues = new Set([18, 19, 20, 25])

/**
 * Whether a record may be to blame for an error, so that the others are ingested without it. A database that is full, locked,
 * broken or away is never the record's fault: the same will work later.
 */
export function isRecordsFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('errcode' in error && typeof error.errcode === 'number') return aboutValues.has(error.errcode & 0xff)
  // A value that cannot be bound, or code of ours that did not reckon with one.
  return error instanceof TypeError || error instanceof RangeError
}
