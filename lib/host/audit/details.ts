/** The details of a line: bounded JSON that can be stored and shown everywhere. */
import { isSame } from '../../storage/changes.ts'

/** Names of fields, and what can be said of each. */
export type Details = Readonly<Record<string, unknown>>

const mostTextCharacters = 200
const mostItems = 100
const mostDepth = 3
/** Characters of all details as JSON. */
const mostCharacters = 8000

/** A text without characters that a terminal or a database takes for more than text: each is written as `\u001b`. */
export function plainText(text: string, most: number): string {
  const escaped = text
    .slice(0, most)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return escaped.length > most ? `${escaped.slice(0, most - 1).toWellFormed()}…` : escaped
}

function shortText(text: string): string {
  const plain = plainText(text, mostTextCharacters)
  return text.length > mostTextCharacters ? `${plain.slice(0, mostTextCharacters - 1).toWellFormed()}…` : plain
}

/** An address without its query, which may hold a token. */
const addressOf = (text: string): string => (/^https?:\/\/[^?]*\?/i.test(text) ? `${text.slice(0, text.indexOf('?'))}?…` : text)

function small(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return shortText(addressOf(value))
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object') return undefined
  if (depth === 0) return '…'
  if (Array.isArray(value)) {
    const items = value.slice(0, mostItems).map((each) => small(each, depth - 1) ?? null)
    return value.length > mostItems ? [...items, `… ${value.length - mostItems} more`] : items
  }
  return fieldsOf(value, depth - 1)
}

const fieldsOf = (value: object, depth: number): Details =>
  Object.fromEntries(
    Object.entries(value)
      .slice(0, mostItems)
      .map(([name, each]) => [plainText(name, 100), small(each, depth)])
      .filter(([, each]) => each !== undefined),
  )

/** Details as they are stored. Of too many only the names are kept. */
export function detailsOf(given: Details): Details {
  const details = fieldsOf(given, mostDepth)
  if (JSON.stringify(details).length <= mostCharacters) return details
  return Object.fromEntries(Object.keys(details).map((name) => [name, '…']))
}

interface FieldChange {
  readonly from: unknown
  readonly to: unknown
}

const isChange = (value: unknown): value is FieldChange =>
  typeof value === 'object' && value !== null && Object.keys(value).toSorted().join() === 'from,to'

function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(' ')
  return typeof value === 'string' ? value : value === null ? 'none' : JSON.stringify(value)
}

/** Details in a line for people: `title: Demo → Paint Pals, rate_per_second: none → 5`. What isn't set is left out. */
export const detailsText = (details: Details): string =>
  Object.entries(details)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => {
      const shown = isChange(value) ? `${valueText(value.from)} → ${valueText(value.to)}` : valueText(value)
      return `${name}: ${shown}`
    })
    .join(', ')

/** The fields that differ, with the value before and the value after. */
export function differences<R extends object>(before: R, after: R, names: readonly (keyof R & string)[]): Details {
  const different = names.filter((name) => !isSame(before[name], after[name]))
  return Object.fromEntries(different.map((name) => [name, { from: before[name], to: after[name] }]))
}
