import * as v from 'valibot'
import { ApiError } from '../errors.ts'
import type { Fields, TextLimits } from '../fields.ts'

/** At most this many problems are named in one error. */
const maxProblems = 5

/**
 * Checks a body or a query against its schema.
 * @param whole what is checked, for a sentence about all of it
 * @returns what the schema makes of it; unknown fields are left out
 * @throws ApiError 422 with a sentence that names every field that is wrong
 */
export function parseInput<S extends v.GenericSchema>(
  schema: S,
  input: unknown,
  limits: TextLimits,
  whole = 'The body',
): v.InferOutput<S> {
  // PHP writes an object without properties as `[]`.
  const isEmptyList = Array.isArray(input) && input.length === 0
  if (Array.isArray(input) && !isEmptyList) throw new ApiError(422, { error: `${whole} must be a JSON object, not a list` })
  // The limits ride in Valibot's configuration, to which it lets each schema's checks look. Not by `safeParse`: that copies
  // only its own keys, and the limits would be lost.
  const dataset = schema['~run']({ value: isEmptyList ? {} : (input ?? {}) }, { limits } as v.Config<v.InferIssue<S>>)
  if (!dataset.issues) return dataset.value
  const problems = [...new Set(dataset.issues.map((issue) => sentence(v.getDotPath(issue) || whole, messageOf(issue))))]
  const named = problems.slice(0, maxProblems)
  // The number of further problems is unknown, because lists are not read to their end.
  const more = problems.length > named.length ? ['and more'] : []
  throw new ApiError(422, { error: [...named, ...more].join('; ') })
}

// Schemas are made once, not for every request.
const querySchemas = new WeakMap<Fields, v.GenericSchema>()
const queryMessage = (issue: v.ObjectIssue): string => (issue.path ? 'is required' : 'must be an object')

/**
 * Checks the parameters of a query, declared as fields.
 * @throws ApiError 422 with a sentence that names every parameter that is wrong
 */
export function parseQuery(fields: Fields, query: object, limits: TextLimits): unknown {
  const schema = querySchemas.get(fields) ?? v.object(fields, queryMessage)
  querySchemas.set(fields, schema)
  return parseInput(schema, query, limits)
}

// The schemas of records have no custom sentences: only the host's own calls are checked by them.
const messageOf = ({ message, expected, received }: v.BaseIssue<unknown>): string => {
  if (!message.startsWith('Invalid ')) return message
  return received === 'undefined' ? 'is required' : `must be ${expected}, got ${received.slice(0, 100)}`
}

const sentence = (what: string, message: string): string => `${what}${message.startsWith(':') ? '' : ' '}${message}`
