import { fail, found, invalid } from '../errors.ts'
import { hostEventName, webhookName } from '../events/catalogue.ts'
import { isoTime } from '../kernel/clock.ts'
import type { Runner } from '../kernel/run.ts'
import type { Settings } from '../options.ts'
import type { Audience, EndpointUpsert } from '../outbox/record.ts'
import { heldNetwork } from '../rules/members.ts'
import type { Id } from '../storage/table.ts'
import { type EndpointRow, webhookEndpoints } from '../storage/tables.ts'

/** A webhook endpoint to be (specification, section 6, setup). */
export interface NewEndpoint {
  readonly network_id: Id
  readonly url: string
  /** Sent as `Authorization: Bearer <key>`. */
  readonly key: string
  /** Event types that it wants, with or without `Hook`; every one when left out. */
  readonly events?: readonly string[]
  /** Signing secrets (`whsec_…`), newest first. */
  readonly secrets?: readonly string[]
  /** `host` for the host application's own endpoint, which gets the mail to send; `integration` by default. */
  readonly audience?: EndpointRow['audience']
  readonly enabled?: boolean
  readonly order?: EndpointRow['order']
  readonly rate_per_second?: number | null
}

export interface Endpoints {
  /**
   * Registers an endpoint, or changes the one of this network with the same URL. The relay learns of it through the outbox.
   * @throws ApiError 422 when one of the values is refused
   */
  upsert(endpoint: NewEndpoint): Promise<EndpointRow>
  list(network_id: Id): Promise<readonly EndpointRow[]>
  /** @throws ApiError 404 when the network has no such endpoint */
  remove(network_id: Id, id: Id): Promise<EndpointRow>
  /** Puts every endpoint of a network into the outbox again, for a relay that has lost what it knew. */
  republish(network_id: Id): Promise<void>
}

export function endpointsOf({ clock }: Settings, runner: Runner): Endpoints {
  const now = () => isoTime(clock.now())
  return {
    upsert: ({ network_id, ...given }) =>
      runner.work(network_id, now(), async (tx) => {
        const fields = checked(given)
        // One endpoint for each address, and one order for what the relay is told of them.
        await heldNetwork(tx)
        const known = (await tx.find(webhookEndpoints, {})).find((row) => row.url === fields.url)
        const stamp = { id: runner.newId(), created_at: now(), updated_at: now() }
        const row = known
          ? await tx.update(webhookEndpoints, known.id, { ...fields, updated_at: now() })
          : await tx.insert(webhookEndpoints, { ...stamp, ...fields })
        const endpoint = found(row, 'Endpoint')
        await tx.append([upsertOf(endpoint)])
        return endpoint
      }),
    list: (network_id) => runner.read(network_id, (tx) => tx.find(webhookEndpoints, {})),
    remove: (network_id, id) =>
      runner.work(network_id, now(), async (tx) => {
        await heldNetwork(tx)
        const row = found(await tx.remove(webhookEndpoints, id), 'Endpoint')
        await tx.append([{ kind: 'endpoint', action: 'remove', id, network_id }])
        return row
      }),
    republish: (network_id) =>
      runner.work(network_id, now(), async (tx) => {
        await heldNetwork(tx)
        const rows = await tx.find(webhookEndpoints, {})
        if (rows.length > 0) await tx.append(rows.map(upsertOf))
      }),
  }
}

/** Standard Webhooks: 24 to 64 random bytes in base64 behind `whsec_`. */
const secretPattern = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/

function checked(given: Omit<NewEndpoint, 'network_id'>) {
  const {
    url,
    key,
    events,
    secrets = [],
    audience = 'integration',
    enabled = true,
    order = 'none',
    rate_per_second = null,
  } = given
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !['https:', 'http:'].includes(parsed.protocol) || parsed.username || parsed.password || parsed.hash)
    return fail(invalid('url'), 'url must be an https address without user name and fragment')
  if (!/^[\x21-\x7e]{1,512}$/.test(key))
    return fail(invalid('key'), 'key must be 1 to 512 printable ASCII characters without blanks')
  if (!secrets.every((secret) => secretPattern.test(secret)))
    return fail(invalid('secrets'), 'secrets must each be whsec_ and 24 to 64 bytes in base64')
  if (audience !== 'integration' && audience !== 'host') return fail(invalid('audience'), 'audience must be integration or host')
  if (order !== 'none' && order !== 'fifo') return fail(invalid('order'), 'order must be none or fifo')
  if (rate_per_second !== null && !(rate_per_second > 0 && rate_per_second <= 10_000))
    return fail(invalid('rate_per_second'), 'rate_per_second must be above 0 and at most 10000, or null for no limit')
  const types = events?.map((name) => eventType(name, audience)) ?? null
  return { url: parsed.href, key, events: types, secrets: [...secrets], audience, enabled, order, rate_per_second }
}

/** An event type as it stands on the wire; each audience has its own. */
function eventType(name: string, audience: Audience): string {
  const known = audience === 'host' ? hostEventName(name) : webhookName(name)
  const example = audience === 'host' ? 'WelcomeEmailRequestedHook' : 'PostCreatedHook'
  return known
    ? `${known}Hook`
    : fail(invalid('events'), `events must be event types such as ${example}, got ${JSON.stringify(name)}`)
}

const upsertOf = (row: EndpointRow): EndpointUpsert => ({
  kind: 'endpoint',
  action: 'upsert',
  id: row.id,
  network_id: row.network_id,
  url: row.url,
  key: row.key,
  secrets: row.secrets,
  events: row.events,
  audience: row.audience,
  enabled: row.enabled,
  order: row.order,
  rate_per_second: row.rate_per_second,
})
