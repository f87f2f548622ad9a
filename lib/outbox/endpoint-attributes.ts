/**
 * A webhook endpoint: every attribute once, as a schema. From it follow the record of the outbox and its check, the storage's
 * table, and the rows of the relay's stores. The host's calls follow from it as well.
 *
 * An attribute that is added is `v.nullish(…)`: the records and rows of earlier versions do not have it. A message is the end
 * of a sentence that begins with the attribute's name. It never contains the value, which may be a secret.
 */
import * as v from 'valibot'
import { isAddressRange } from '../base/reach.ts'
import { type Filter, filterProblem } from './filter.ts'
import { areHeaderNames, type Header, mostHeaders } from './headers.ts'
import { audiences, formats, orders } from './values.ts'

/** A key or a signing secret that was replaced and stays valid with the new one for a time. */
export interface ReplacedSecret {
  /** The old key or secret; a relay may have it encrypted. */
  readonly value: string
  /** ISO 8601, UTC. Relays stop using it at this time by their own clock. */
  readonly until: string
}

/** The form of an event type in a record. */
export const typeName = /^\w{1,100}$/
/** ISO 8601 with `Z` or an offset. */
export const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/
const printable = /^[\x20-\x7e]{1,4096}$/
/** What can sign: at least 24 bytes, or the private key of a pair (a seed, alone or with the public key). Hosts may give less. */
const signing = /^(?:whsec_[A-Za-z0-9+/]{32,4088}={0,2}|whsk_(?:[A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{86}==))$/
const secretPattern = new RegExp(`${signing.source}|^encrypted:[\\x20-\\x7e]{1,4086}$`)

/** Whether a secret in plain text can sign. */
export const canSign = (secret: string): boolean => signing.test(secret)

const matching = (pattern: RegExp, rule?: string) => v.pipe(v.string(rule), v.regex(pattern, rule))
const oneOf = <const T extends readonly string[]>(values: T) => v.picklist(values, `must be one of ${values.join(', ')}`)

/** A text that every database can store. */
const text = (most: number, rule: string) =>
  v.pipe(
    v.string(rule),
    v.maxLength(most, rule),
    v.check((value) => value.isWellFormed() && !value.includes('\0'), rule),
  )

/** A list whose length is checked before its items. */
const list = <T>(item: v.GenericSchema<T>, most: number, rule: string) =>
  v.custom<readonly T[]>((given) => Array.isArray(given) && given.length <= most && given.every((each) => v.is(item, each)), rule)

const replaced = (pattern: RegExp, rule: string) =>
  list<ReplacedSecret>(
    v.object({
      value: matching(pattern),
      until: v.pipe(
        matching(isoTime),
        v.check((time) => !Number.isNaN(Date.parse(time))),
      ),
    }),
    100,
    rule,
  )
const secretForms = '`whsec_` and at least 24 bytes in base64, or `whsk_` and an ed25519 private key'
const headersRule = `must be null or a list of at most ${mostHeaders} headers that the relay does not set itself`
const aHeader = v.object({ name: v.string(), value: matching(/^[\x20-\x7e]{1,6000}$/) })
const headers = v.pipe(
  list<Header>(aHeader, mostHeaders, headersRule),
  v.check((given) => areHeaderNames(given.map(({ name }) => name)), headersRule),
)
const mostAddresses = 100
const addressesRule = `must be null or a list of 1 to ${mostAddresses} addresses or ranges, such as 10.0.3.5 and 10.0.3.0/24`
const addresses = v.pipe(
  list(v.pipe(v.string(), v.check(isAddressRange)), mostAddresses, addressesRule),
  v.check((given) => given.length > 0, addressesRule),
)
/** The names of client identities and authorities. */
export const tlsName = /^[\w.-]{1,100}$/
const tlsNameRule = 'must be null or 1 to 100 letters, digits, dots, hyphens and underscores'
const urlRule = 'must be an https or http address'
const rateRule = 'must be null or a number above 0'

/** Whether a number is a rate: above 0, and with a finite time between two deliveries. */
export const isRate = (rate: number): boolean => rate > 0 && Number.isFinite(rate) && Number.isFinite(1000 / rate)

export const attributes = {
  /** Its name in lists and logs; null for none. */
  name: v.nullish(text(1000, 'must be null or a text of at most 1000 characters')),
  /** Where webhooks are posted. */
  url: v.pipe(
    text(8192, urlRule),
    v.check((url) => ['https:', 'http:'].includes(URL.parse(url)?.protocol ?? ''), urlRule),
  ),
  /** Sent as `Authorization: Bearer <key>`. Empty for none: then `headers` may have an `Authorization` of their own. */
  key: matching(/^[\x20-\x7e]{0,4096}$/, 'must be at most 4096 printable ASCII characters'),
  /** Signing secrets (`whsec_…`), newest first; none: unsigned. */
  secrets: list(matching(secretPattern), 100, `must be a list of secrets, each ${secretForms}`),
  /** Keys that were replaced, newest first: tried when the key is refused. Missing: none. */
  old_keys: v.optional(replaced(printable, 'must be a list of keys with the times of their end')),
  /** Secrets that were replaced, newest first: they sign as well. Missing: none. */
  old_secrets: v.optional(replaced(secretPattern, `must be a list of secrets, each ${secretForms}, with the times of their end`)),
  /** Headers that every delivery has as well; null: none. */
  headers: v.nullish(headers),
  /** Event types (`PostCreatedHook`) that it wants; null: every one of its audience. */
  events: v.nullable(list(matching(typeName), 1000, 'must be null or a list of event types')),
  /** Which payloads it wants of these events; null: all. */
  filter: v.nullish(
    v.custom<Filter>(
      (given) => filterProblem(given) === undefined,
      ({ input }) => filterProblem(input) ?? '',
    ),
  ),
  /** Of the addresses that the relay's settings allow, those that it is sent to; null: all of them. */
  allow_addresses: v.nullish(addresses),
  /** The client certificate that it is sent with, by its name in the relay's settings; null: none. */
  client_identity: v.nullish(matching(tlsName, tlsNameRule)),
  /** The private authority that alone is trusted for its certificate, by its name in the relay's settings; null: the usual ones. */
  ca: v.nullish(matching(tlsName, tlsNameRule)),
  /** `host` for the host application's own endpoint, which gets the mail to send; `integration` by default. */
  audience: oneOf(audiences),
  /** The body of a delivery; null: `standard`. Any other one is a message for people, and its URL is a secret. */
  format: v.nullish(oneOf(formats)),
  /** When `false`, events queue up and nothing is sent. */
  enabled: v.boolean('must be true or false'),
  /** `fifo`: the oldest event first, and never two in parallel. `subject`: the same for the events about one subject. */
  order: oneOf(orders),
  /** At most this many deliveries a second; null: no limit. */
  rate_per_second: v.nullable(v.pipe(v.number(rateRule), v.check(isRate, rateRule))),
}

/** What a relay must know to send to an endpoint: no attribute, because it follows from them. */
export const requiredCapabilities = v.optional(list(matching(/^[\w.:-]{1,100}$/), 100, 'must be a list of at most 100 words'))

/** The stored value of an omitted attribute. A nullable one is null. */
export const attributeDefaults = { audience: 'integration', enabled: true, order: 'none' } as const

/** Secret attributes: only the receiver and the relay may read them. */
export const credentialNames = [
  'key',
  'secrets',
  'old_keys',
  'old_secrets',
  'headers',
] as const satisfies readonly AttributeName[]

type Attributes = typeof attributes
export type AttributeName = keyof Attributes
export type CredentialName = (typeof credentialNames)[number]
type Value<K extends AttributeName> = v.InferOutput<Attributes[K]>
type Omittable = { [K in AttributeName]: undefined extends Value<K> ? K : never }[AttributeName]

export type RecordedAttributes = { readonly [K in keyof Attributes as Exclude<K, Omittable>]: Value<K> } & {
  readonly [K in keyof Attributes as Extract<K, Omittable>]?: Exclude<Value<K>, undefined>
}

/** The attributes in a row: each is there, and null where a record leaves it out. */
export type StoredAttributes = {
  readonly [K in keyof Attributes]: undefined extends Value<K> ? Exclude<Value<K>, undefined> | null : Value<K>
}

/** The attributes as a host may change them; credentials have other rules. */
export type AttributeChanges = { readonly [K in keyof Attributes as Exclude<K, CredentialName>]?: Exclude<Value<K>, undefined> }

const names = Object.keys(attributes) as AttributeName[]

/**
 * A row's attributes as a record has them. An optional attribute that is null is omitted, so that earlier versions can read the
 * record.
 */
export function recordedOf(row: StoredAttributes): RecordedAttributes {
  const there = names.filter((name) => row[name] != null || !['optional', 'nullish'].includes(attributes[name].type))
  // Only optional attributes are omitted.
  return Object.fromEntries(there.map((name) => [name, row[name]])) as unknown as RecordedAttributes
}
