/** Records of another server: nothing about them is certain but that they are objects. */

/** A record as it came. */
export type ApiRecord = Readonly<Record<string, unknown>>

export const isApiRecord = (value: unknown): value is ApiRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The record within a record; an empty one if it is missing. */
export function within(record: ApiRecord, name: string): ApiRecord {
  const value = record[name]
  return isApiRecord(value) ? value : {}
}

/** The records of a list within a record. */
export function listIn(record: ApiRecord, name: string): readonly ApiRecord[] {
  const value = record[name]
  return Array.isArray(value) ? value.filter(isApiRecord) : []
}

/** A text without what databases refuse: NUL and halves of surrogate pairs. */
export const storableText = (text: string): string => text.toWellFormed().replaceAll('\0', '')

/** The value as a text that can be stored; empty for any other type. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? storableText(value) : typeof value === 'number' ? String(value) : ''

/** An address that is shown whole; `undefined` for a hidden or masked one. */
export function shownAddress(value: unknown): string | undefined {
  const address = textOf(value)
  return address === '' || address.includes('*') ? undefined : address
}
