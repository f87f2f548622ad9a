/** How a message names a value that was refused. */
import { withoutPassword } from './without-password.ts'

/** The kind of a value in a word or two; the value itself may be anything. */
export function kind(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'a list'
  if (typeof (value as { readonly then?: unknown }).then === 'function') return 'a Promise: await it'
  if (typeof value !== 'object') return `a ${typeof value}`
  return isPlain(value) ? 'an object' : `a ${tagOf(value)}`
}

const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice('[object '.length, -1)

/** Whether a value is an object whose own names are its content, as opposed to a list, a Map, Headers, a Date and the like. */
export const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> => tagOf(value) === 'Object'

/** The value if it is short and plain, else its kind. */
export function shown(value: unknown): string {
  if (typeof value === 'string')
    return value.length > 100 ? `a text of ${value.length} characters` : JSON.stringify(withoutPassword(value))
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : kind(value)
}
