/** The fields of calls about webhook endpoints, and how tokens and secrets are made. */
import * as v from 'valibot'
import { toBase64, toBase64url } from '../../base/bytes.ts'
import { type Chance, systemChance } from '../../base/chance.ts'
import { isPlain } from '../../base/describe-value.ts'
import { fail, invalid } from '../../errors.ts'
import { catalogue, hostCatalogue, hostEventName, webhookName } from '../../events/catalogue.ts'
import { similarNames } from '../../events/similar-names.ts'
import { integerBetween, listUpTo, optional, Title } from '../../fields.ts'
import { isEncrypted } from '../../outbox/encryption.ts'
import { attributes, isRate } from '../../outbox/endpoint-attributes.ts'
import { mostHeaderLength, mostHeaders, nameProblem } from '../../outbox/headers.ts'
import { type Audience, audiences, noticeTypes } from '../../outbox/values.ts'
import { NetworkName, shape } from '../arguments.ts'

const urlRule = 'must be an https (for development http) URL without user name and fragment, of at most 2048 characters'
const isUrl = (text: string): boolean => {
  const url = URL.parse(text)
  return (
    url !== null &&
    ['https:', 'http:'].includes(url.protocol) &&
    url.username + url.password + url.hash === '' &&
    url.href.length <= 2048
  )
}
const portRule = 'must have another port than 0, which no relay connects to'
const Url = v.pipe(
  v.string(urlRule),
  v.check(isUrl, urlRule),
  v.check((text) => URL.parse(text)?.port !== '0', portRule),
  v.transform((text) => new URL(text).href),
)

const tokenRule =
  'must be 1 to 512 printable ASCII characters without blanks, or true to make one; the word Bearer is put before it'
const Token = v.pipe(
  v.string(tokenRule),
  v.regex(/^[\x21-\x7e]{1,512}$/, tokenRule),
  v.check((token) => !isEncrypted(token), 'must be the token itself, and not an encrypted one'),
)

// Standard Webhooks: 24 to 64 random bytes in base64, or the private key of a pair: a seed, alone or with the public key.
const secretForms = 'whsec_ and 24 to 64 bytes in base64, or whsk_ and an ed25519 private key'
const secretRule = `must be ${secretForms}; or true to make one`
const secretPattern = /^(?:whsec_[A-Za-z0-9+/]{32,86}={0,2}|whsk_(?:[A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{86}==))$/
const Secret = v.pipe(v.string(secretRule), v.regex(secretPattern, secretRule))

const headerValue = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

/** The rule that headers break. Nothing of a value is in it. */
function headersProblem(given: unknown): string | undefined {
  if (!isPlain(given)) return 'must be a plain object of names and values, or null'
  const pairs = Object.entries(given)
  if (pairs.length > mostHeaders) return `must have at most ${mostHeaders} headers`
  const seen = new Set<string>()
  for (const [name, value] of pairs) {
    const shown = `header ${JSON.stringify(name.slice(0, 100))}`
    const problem = nameProblem(name)
    if (problem) return `: ${shown} ${problem}`
    if (seen.has(name.toLowerCase())) return `: ${shown} is there twice`
    seen.add(name.toLowerCase())
    if (typeof value !== 'string' || !headerValue.test(value))
      return `: the value of ${shown} must be printable ASCII, without line breaks and without blanks around it`
    if (isEncrypted(value)) return `: the value of ${shown} must be the value itself, and not an encrypted one`
  }
  const length = pairs.reduce((sum, [name, value]) => sum + name.length + String(value).length, 0)
  return length > mostHeaderLength ? `must have at most ${mostHeaderLength} characters together` : undefined
}
const Headers = v.custom<Readonly<Record<string, string>>>(
  (given) => headersProblem(given) === undefined,
  ({ input }) => headersProblem(input) ?? '',
)

const orMade = <S extends v.GenericSchema>(schema: S, rule: string) => v.union([v.literal(true), schema], rule)

/** The same fields, each of which may be left out. */
const allOptional = <F extends v.ObjectEntries>(fields: F) =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, v.optional(schema)])) as {
    readonly [K in keyof F]: v.OptionalSchema<F[K], undefined>
  }

/** The most secrets that sign one delivery, and the most event types that can be counted apart. */
const maxSecrets = 10
const maxEvents = 1000

const rateRule = 'must be above 0 and at most 10000, or null for no limit'

