/** Whose fault it is when something cannot be written: the record's, or the database's. */

/** Classes of SQLSTATE about values: data exceptions, constraints, and limits such as the length of an index entry. */
const aboutValues = /^(22|23|54)/

/**
 * Whether a record may be to blame for an error, so that the others are ingested without it. A database that is full, locked
 * or away is never the record's fault: the same will work later.
 */
export function isRecordsFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error && typeof error.code === 'string') return aboutValues.test(error.code)
  // Code of ours that did not reckon with a value.
  return error instanceof TypeError || error instanceof RangeError
}
