/**
 * Whether records of the outbox can be used. Writers in this package write nothing else; a relay still reads what another
 * version, a restored backup or a hand in the database has left there, and one bad record must cost itself and nothing more.
 *
 * Every event of the relay passes here, so the checks are written out instead of going through a schema.
 */
import type { OutboxRecord } from './record.ts'

/** A record that cannot be used, and what is known about it. */
export interface Unusable {
  /** What is wrong with it, in words. Nothing of its values is in them: they may be secrets. */
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
/** What a field must be, or undefined when it is. */
type Problem = string | undefined

/** So many unusable records of one commit are told one by one. */
const toldOneByOne = 10
/** The longest body, in characters: no line of an outbox directory is longer. */
const maxBody = 16 * 1024 * 1024
const id = /^\d{1,20}$/
const eventId = /^[\x20-\x7e]{1,200}$/
const typeName = /^\w{1,100}$/
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/
const printable = /^[\x20-\x7e]{1,4096}$/

const matches = (value: unknown, pattern: RegExp): value is string => typeof value === 'string' && pattern.test(value)
const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
const isList = (value: unknown, most: number, pattern: RegExp): boolean =>
  Array.isArray(value) && value.length <= most && value.every((each) => matches(each, pattern))

/** Sorts the records of a commit into those that can be used, in their order, and the others. */
export function checkRecords(list: readonly unknown[]): CheckedRecords {
  // The rule is that all of them can, and then nothing is copied.
  if (list.every((record) => problemOf(record) === undefined)) return { records: list as readonly OutboxRecord[], unusable: [] }
  const records: OutboxRecord[] = []
  const unusable: Unusable[] = []
  let more = 0
  for (const record of list) {
    const problem = problemOf(record)
    if (problem === undefined) records.push(record as OutboxRecord)
    else if (unusable.length < toldOneByOne) unusable.push(told(record, problem))
    else more++
  }
  const rest = { reason: `${more} more records cannot be used`, network_id: null, endpoint_id: null, event_id: null }
  return { records, unusable: more === 0 ? unusable : [...unusable, rest] }
}

/** An unusable record without anything that is too long, or that nobody expects in a message. */
function told(record: unknown, problem: string): Unusable {
  const fields = isObject(record) ? record : {}
  const known = (name: string, pattern: RegExp): string | null => (matches(fields[name], pattern) ? fields[name] : null)
  const kind = fields['kind'] === 'event' ? 'an event' : fields['kind'] === 'endpoint' ? 'an endpoint' : 'a record'
  return {
    reason: `${kind} cannot be used: ${problem}`,
    network_id: known('network_id', id),
    endpoint_id: fields['kind'] === 'endpoint' ? known('id', id) : null,
    event_id: known('event_id', eventId),
  }
}

/** What is wrong with a record, or undefined when it can be used. */
function problemOf(record: unknown): Problem {
  if (!isObject(record)) return 'it is no JSON object'
  const { kind, action } = record
  if (kind === 'event') return networkProblem(record) ?? eventProblem(record)
  if (kind !== 'endpoint') return 'this version does not know its `kind`'
  if (action === 'remove') return networkProblem(record) ?? idProblem(record)
  if (action !== 'upsert') return 'this version does not know its `action`'
  return networkProblem(record) ?? idProblem(record) ?? endpointProblem(record)
}

const networkProblem = ({ network_id }: Fields): Problem =>
  matches(network_id, id) ? undefined : '`network_id` must be digits in a text'
const idProblem = (fields: Fields): Problem => (matches(fields['id'], id) ? undefined : '`id` must be digits in a text')

const audienceProblem = ({ audience }: Fields): Problem =>
  audience === 'integration' || audience === 'host' ? undefined : '`audience` must be integration or host'

function eventProblem(fields: Fields): Problem {
  const { event_id, event_type, event_timestamp, subject, body } = fields
  if (!matches(event_id, eventId)) return '`event_id` must be 1 to 200 printable ASCII characters'
  if (!matches(event_type, typeName)) return '`event_type` must be a name of at most 100 characters'
  if (!matches(event_timestamp, time)) return '`event_timestamp` must be a time in ISO 8601'
  if (subject !== undefined && !matches(subject, eventId)) return '`subject` must be 1 to 200 printable ASCII characters'
  return audienceProblem(fields) ?? bodyProblem(body)
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

function endpointProblem(fields: Fields): Problem {
  const { name, url, key, secrets, old_keys, old_secrets, events, enabled, order, rate_per_second } = fields
  if (name != null && !isName(name)) return '`name` must be null or a text of at most 1000 characters'
  if (!isWebAddress(url)) return '`url` must be an https or http address'
  if (!matches(key, printable)) return '`key` must be 1 to 4096 printable ASCII characters'
  if (!isList(secrets, 100, printable)) return '`secrets` must be a list of texts'
  if (!isReplaced(old_keys)) return '`old_keys` must be a list of values and the times until which they hold'
  if (!isReplaced(old_secrets)) return '`old_secrets` must be a list of values and the times until which they hold'
  if (events !== null && !isList(events, 1000, typeName)) return '`events` must be null or a list of event types'
  if (typeof enabled !== 'boolean') return '`enabled` must be true or false'
  if (order !== 'none' && order !== 'fifo' && order !== 'subject') return 'this version does not know its `order`'
  if (
    rate_per_second !== null &&
    !(typeof rate_per_second === 'number' && rate_per_second > 0 && Number.isFinite(rate_per_second))
  )
    return '`rate_per_second` must be null or a number above 0'
  return audienceProblem(fields)
}

const isName = (name: unknown): boolean =>
  typeof name === 'string' && name.length <= 1000 && name.isWellFormed() && !name.includes('\0')

/** Keys or secrets that were replaced; the field may be missing. */
const isReplaced = (old: unknown): boolean =>
  old === undefined ||
  (Array.isArray(old) &&
    old.length <= 100 &&
    old.every((one) => isObject(one) && matches(one['value'], printable) && matches(one['until'], time)))

function isWebAddress(url: unknown): boolean {
  if (typeof url !== 'string' || url.length > 8192 || !url.isWellFormed() || url.includes('\0') || !URL.canParse(url))
    return false
  return ['https:', 'http:'].includes(new URL(url).protocol)
}

/** What is known about a record that was fit to be used, and that the store refused. */
export const refused = (record: OutboxRecord, why: string): Unusable => told(record, `the store refuses it (${why})`)
