/**
 * Filters of endpoints: which events they want, by their payloads and by what they have changed. A filter is checked when it is
 * given, and evaluated once for each event, at ingest.
 */

import { nearest } from '../base/suggest.ts'

/** A value of a payload. Ids are texts there: a number equals the same text. */
export type FilterValue = string | number | boolean | null

/** A condition on the value that a JSON pointer (RFC 6901) names in the payload. */
export type FilterCondition = {
  /** A JSON pointer into the payload, such as `/author/id`. */
  readonly path: string
} & (
  | {
      /** The value, or one of a list there, is this one. Numbers equal the same text. */
      readonly equals: FilterValue
    }
  | {
      /** The value, or one of a list there, is one of these: at most 100. */
      readonly in: readonly FilterValue[]
    }
  | {
      /** `true`: there is a value, also null; `false`: there is none. */
      readonly exists: boolean
    }
  | {
      /** The value, or one of a list there, begins with this text. */
      readonly prefix: string
    }
)

/** Which payloads an endpoint wants: one condition, or several joined by `all`, `any` and `not`. */
export type Filter =
  | {
      /** Every one of these must hold. */
      readonly all: readonly Filter[]
    }
  | {
      /** At least one of these must hold. */
      readonly any: readonly Filter[]
    }
  | {
      /** This must not hold. */
      readonly not: Filter
    }
  | {
      /** At least one of these public fields was changed by the event, which is an update. */
      readonly changed: readonly string[]
    }
  | FilterCondition

const mostConditions = 20
const mostDepth = 8
const mostValues = 100
const longest = 256

const operators = ['equals', 'in', 'exists', 'prefix'] as const
const known: readonly string[] = ['all', 'any', 'not', 'changed', 'path', ...operators]
type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
const isValue = (value: unknown): boolean =>
  value === null || typeof value === 'boolean' || Number.isFinite(value) || (typeof value === 'string' && value.length <= longest)
const isPointer = (path: unknown): boolean =>
  typeof path === 'string' && path.length <= longest && /^(?:\/(?:[^~/]|~[01])*)*$/.test(path)

/** Whether these are names of fields, as an event and a filter have them. */
export const areFieldNames = (given: unknown): given is readonly string[] =>
  Array.isArray(given) &&
  given.length > 0 &&
  given.length <= mostValues &&
  given.every((name) => typeof name === 'string' && /^\w{1,100}$/.test(name))

/** The rule for names of fields, as the end of a sentence. */
export const fieldNamesRule = `must be a list of 1 to ${mostValues} names of fields`

/** What each operator takes, as the end of a sentence. */
const rules: Readonly<Record<(typeof operators)[number], readonly [(given: unknown) => boolean, string]>> = {
  equals: [isValue, `must be a text of at most ${longest} characters, a number, true, false or null`],
  in: [
    (given) => Array.isArray(given) && given.length > 0 && given.length <= mostValues && given.every(isValue),
    `must be a list of 1 to ${mostValues} texts, numbers, true, false or null`,
  ],
  exists: [(given) => typeof given === 'boolean', 'must be true or false'],
  prefix: [
    (given) => typeof given === 'string' && given.length > 0 && given.length <= longest,
    `must be a text of 1 to ${longest} characters`,
  ],
}

/** The name that no condition has, and what was meant. */
function stranger(names: readonly string[]): string {
  const unknown = names.find((name) => !known.includes(name))
  if (unknown === undefined) return ''
  const near = nearest(unknown, known)
  const meant = near.length > 0 ? `, did you mean ${near.join(' or ')}?` : ''
  return `; ${JSON.stringify(unknown.slice(0, 40))} is none of them${meant}`
}

export function conditionCount(filter: Filter): number {
  if ('not' in filter) return conditionCount(filter.not)
  const list = 'all' in filter ? filter.all : 'any' in filter ? filter.any : undefined
  return list ? list.reduce((sum, each) => sum + conditionCount(each), 0) : 1
}

