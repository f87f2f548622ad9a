import * as v from 'valibot'
import { ApiError, badRequest, fail } from '../errors.ts'
import type { TextLimits } from '../fields.ts'
import type { Incoming } from './exchange.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

const isJson = (type: string): boolean => /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)

/**
 * Reads a JSON body. None at all is `undefined`, whatever the Content-Type says.
 * @param limit largest body, in bytes
 * @throws ApiError 413 too large, 415 not JSON, 400 broken JSON
 */
export async function readJson(incoming: Incoming, limit: number): Promise<unknown> {
  const type = incoming.header('content-type')
  if (incoming.parsedBody !== undefined) return isJson(type ?? 'application/json') ? incoming.parsedBody : notJson(type)
  if (Number(incoming.header('content-length') ?? 0) > limit) tooLarge(limit)
  const bytes = await incoming.read(limit)
  if (!bytes) return tooLarge(limit)
  if (bytes.length === 0) return undefined
  if (type && !isJson(type)) return notJson(type)
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch {
    return fail(badRequest('The body is not valid JSON'))
  }
}

/** A JSON body where one is only a courtesy: what is not JSON counts as none. */
export async function readOptionalJson(incoming: Incoming, limit: number): Promise<unknown> {
  const type = incoming.header('content-type')
  return type && !isJson(type) && incoming.parsedBody === undefined ? undefined : readJson(incoming, limit)
}

const notJson = (type: string | null): never => {
  throw new ApiError(415, { error: `Content-Type must be application/json, got ${type?.slice(0, 100)}` })
}

const tooLarge = (limit: number): never => {
  throw new ApiError(413, { error: `The body is larger than ${limit} bytes` })
}

/** At most this many problems are told at once. */
const mostProblems = 5

/**
 * Checks a body or a query against its schema.
 * @returns what the schema makes of it; unknown fields are left out
 * @throws ApiError 422 with a sentence that names every field that is wrong
 */
export function parseInput<S extends v.GenericSchema>(schema: S, input: unknown, limits: TextLimits): v.InferOutput<S> {
  if (Array.isArray(input)) throw new ApiError(422, { error: 'The body must be a JSON object, not a list' })
  // The limits ride in Valibot's configuration, to which it lets each schema's checks look.
  const result = v.safeParse(schema, input ?? {}, { limits } as v.Config<v.InferIssue<S>>)
  if (result.success) return result.output
  const problems = result.issues.map((issue) => sentence(v.getDotPath(issue), issue.message))
  const told = problems.slice(0, mostProblems)
  const more = problems.length > told.length ? [`and ${problems.length - told.length} more`] : []
  throw new ApiError(422, { error: [...told, ...more].join('; ') })
}

const sentence = (path: string | null, message: string): string => (path ? `${path} ${message}` : `The body ${message}`)
