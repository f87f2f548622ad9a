/**
 * How the host's calls check their arguments: all problems collected, in one error. Unknown fields and arguments that are not
 * objects are mistakes of the program, a `TypeError`. Refused values are an `ApiError` 422.
 */
import * as v from 'valibot'
import { isPlain, kind } from '../base/describe-value.ts'
import { isStorableId } from '../base/ids.ts'
import { suggestion } from '../base/suggest.ts'
import { fail, invalid, isApiError } from '../errors.ts'
import { type Fields, IdInput, type TextLimits } from '../fields.ts'
import { parseInput } from '../kernel/check.ts'
import type { Id } from '../storage/table.ts'

/** The object of these fields, as a call takes it. */
export const shape = <const F extends Fields>(fields: F) =>
  v.object(fields, (issue: v.ObjectIssue) => (issue.path || issue.input === undefined ? 'is required' : 'must be an object'))

/** At most this many fields that do not exist are named. */
const maxNamed = 5

/** What a call would do without these. So they may be left out, and `undefined` in their place is a mistake. */
const stated: Readonly<Record<string, string>> = {
  as: "the network's first host would act",
  if: 'the call would not be compared with its preview',
  member_id: "the network's first host would act",
  expires_at: 'the key would never expire',
  secret: 'no new secret would be made',
  secrets: 'deliveries would be signed as before, or not at all',
}

/**
 * Checks the argument of a call.
 * @param call the call's name, for the message
 * @param schema made by `shape`
 * @throws TypeError when it is no object, has fields that do not exist, or `undefined` for one of `stated`
 * @throws ApiError 422 that names every field whose value is refused
 */
export function checkArgument<S extends v.GenericSchema>(
  call: string,
  schema: S,
  given: unknown,
  limits: TextLimits,
): v.InferOutput<S> {
  if (!isPlain(given)) throw new TypeError(`${call}: the argument must be an object with ${namesOf(schema)}, got ${kind(given)}`)
  const unknownNames = unknownFields(schema, given, '').slice(0, maxNamed)
  const unset = Object.entries(stated).find(([name]) => name in given && Reflect.get(given, name) === undefined)
  if (unset && unknownNames.length === 0)
    throw new TypeError(`${call}: field \`${unset[0]}\` is undefined, so ${unset[1]}: set it, or leave it out if you mean that`)
  let checked: v.InferOutput<S> | undefined
  let problems: string | undefined
  try {
    checked = parseInput(schema, given, limits, call)
  } catch (error) {
    if (!isApiError(error) || unknownNames.length === 0) throw error
    problems = error.message
  }
  if (unknownNames.length > 0) throw new TypeError(`${call}: ${[...unknownNames, ...(problems ? [problems] : [])].join('; ')}`)
  return checked as v.InferOutput<S>
}

interface SchemaParts {
  readonly type: string
  readonly entries?: Readonly<Record<string, v.GenericSchema>>
  readonly wrapped?: v.GenericSchema
  readonly item?: v.GenericSchema
  readonly pipe?: readonly v.GenericSchema[]
}

/** The schema inside optional and transformed ones. */
function inner(schema: v.GenericSchema): SchemaParts {
  const { pipe, wrapped } = schema as unknown as SchemaParts
  const next = pipe?.[0] ?? wrapped
  return next && next !== schema ? inner(next) : (schema as unknown as SchemaParts)
}

const namesOf = (schema: v.GenericSchema): string => Object.keys(inner(schema).entries ?? {}).join(', ')

/** The fields that a schema does not have, as sentences. It follows the schema, not the value, so that it ends. */
function unknownFields(schema: v.GenericSchema, given: unknown, path: string): readonly string[] {
  const { entries, item } = inner(schema)
  if (item && Array.isArray(given)) {
    for (const [index, value] of given.entries()) {
      const unknownNames = unknownFields(item, value, `${path}${index}.`)
      if (unknownNames.length > 0) return unknownNames
    }
    return []
  }
  if (!entries || !isPlain(given)) return []
  return Object.entries(given).flatMap(([name, value]) => {
    const known = Object.hasOwn(entries, name) ? entries[name] : undefined
    if (known) return unknownFields(known, value, `${path}${name}.`)
    return [`field \`${path}${name.slice(0, 50)}\` does not exist; ${suggestion(name.slice(0, 50), Object.keys(entries))}`]
  })
}

/** Names and values of a host. Of a Map or a Date `v.record` would see none. */
export const recordOf = <const S extends v.GenericSchema>(values: S, rule = 'must be a plain object') =>
  v.pipe(v.custom<Readonly<Record<string, v.InferInput<S>>>>(isPlain, rule), v.record(v.string(), values, rule))

/** A network as the host names it, by id or subdomain; whether there is one is checked later. */
export const NetworkName = v.pipe(
  v.union([v.string(), v.number()], 'must be the id or subdomain of a network'),
  v.transform(String),
)

/** The id of a record to be. */
export const NewId = v.pipe(
  v.union([v.string(), v.number()], 'must be an id'),
  v.transform(String),
  v.check(isStorableId, 'must be a whole number of at most 9007199254740991'),
)

/** The `next` of a page before, where that is an id. */
export const PlaceInput = v.pipe(IdInput, v.check(isStorableId, 'must be the `next` of a page'))

/**
 * An id that a call takes as a separate argument.
 * @throws ApiError 422
 */
export function idOf(given: unknown): Id {
  const { success, output } = v.safeParse(IdInput, given)
  return success
    ? output
    : fail(
        invalid('id'),
        `id must be an id of digits, got ${typeof given === 'string' ? JSON.stringify(given.slice(0, 40)) : kind(given)}`,
      )
}
