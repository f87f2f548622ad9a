/** The differences between two values of JSON, of shape and of value. */
import { isApiRecord } from '../api-record.ts'

/** One difference. A missing field is `undefined`. */
export interface Difference {
  /** The path of the request, below the network. */
  readonly path: string
  /** The place in the response, such as `items[101].creator.name`. */
  readonly field: string
  readonly a: unknown
  readonly b: unknown
}

/** How values are compared. */
export interface Rules {
  /** The addresses of both servers: a text that begins with one of them is compared without it. */
  readonly bases: readonly string[]
  /** Fields that are left out: a name, or a place without its ids. */
  readonly ignored: ReadonlySet<string>
}

const maxDepth = 64

function withoutBase(text: string, bases: readonly string[]): string {
  const base = bases.find((each) => text.startsWith(`${each}/`) || text === each)
  return base === undefined ? text : text.slice(base.length)
}

function isIgnored(field: string, ignored: ReadonlySet<string>): boolean {
  // A name of a server may be many opening brackets: each starts over, so that none is searched twice.
  const names = field.replace(/\[[^[\]]*\]/g, '').split('.')
  const place = names.filter((name) => name !== 'items' && name !== '').join('.')
  return ignored.has(place) || ignored.has(names.at(-1) ?? '')
}

export function compare(
  a: unknown,
  b: unknown,
  field: string,
  rules: Rules,
  onDifference: (field: string, a: unknown, b: unknown) => void,
  depth = 0,
): void {
  if (Object.is(a, b) || isIgnored(field, rules.ignored) || depth > maxDepth) return
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let index = 0; index < Math.max(a.length, b.length); index++)
      compare(a[index], b[index], `${field}[${index}]`, rules, onDifference, depth + 1)
    return
  }
  if (isApiRecord(a) && isApiRecord(b)) {
    for (const name of new Set([...Object.keys(a), ...Object.keys(b)]))
      compare(a[name], b[name], field === '' ? name : `${field}.${name}`, rules, onDifference, depth + 1)
    return
  }
  const isSameText = typeof a === 'string' && typeof b === 'string' && withoutBase(a, rules.bases) === withoutBase(b, rules.bases)
  if (!isSameText) onDifference(field, a, b)
}
