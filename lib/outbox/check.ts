/**
 * Whether records of the outbox can be used. Writers in this package write only valid records. But a relay also reads records
 * of other versions, restored backups and manual edits. One bad record must not affect the others. The one
 * exception is a wrong length of a body: the later events of its commit cannot be found by theirs.
 *
 * Every event of the relay passes here, so the checks of events are written out. Those of endpoints follow from their schema.
 */
import * as v from 'valibot'
import { attributes, isoTime, requiredCapabilities, typeName } from './endpoint-attributes.ts'
import { areFieldNames, fieldNamesRule } from './filter.ts'
import { hasAuthorization } from './headers.ts'
import { mostErasedIds, type OutboxRecord } from './record.ts'
import { bodiesIn, type ParsedEvent } from './text.ts'
import { audiences } from './values.ts'

/** An unusable record, and the known facts about it. */
export interface Unusable {
  /** The problem, in words. Nothing of its values is in them: they may be secrets. */
  readonly reason: string
  readonly network_id: string | null
  readonly endpoint_id: string | null
  readonly event_id: string | null
}

export interface CheckedRecords {
  readonly records: readonly OutboxRecord[]
  /** Those that cannot be used, each of the first ones by itself and the others counted in the last one. */
  readonly unusable: readonly Unusable[]
}

type Fields = Readonly<Record<string, unknown>>
/** The rule that a field breaks, or undefined. */
type Problem = string | undefined

/** This many unusable records of one commit are reported one by one. */
const reportedOneByOne = 10
/** The longest body, in characters: no line of an outbox directory is longer. */
const maxBody = 16 * 1024 * 1024
const id = /^\d{1,20}$/
const eventId = /^[\x20-\x7e]{1,200}$/

const matches = (value: unknown, pattern: RegExp): value is string => typeof value === 'string' && pattern.test(value)
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Sorts the records of a commit into those that can be used, in their order, and the others.
 * @param list what its JSON text gives
 * @param text the JSON text, or one that has it inside: the bodies of events are pieces of it
 */
export function checkRecords(list: readonly unknown[], text = ''): CheckedRecords {
  const bodies = bodiesIn(text)
  const records: OutboxRecord[] = []
  const unusable: Unusable[] = []
  let more = 0
  for (const given of list) {
    let problem = problemOf(given)
    const record = problem !== undefined || !isParsed(given) ? given : bodies(given)
    if (record === undefined) problem = 'its `body_length`, or that of an earlier event of the commit, is wrong'
    if (problem === undefined) records.push(record as OutboxRecord)
    else if (unusable.length < reportedOneByOne) unusable.push(describe(given, problem))
    else more++
  }
  const rest = { reason: `${more} more records cannot be used`, network_id: null, endpoint_id: null, event_id: null }
  return { records, unusable: more === 0 ? unusable : [...unusable, rest] }
}

/** Whether a usable record is an event whose body is still an object. */
const isParsed = (record: unknown): record is ParsedEvent => isObject(record) && isObject(record['body'])

const kinds: ReadonlyMap<unknown, string> = new Map([
  ['event', 'an event'],
  ['endpoint', 'an endpoint'],
  ['erasure', 'an erasure'],
])

/** An unusable record without anything that is too long, or that is unexpected in a message. */
function describe(record: unknown, problem: string): Unusable {
  const fields = isObject(record) ? record : {}
  const known = (name: string, pattern: RegExp): string | null => (matches(fields[name], pattern) ? fields[name] : null)
  const kind = kinds.get(fields['kind']) ?? 'a record'
  return {
    reason: `${kind} cannot be used: ${problem}`,
    network_id: known('network_id', id),
    endpoint_id: fields['kind'] === 'endpoint' ? known('id', id) : null,
    event_id: known('event_id', eventId),
  }
}

/** The problem of a record, or undefined if it can be used. */
function problemOf(record: unknown): Problem {
  if (!isObject(record)) return 'it is not a JSON object'
  const { kind, action } = record
  if (kind === 'event') return networkProblem(record) ?? eventProblem(record)
  if (kind === 'erasure') return networkProblem(record) ?? erasureProblem(record)
  if (kind !== 'endpoint') return 'its `kind` is unknown to this version'
  if (action === 'remove') return networkProblem(record) ?? idProblem(record)
  if (action !== 'upsert') return 'its `action` is unknown to this version'
  return networkProblem(record) ?? idProblem(record) ?? endpointProblem(record)
}

const networkProblem = ({ network_id }: Fields): Problem =>
  matches(network_id, id) ? undefined : '`network_id` must be digits in a text'
const idProblem = (fields: Fields): Problem => (matches(fields['id'], id) ? undefined : '`id` must be digits in a text')

const erasureProblem = ({ ids }: Fields): Problem =>
  Array.isArray(ids) && ids.length >= 1 && ids.length <= mostErasedIds && ids.every((each) => matches(each, id))
    ? undefined
    : `\`ids\` must be a list of 1 to ${mostErasedIds} texts of digits`

function eventProblem(fields: Fields): Problem {
  const { event_id, event_type, event_timestamp, subject, changed, audience, body } = fields
  if (!matches(event_id, eventId)) return '`event_id` must be 1 to 200 printable ASCII characters'
  if (!matches(event_type, typeName)) return '`event_type` must be a name of at most 100 characters'
  if (!matches(event_timestamp, isoTime)) return '`event_timestamp` must be a time in ISO 8601'
  if (subject !== undefined && !matches(subject, eventId)) return '`subject` must be 1 to 200 printable ASCII characters'
  if (changed !== undefined && !areFieldNames(changed)) return `\`changed\` ${fieldNamesRule}`
  if (!audiences.some((each) => each === audience)) return 'its `audience` is unknown to this version'
  return isObject(body) ? undefined : bodyProblem(body)
}

function bodyProblem(body: unknown): Problem {
  const problem = '`body` must be the JSON text of an object'
  if (typeof body !== 'string' || body.length > maxBody || !body.isWellFormed()) return problem
  try {
    const parsed: unknown = JSON.parse(body)
    return isObject(parsed) ? undefined : problem
  } catch {
    return problem
  }
}

const Endpoint = v.object({ ...attributes, requires: requiredCapabilities })

function endpointProblem(fields: Fields): Problem {
  const { issues: [issue] = [], output } = v.safeParse(Endpoint, fields, { abortEarly: true })
  if (!issue) return oneAuthorization(output as v.InferOutput<typeof Endpoint>)
  const name = `\`${v.getDotPath(issue)}\``
  if (issue.received === 'undefined') return `${name} is missing`
  return issue.type === 'picklist' ? `its ${name} is unknown to this version` : `${name} ${issue.message}`
}

const oneAuthorization = ({ key, headers }: v.InferOutput<typeof Endpoint>): Problem =>
  key !== '' && hasAuthorization(headers ?? []) ? '`headers` has an `Authorization`, which is set from its `key`' : undefined

/** The description of a valid record that the store refused. */
export const refused = (record: OutboxRecord, why: string): Unusable => describe(record, `the store refuses it (${why})`)