const secretsRule = `must each be ${secretForms}, ${maxSecrets} at most; or true to make one`
const secretList = v.pipe(v.array(Secret), v.maxLength(maxSecrets))
const secretsLike = <S extends v.GenericSchema>(list: S) => v.union([v.literal(true), v.literal('ed25519'), list], secretsRule)

/** The rules for a host's values that differ from those of a record. */
const narrower = {
  url: Url,
  name: v.nullish(v.pipe(Title, v.maxLength(255, 'must have at most 255 characters'))),
  token: v.nullable(orMade(Token, tokenRule)),
  events: v.nullish(listUpTo(v.string('must be an event type'), maxEvents, 'event types')),
  secrets: v.nullish(secretsLike(secretList)),
  headers: v.nullish(Headers),
  rate_per_second: v.nullish(
    v.pipe(
      v.number(rateRule),
      v.check((rate) => isRate(rate) && rate <= 10_000, rateRule),
    ),
  ),
}

const { key: _key, old_keys: _keys, old_secrets: _secrets, ...given } = { ...attributes, ...narrower }
const { url, ...fields } = given
const { token, ...others } = allOptional(fields)
const changes = { token, ...others }

/** Finds event types that do not exist, together with all other problems. */
const withTypes = <S extends v.GenericSchema<unknown, object>>(schema: S) =>
  v.pipe(
    schema,
    v.rawCheck<v.InferOutput<S>>(({ dataset, addIssue }) => {
      const value = dataset.value as { readonly events?: unknown; readonly audience?: unknown }
      const { events } = value
      const audience = audiences.find((each) => each === value.audience)
      const wrong = Array.isArray(events) ? events.find((name) => typeof name === 'string' && !typeOf(name, audience)) : undefined
      const step = { type: 'object', origin: 'value', input: dataset.value as never, key: 'events', value: events } as const
      if (wrong !== undefined) addIssue({ message: eventRule(wrong, audience), path: [step] })
    }),
  )

export const Upsert = withTypes(shape({ network: NetworkName, url, ...changes }))
/** The same for an endpoint that is not there yet. */
export const NewUpsert = withTypes(shape({ network: NetworkName, url, ...changes, token: fields.token }))
export const EndpointUpdate = withTypes(shape({ url: v.optional(url), ...changes }))
export const Rotation = shape({
  token: optional(orMade(Token, tokenRule)),
  secrets: optional(secretsLike(v.pipe(secretList, v.minLength(1, secretsRule)))),
  keepOldSeconds: optional(integerBetween(0, 30 * 86_400)),
})

export type EndpointInput = v.InferOutput<typeof EndpointUpdate>

/**
 * Event types as on the wire; each audience has its own. None of them: every one.
 * @throws ApiError 422
 */
export function eventTypes(names: readonly string[] | null, audience: Audience): readonly string[] | null {
  if (names === null || names.length === 0) return null
  const types = names.map((name) => typeOf(name, audience) ?? fail(invalid('events'), `events ${eventRule(name, audience)}`))
  return [...new Set(types)]
}

/** The event type of an audience, or of either, as on the wire. Every endpoint may want what the relay says about others. */
function typeOf(name: string, audience?: Audience): string | undefined {
  const known = (audience !== 'host' && webhookName(name)) || (audience !== 'integration' && hostEventName(name))
  return known ? `${known}Hook` : noticeTypes.find((type) => type === name || type === `${name}Hook`)
}

/** The rule that a name breaks, with what was meant or an example. */
function eventRule(name: string, audience?: Audience): string {
  const lists = [...(audience === 'host' ? [] : [catalogue]), ...(audience === 'integration' ? [] : [hostCatalogue])]
  const near = lists.map((list) => similarNames(name, Object.keys(list))).find(({ length }) => length > 0)
  const whose = audience ? ` of the audience ${audience}` : ''
  const example = audience === 'host' ? 'WelcomeEmailRequestedHook' : 'PostCreatedHook'
  const [such, remedy] = near
    ? ['', `; did you mean ${near.map((each) => `${each}Hook`).join(' or ')}?`]
    : [` such as ${example}`, '']
  return `must be event types${whose}${such}, got ${JSON.stringify(name.slice(0, 100))}${remedy}`
}

/** A signing secret of 32 random bytes. */
export const newSecret = (chance: Chance = systemChance): string => `whsec_${toBase64(chance.bytes(32))}`

/** An endpoint's token of 32 random bytes, in base64url. */
export const newEndpointToken = (chance: Chance = systemChance): string => toBase64url(chance.bytes(32))
