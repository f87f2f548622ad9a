/** The rows of webhook endpoints: the columns of a change, with the credentials encrypted, and what is shown of a row. */
import type { Chance } from '../../base/chance.ts'
import { suggestion } from '../../base/suggest.ts'
import { fail, invalid } from '../../errors.ts'
import { changeableFields } from '../../events/catalogue.ts'
import { chatOf, chatRates, shownUrl } from '../../outbox/chat.ts'
import { EncryptionError, hasEncrypted, howGiven, type KeyRing } from '../../outbox/encryption.ts'
import { attributeDefaults } from '../../outbox/endpoint-attributes.ts'
import { changedIn, conditionCount } from '../../outbox/filter.ts'
import { hasAuthorization } from '../../outbox/headers.ts'
import type { Patch } from '../../storage/contract.ts'
import type { ScopedTx } from '../../storage/scoped.ts'
import type { Id } from '../../storage/table.ts'
import { type EndpointRow, webhookEndpoints } from '../../storage/tables/administration.ts'
import type { Endpoint, RegisteredEndpoint } from './endpoint.ts'
import { type EndpointInput, eventTypes, newEndpointToken, newSecret } from './fields.ts'
import { newPrivateKey, publicKeysOf } from './public-keys.ts'
import { live } from './rotation.ts'

/** @throws ApiError 422 when another endpoint has this URL */
export async function keepApart(tx: ScopedTx, url: string | undefined, id: Id): Promise<void> {
  if (url === undefined) return
  const holder = (await tx.find(webhookEndpoints, {})).find((row) => row.url === url && row.id !== id)
  if (holder) fail(invalid('url'), `url has already been taken by endpoint ${holder.id}`)
}

/** Each event is compared with every endpoint of its network when a relay ingests it, and all networks wait for that. */
const mostEndpoints = 1000
const mostConditions = 5000

/**
 * @param before the endpoint that is changed; missing for a new one
 * @throws ApiError 422 when the network has too many endpoints, their filters too many conditions, or this one a field that never changes
 */
export async function keepBounded(tx: ScopedTx, { filter }: EndpointInput, before?: EndpointRow): Promise<void> {
  if (before && !filter) return
  const others = (await tx.find(webhookEndpoints, {})).filter(({ id }) => id !== before?.id)
  if (!before && others.length >= mostEndpoints)
    fail(
      invalid('network'),
      `network ${tx.network_id} has ${others.length} endpoints, the most that a network may have: remove one first`,
    )
  if (!filter) return
  const unknown = changedIn(filter).find((name) => !changeableFields.includes(name))
  if (unknown !== undefined)
    fail(
      invalid('filter'),
      `filter: no event names ${JSON.stringify(unknown.slice(0, 100))} as changed; ${suggestion(unknown, changeableFields)}`,
    )
  const conditions = [...others, { filter }].reduce((sum, each) => sum + (each.filter ? conditionCount(each.filter) : 0), 0)
  if (conditions > mostConditions)
    fail(
      invalid('filter'),
      `filter: the filters of a network's endpoints may have ${mostConditions} conditions together, and these are ${conditions}`,
    )
}

/** Whether something that was replaced holds no more. */
export const hasOver = ({ old_keys, old_secrets }: EndpointRow, now: number): boolean =>
  [old_keys, old_secrets].some((old) => (old?.length ?? 0) > (live(old, now)?.length ?? 0))

/** The columns that change: the token's is `key`. A token or secrets that are given outright end those before them. */
export async function columnsOf(
  chance: Chance,
  { events, token, secrets, headers, format, ...rest }: EndpointInput,
  before?: EndpointRow,
) {
  const withPair = async (given: readonly string[] | 'ed25519' | undefined) =>
    given !== 'ed25519' ? given : before?.public_keys ? undefined : [await newPrivateKey(chance)]
  const audience = rest.audience ?? before?.audience ?? attributeDefaults.audience
  const wanted = events === undefined ? (before?.events ?? null) : events
  const isSigned = before && before.secrets.length > 0
  const newToken = token === true ? (before?.key ? undefined : newEndpointToken(chance)) : token === null ? '' : token
  const newSecrets =
    secrets === true ? (isSigned ? undefined : [newSecret(chance)]) : secrets === null ? [] : await withPair(secrets)
  const chat = format === undefined ? undefined : chatOf(format)
  return {
    ...(chat && chat !== before?.format ? { rate_per_second: chatRates[chat] } : {}),
    ...rest,
    ...(chat === undefined ? {} : { format: chat }),
    events: eventTypes(wanted, audience),
    ...(newToken === undefined ? {} : { key: newToken, old_keys: null }),
    ...(newSecrets === undefined ? {} : { secrets: newSecrets, old_secrets: null, public_keys: await publicKeysOf(newSecrets) }),
    ...(headers === undefined ? {} : { headers: headersOf(headers) }),
  }
}

