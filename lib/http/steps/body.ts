import { isDeep, maxLevels } from '../../base/nesting.ts'
import { sha256 } from '../../base/sha256.ts'
import { ApiError, badRequest, fail, tooLarge } from '../../errors.ts'
import type { Limits } from '../../limits.ts'
import { hostReadBody, type Incoming } from '../exchange.ts'
import type { Usage } from '../in-flight.ts'
import { maxFields, parseMultipart, tooManyFields } from '../multipart.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

const isJson = (type: string): boolean => /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)

/**
 * Reads a JSON body. An empty body is `undefined`, for every Content-Type.
 * @param usage counts its bytes while they arrive
 * @param limit largest body, in bytes
 * @param wanted the Content-Types that would have been right, for the sentence
 * @throws ApiError 413 too large, 415 not JSON, 400 broken JSON, 503 too much in flight
 */
export async function readJson(incoming: Incoming, usage: Usage, limit: number, wanted = 'application/json'): Promise<unknown> {
  refuseEncoded(incoming)
  const type = incoming.header('content-type')
  if (incoming.parsedBody !== undefined) {
    refuseDeep(incoming.parsedBody)
    if (sizeOfParsed(incoming, limit) > limit) fail(tooLargeBody(limit))
    return isJson(type ?? 'application/json') ? incoming.parsedBody : notJson(type, wanted)
  }
  const bytes = await readBytes(incoming, usage, limit)
  if (bytes.length === 0) return undefined
  if (type && !isJson(type)) return notJson(type, wanted)
  const parsed = parseJson(bytes)
  refuseDeep(parsed)
  return parsed
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch {
    fail(badRequest('The body is not valid JSON'))
  }
}

/** Much that works on a body goes down into it, and would have no end of stack. */
function refuseDeep(body: unknown): void {
  if (isDeep(body)) fail(badRequest(`The body is nested more than ${maxLevels} levels deep`))
}

/** An optional JSON body: other content counts as no body. */
export async function readOptionalJson(incoming: Incoming, usage: Usage, limit: number): Promise<unknown> {
  const type = incoming.header('content-type')
  return type && !isJson(type) ? undefined : readJson(incoming, usage, limit)
}

/** Nothing is inflated: a small body could become a huge one. */
function refuseEncoded(incoming: Incoming): void {
  const encoding = incoming.header('content-encoding')?.trim() ?? ''
  if (encoding === '' || encoding.toLowerCase() === 'identity') return
  throw new ApiError(415, { error: `Content-Encoding must be identity, got ${encoding.slice(0, 100)}. Send the body as it is` })
}

const notJson = (type: string | null, wanted: string): never => {
  throw new ApiError(415, { error: `Content-Type must be ${wanted}, got ${type?.slice(0, 100)}` })
}

async function readBytes(incoming: Incoming, usage: Usage, limit: number): Promise<Uint8Array> {
  const announced = Number(incoming.header('content-length') ?? 1)
  if (announced > limit) fail(tooLargeBody(limit))
  usage.requireRoom(Math.min(announced || 1, limit))
  let counted = 0
  const bytes = await incoming.read(limit, (arrived) => {
    usage.add(arrived)
    counted += arrived
  })
  if (!bytes) fail(tooLargeBody(limit))
  // A reader that reports nothing while it reads.
  if (bytes.length > counted) usage.add(bytes.length - counted)
  return bytes
}

const tooLargeBody = (limit: number) => tooLarge(`The body is larger than ${limit} bytes`)

/** How large a body was that the host has parsed: as announced, or else as it would be written again. */
function sizeOfParsed(incoming: Incoming, limit: number): number {
  const announced = Number(incoming.header('content-length') ?? Number.NaN)
  if (announced > limit || (announced >= 0 && incoming.header('content-encoding') === null)) return announced
  return JSON.stringify(incoming.parsedBody)?.length ?? 0
}

const isForm = (type: string | null): type is string => /^\s*multipart\/form-data\s*;/i.test(type ?? '')
const isUrlEncoded = (type: string | null): boolean => /^\s*application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type ?? '')
const formTypes = 'multipart/form-data with a boundary, application/x-www-form-urlencoded or application/json'

/**
 * Reads a form with files, or a form without any or a JSON body in its place. The fields of a form come as texts, its files as
 * `File`.
 * @param usage counts its bytes while they arrive
 * @param limits `assetBytes` for a form with all of its files, on top of `bodyBytes` for the rest of it, texts included
 * @throws ApiError 413 too large, 415 none of them, 400 broken, 503 too much in flight
 */
export async function readForm(incoming: Incoming, usage: Usage, limits: Limits): Promise<unknown> {
  const type = incoming.header('content-type')
  refuseEncoded(incoming)
  if (isUrlEncoded(type)) return readUrlEncoded(incoming, usage, limits.bodyBytes)
  if (!isForm(type)) return readJson(incoming, usage, limits.bodyBytes, formTypes)
  // A parser keeps no files, or keeps them where only the host finds them.
  if (incoming.parsedBody !== undefined) throw hostReadBody()
  const bytes = await readBytes(incoming, usage, limits.assetBytes + limits.bodyBytes)
  return nested(parseMultipart(bytes, type, limits.bodyBytes))
}

async function readUrlEncoded(incoming: Incoming, usage: Usage, limit: number): Promise<unknown> {
  const { parsedBody } = incoming
  if (typeof parsedBody === 'object' && parsedBody !== null) {
    refuseDeep(parsedBody)
    if (sizeOfParsed(incoming, limit) > limit) fail(tooLargeBody(limit))
    return nested(Object.entries(parsedBody))
  }
  const bytes = await readBytes(incoming, usage, limit)
  return nested(new URLSearchParams(new TextDecoder().decode(bytes)))
}

/** A field that was left empty: browsers send those too. */
const isLeftEmpty = (value: unknown): boolean => value === '' || (value instanceof File && value.name === '' && value.size === 0)

/** The fields of a form, those called `name[key]` gathered into an object; of a field that comes twice, the last. */
function nested(form: Iterable<[string, unknown]>): Record<string, unknown> {
  const fields = new Map<string, unknown>()
  const gathered = new Map<string, Record<string, unknown>>()
  let count = 0
  for (const [name, value] of form) {
    if (++count > maxFields) fail(tooManyFields)
    if (isLeftEmpty(value)) continue
    const [, outer, inner] = /^(\w+)\[(\w+)\]$/.exec(name) ?? []
    if (!outer || !inner) {
      fields.set(name, value)
      gathered.delete(outer ?? name)
      continue
    }
    // Without a prototype `__proto__` is a field like any other.
    const members: Record<string, unknown> = gathered.get(outer) ?? Object.create(null)
    members[inner] = value
    gathered.set(outer, members)
    fields.set(outer, members)
  }
  return Object.fromEntries(fields)
}

/** The value that equal forms share, for any boundary between their parts: each file by its name and digest. */
export async function printOf(form: unknown): Promise<unknown> {
  if (typeof form !== 'object' || form === null) return form
  const fields = Object.entries(form).map(async ([name, value]) =>
    value instanceof File ? [name, [value.name, await sha256(new Uint8Array(await value.arrayBuffer()))]] : [name, value],
  )
  return Object.fromEntries(await Promise.all(fields))
}
