/** The commands that open the storage, do one thing, and close it again: networks, keys, endpoints. */
import type { NetworkRow } from '../../lib/index.ts'
import type { Output } from '../output.ts'
import { tableOf } from './old-table.ts'
import { networkOf, type StorageFlags, withOperator } from './operator.ts'

const show = (out: Output, json: boolean | undefined, value: unknown, text: () => string): void =>
  out.line(json ? JSON.stringify(value) : text())

export interface NetworkFlags extends StorageFlags {
  readonly subdomain: string
  readonly title: string
  readonly plan: NetworkRow['service_plan']
  readonly emailVisibility?: boolean
  readonly ownerEmail: string
  readonly ownerName: string
}

/** `folkmoot networks create`: a network with its first host. */
export function createNetwork(flags: NetworkFlags, out: Output): Promise<void> {
  const [first_name = '', ...rest] = flags.ownerName.trim().split(/\s+/)
  return withOperator(
    flags,
    out,
    async (community) => {
      const { network } = await community.networks.create({
        subdomain: flags.subdomain,
        title: flags.title,
        service_plan: flags.plan,
        member_email_visibility: flags.emailVisibility ?? false,
        owner: { email: flags.ownerEmail, first_name, last_name: rest.join(' ') },
      })
      show(out, flags.json, network, () => `Network ${network.subdomain} has the id ${network.id}.`)
    },
    'create',
  )
}

export interface KeyFlags extends StorageFlags {
  readonly network?: string
}

/** `folkmoot keys create`: the one moment in which a token can be read. */
export function createKey(
  flags: KeyFlags & { name: string; scope: string[]; member?: string; expires?: string },
  out: Output,
): Promise<void> {
  return withOperator(flags, out, async (community) => {
    const network = await networkOf(community, flags.network)
    const created = await community.keys.create({
      network_id: network.id,
      name: flags.name,
      scopes: flags.scope,
      ...(flags.member ? { member_id: flags.member } : {}),
      ...(flags.expires ? { expires_at: flags.expires } : {}),
    })
    show(out, flags.json, { ...created.key, token: created.token }, () => created.token)
    if (!flags.json) out.warn('Keep this token: it is shown once and cannot be read again.')
  })
}

/** `folkmoot keys list`. */
export function listKeys(flags: KeyFlags, out: Output): Promise<void> {
  return withOperator(flags, out, async (community) => {
    const keys = await community.keys.list((await networkOf(community, flags.network)).id)
    show(out, flags.json, keys, () =>
      tableOf(
        ['id', 'name', 'key', 'scopes', 'created', 'last used', 'status'],
        keys.map((key) => [
          key.id,
          key.name,
          key.redacted,
          key.scopes.join(' '),
          key.created_at,
          key.last_used_at ?? 'never',
          key.status,
        ]),
      ),
    )
  })
}

/** `folkmoot keys revoke`: at once and for good. */
export function revokeKey(id: string, flags: KeyFlags, out: Output): Promise<void> {
  return withOperator(flags, out, async (community) => {
    const key = await community.keys.revoke((await networkOf(community, flags.network)).id, id)
    show(out, flags.json, key, () => `Key ${key.id} (${key.name}) is revoked.`)
  })
}

/** `folkmoot endpoints add`. */
export function addEndpoint(
  flags: KeyFlags & {
    url: string
    key: string
    event: string[]
    secret: string[]
    audience: 'integration' | 'host'
    order: 'none' | 'fifo'
  },
  out: Output,
): Promise<void> {
  return withOperator(flags, out, async (community) => {
    const network = await networkOf(community, flags.network)
    const endpoint = await community.endpoints.upsert({
      network_id: network.id,
      url: flags.url,
      key: flags.key,
      secrets: flags.secret,
      audience: flags.audience,
      order: flags.order,
      ...(flags.event.length > 0 ? { events: flags.event } : {}),
    })
    const { key: _key, secrets: _secrets, ...shown } = endpoint
    show(out, flags.json, shown, () => `Endpoint ${endpoint.id} gets ${endpoint.events?.join(', ') ?? 'every event'}.`)
  })
}

/** `folkmoot endpoints list`: without keys and secrets. */
export function listEndpoints(flags: KeyFlags, out: Output): Promise<void> {
  return withOperator(flags, out, async (community) => {
    const endpoints = await community.endpoints.list((await networkOf(community, flags.network)).id)
    show(out, flags.json, endpoints, () =>
      tableOf(
        ['id', 'url', 'events', 'audience', 'enabled'],
        endpoints.map((row) => [row.id, row.url, row.events?.join(' ') ?? 'all', row.audience, row.enabled ? 'yes' : 'no']),
      ),
    )
  })
}

/** `folkmoot endpoints remove`. */
export function removeEndpoint(id: string, flags: KeyFlags, out: Output): Promise<void> {
  return withOperator(flags, out, async (community) => {
    const endpoint = await community.endpoints.remove((await networkOf(community, flags.network)).id, id)
    show(out, flags.json, endpoint, () => `Endpoint ${endpoint.id} (${endpoint.url}) is removed.`)
  })
}