/** The credentials that were made for a call, and not given by it. */
export const madeOf = (
  given: EndpointInput,
  { key, secrets }: Patch<EndpointRow>,
): Pick<RegisteredEndpoint, 'token' | 'secrets'> => ({
  ...(given.token === true && key !== undefined ? { token: key } : {}),
  ...((given.secrets === true || given.secrets === 'ed25519') && secrets !== undefined ? { secrets } : {}),
})

/** Secrets that replace others: the given ones, or one of their kind. */
export async function secretsLike(
  chance: Chance,
  given: true | 'ed25519' | readonly string[],
  { public_keys }: EndpointRow,
): Promise<readonly string[]> {
  if (given !== true && given !== 'ed25519') return given
  return [given === 'ed25519' || public_keys !== null ? await newPrivateKey(chance) : newSecret(chance)]
}

/** Headers as they are stored; null for none. */
function headersOf(given: Exclude<EndpointInput['headers'], undefined>): EndpointRow['headers'] {
  const headers = Object.entries(given ?? {}).map(([name, value]) => ({ name, value }))
  return headers.length > 0 ? headers : null
}

/** @throws ApiError 422 when both the token and a header are to be `Authorization` */
export function keepOneAuthorization({ key, headers }: Pick<EndpointRow, 'key' | 'headers'>): void {
  if (key === '' || !hasAuthorization(headers ?? [])) return
  fail(
    invalid('headers'),
    'headers: `Authorization` is set from the token; give token: null to send your own, or remove the header',
  )
}

/** @throws ApiError 422 when a chat is to get what it cannot use */
export function refuseForChat({
  format,
  key,
  secrets,
  audience,
}: Pick<EndpointRow, 'format' | 'key' | 'secrets' | 'audience'>): void {
  if (format !== null && (key !== '' || secrets.length > 0 || audience === 'host'))
    fail(invalid('format'), `format ${format} goes with token null, secrets null and audience integration`)
}

/** @throws ApiError 422 when an endpoint in plain HTTP is to have what only TLS uses */
export function refusePlain({ url, client_identity, ca }: Pick<EndpointRow, 'url' | 'client_identity' | 'ca'>): void {
  if (!url.startsWith('http:')) return
  const named = [...(client_identity === null ? [] : ['client_identity']), ...(ca === null ? [] : ['ca'])]
  if (named.length > 0)
    fail(invalid(...named), `${named.join(' and ')} must be null for an http URL: only https uses certificates`)
}

/**
 * A person who may change an address must not get the token that way, at a server of their own. `true` is not a token given
 * again.
 * @throws ApiError 422 when an endpoint moves to another origin, and a token or headers that it has are not given again
 */
export function refuseMoved(before: EndpointRow, { url, key, headers, format }: Patch<EndpointRow>): void {
  if (before.format !== null && format === null && url === undefined)
    fail(invalid('url'), 'url must be given again: the format standard shows it')
  if (url === undefined || URL.parse(url)?.origin === URL.parse(before.url)?.origin) return
  const kept = [
    ...(before.key !== '' && key === undefined ? ['token'] : []),
    ...(before.headers !== null && headers === undefined ? ['headers'] : []),
  ]
  if (kept.length > 0)
    fail(
      invalid(...kept),
      `${kept.join(' and ')} must be given again, or null: url is at another server, which would get the old ones`,
    )
}

/** An endpoint without its credentials. */
export function show(
  { key: _key, secrets, old_keys, old_secrets, headers, public_keys, ...row }: EndpointRow,
  now: number,
): Endpoint {
  const last = (old: EndpointRow['old_keys']): string | null =>
    live(old, now)
      ?.map(({ until }) => until)
      .sort()
      .at(-1) ?? null
  return {
    ...row,
    url: shownUrl(row),
    format: row.format ?? 'standard',
    signed: secrets.length > 0,
    public_keys: public_keys ?? [],
    header_names: (headers ?? []).map(({ name }) => name),
    old_token_until: last(old_keys),
    old_secrets_until: last(old_secrets),
  }
}

/** A change of an endpoint with its credentials encrypted, those that stay included. */
export async function sealedColumns(
  encryption: KeyRing,
  before: EndpointRow,
  columns: Patch<EndpointRow>,
): Promise<Patch<EndpointRow>> {
  const { key = before.key, secrets = before.secrets, old_keys = before.old_keys, old_secrets = before.old_secrets } = columns
  const { headers = before.headers } = columns
  const { id, network_id } = before
  const sealed = await encryption.seal({ id, network_id, key, secrets, old_keys, old_secrets, headers })
  return {
    ...columns,
    ...{ key: sealed.key, secrets: sealed.secrets, old_keys: sealed.old_keys, old_secrets: sealed.old_secrets },
    headers: sealed.headers,
  }
}

/** Without an encryption key nothing new is written in plain text next to encrypted values: the key was forgotten. */
export async function refuseUnencrypted(encryption: KeyRing, tx: ScopedTx): Promise<void> {
  if (!encryption.isEmpty || !(await tx.find(webhookEndpoints, {})).some(hasEncrypted)) return
  throw new EncryptionError(`endpoints of network ${tx.network_id} are encrypted: give the encryption keys in ${howGiven}`)
}