/** The mistake in a filter with its place, as the end of a sentence that begins with `filter`; `undefined` if there is none. */
export function filterProblem(given: unknown): string | undefined {
  let conditions = 0
  const counted = () => (++conditions > mostConditions ? `must have at most ${mostConditions} conditions` : undefined)
  const at = (place: string, rule: string) => (place === '' ? rule : `at ${place} ${rule}`)
  function problem(node: unknown, place: string, depth: number): string | undefined {
    const within = (name: string) => (place === '' ? name : `${place}.${name}`)
    if (!isObject(node)) return at(place, 'must be an object with all, any, not, changed, or a path')
    if (depth > mostDepth) return at(place, `is nested deeper than ${mostDepth} levels`)
    const names = Object.keys(node)
    const [name = ''] = names
    if (names.length === 1 && name === 'not') return problem(node[name], within(name), depth + 1)
    if (names.length === 1 && (name === 'all' || name === 'any')) {
      const list = node[name]
      if (!Array.isArray(list) || list.length === 0 || list.length > mostConditions)
        return at(within(name), `must be a list of 1 to ${mostConditions} conditions`)
      for (const [index, each] of list.entries()) {
        const found = problem(each, `${within(name)}[${index}]`, depth + 1)
        if (found) return found
      }
      return undefined
    }
    if (names.length === 1 && name === 'changed') return areFieldNames(node[name]) ? counted() : at(within(name), fieldNamesRule)
    const given = operators.filter((operator) => Object.hasOwn(node, operator))
    const [operator] = given
    if (!operator || names.length !== 2 || !Object.hasOwn(node, 'path'))
      return at(
        place,
        `must have one of all, any, not and changed, or a path and one of equals, in, exists and prefix${stranger(names)}`,
      )
    if (!isPointer(node['path']))
      return at(within('path'), `must be a JSON pointer such as /space_id, of at most ${longest} characters`)
    const [holds, rule] = rules[operator]
    if (!holds(node[operator])) return at(within(operator), rule)
    return counted()
  }
  return problem(given, '', 1)
}

/** The fields in a filter's conditions on what was changed. */
export function changedIn(filter: Filter): readonly string[] {
  if ('not' in filter) return changedIn(filter.not)
  if ('changed' in filter) return filter.changed
  return ('all' in filter ? filter.all : 'any' in filter ? filter.any : []).flatMap(changedIn)
}

/** Whether a filter has a condition on the fields that were changed. */
export const usesChanged = (filter: Filter): boolean => changedIn(filter).length > 0

/**
 * Whether an event is what a filter wants.
 * @param changed the names of the fields that it has changed
 */
export function matchesFilter(filter: Filter, payload: unknown, changed: readonly string[] = []): boolean {
  if ('all' in filter) return filter.all.every((each) => matchesFilter(each, payload, changed))
  if ('any' in filter) return filter.any.some((each) => matchesFilter(each, payload, changed))
  if ('not' in filter) return !matchesFilter(filter.not, payload, changed)
  if ('changed' in filter) return filter.changed.some((name) => changed.includes(name))
  const found = isAt(payload, filter.path.split('/').map(unescaped), 1, testOf(filter))
  return 'exists' in filter ? found === filter.exists : found
}

type Test = (value: unknown) => boolean

/** What a condition is looked for in: a value, or each element of a list. */
function testOf(condition: FilterCondition): Test {
  if ('exists' in condition) return () => true
  const test = elementTest(condition)
  return (value) => (Array.isArray(value) ? value.some(test) : test(value))
}

function elementTest(condition: Exclude<FilterCondition, { readonly exists: boolean }>): Test {
  if ('prefix' in condition) return (each) => isText(each) && String(each).startsWith(condition.prefix)
  const wanted = new Set<unknown>(('in' in condition ? condition.in : [condition.equals]).map(comparable))
  return (each) => wanted.has(comparable(each))
}

const unescaped = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~')
const isText = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number'
const comparable = (value: unknown): unknown => (isText(value) ? String(value) : value)

/**
 * Whether a test holds for a value at a place. A name within a list is looked for in each of its elements. Nothing is copied: a
 * payload may have long lists, and a network many conditions.
 */
function isAt(value: unknown, path: readonly string[], at: number, test: Test): boolean {
  const token = path[at]
  if (token === undefined) return test(value)
  if (Array.isArray(value)) {
    if (/^(?:0|[1-9]\d{0,9})$/.test(token)) return Number(token) < value.length && isAt(value[Number(token)], path, at + 1, test)
    return value.some((each) => isObject(each) && isAt(each, path, at, test))
  }
  return isObject(value) && Object.hasOwn(value, token) && isAt(value[token], path, at + 1, test)
}
