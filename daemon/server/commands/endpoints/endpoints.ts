/** `folkmoot endpoints …` */
import { isApiError } from '../../../../lib/errors.ts'
import type { Endpoint, EndpointCredentials } from '../../../../lib/index.ts'
import type { Output } from '../../../output.ts'
import { UsageError } from '../../../usage.ts'
import type { Operator } from '../../control/calls.ts'
import { inOptions, missing, ofRecord } from '../in-options.ts'
import { type NetworkFlags, networkOf, withNetwork, withNetworkChanges, withOperator } from '../operator.ts'
import { showList, showOne } from '../show.ts'
import { changesOf, type EndpointFlags, orMade, rotationOf } from './changes.ts'
import { attributeOptions } from './options.ts'

const getsOf = ({ filter, ...endpoint }: Pick<Endpoint, 'events' | 'audience' | 'filter'>): string =>
  filter ? `${typesOf(endpoint)}, where its filter matches` : typesOf(endpoint)

const typesOf = ({ events, audience }: Pick<Endpoint, 'events' | 'audience'>): string => {
  if (events) return events.join(', ')
  return audience === 'host' ? 'the mail to send, and reports of failing endpoints' : 'every event for integrations'
}

/** `endpoints add`: a new endpoint, or the one with this URL; omitted options stay. */
export async function addEndpoint(flags: EndpointFlags & { readonly url: string }, out: Output): Promise<void> {
  const changes = orMade(flags, changesOf(flags))
  await withNetworkChanges(flags, out, async (operator, { id }) => {
    const definition = { ...changes, network: id, url: flags.url }
    const upserted = operator.endpoints.upsert(definition).catch((error: unknown) => {
      if (changes.token !== undefined || !isApiError(error) || !error.message.startsWith('token is required:')) throw error
      throw new UsageError('a new endpoint needs the token that its receiver expects: --token-file, --token or --make-token')
    })
    const endpoint = await inOptions(upserted)
    const lines = linesOf(endpoint, endpoint)
    showOne(out, flags, endpoint, [`Endpoint ${endpoint.id} gets ${getsOf(endpoint)}.`, ...lines].join('\n'))
    await warnOfAddress(operator, endpoint, out)
  })
}

/** The credentials, and the public half of a pair. */
function linesOf({ token, secrets = [] }: Partial<EndpointCredentials>, { public_keys }: Endpoint): readonly string[] {
  return [
    ...(token == null ? [] : [`token  ${token}`]),
    ...secrets.map((secret) => `secret ${secret}`),
    ...(secrets.some((secret) => secret.startsWith('whsk_')) ? public_keys.map((open) => `public ${open}`) : []),
  ]
}

/** A relay in another process has settings that are unknown here. */
async function warnOfAddress({ addressWarning }: Operator, { url }: Endpoint, out: Output): Promise<void> {
  // A running server of an earlier version does not know the call.
  const reason = await addressWarning(url).catch(() => undefined)
  if (reason !== undefined) out.warn(`relays refuse this address, unless their settings allow it: ${reason}`)
}

/** `endpoints list`: without tokens and secrets. */
export const listEndpoints = (flags: NetworkFlags, out: Output): Promise<void> =>
  withNetwork(flags, out, async ({ endpoints }, network) =>
    showList(
      out,
      flags,
      await endpoints.list(network.id),
      [
        { title: 'id', cell: ({ id }) => id, fits: 'whole' },
        ...Object.values(attributeOptions).map(({ column }) => column),
        { title: 'signed', cell: ({ signed }) => (signed ? 'yes' : 'no') },
        { title: 'public keys', cell: ({ public_keys }) => public_keys.join(' ') || null, shown: 'wide' },
        { title: 'headers', cell: ({ header_names }) => header_names.join(' ') || null, shown: 'wide' },
        { title: 'old secrets until', cell: (row) => row.old_secrets_until, shown: 'wide' },
        { title: 'old token until', cell: (row) => row.old_token_until, shown: 'wide' },
      ],
      'There is no endpoint.',
    ),
  )

/** `endpoints show`: every attribute on a line, for people. */
export const showEndpoint = (id: string, flags: NetworkFlags, out: Output): Promise<void> =>
  withNetwork(flags, out, async (operator, network) => {
    const endpoint = await operator.endpoints.find(network.id, id)
    if (!endpoint) throw missing(network, 'endpoint', id)
    const lines = Object.entries(endpoint).map(([name, value]) => `${name.padEnd(16)} ${shownValue(value)}`)
    showOne(out, flags, endpoint, lines.join('\n'))
  })

const shownValue = (value: unknown): string => {
  if (value === null || (Array.isArray(value) && value.length === 0)) return '–'
  return typeof value === 'string'
    ? value
    : Array.isArray(value) && value.every((each) => typeof each === 'string')
      ? value.join(', ')
      : JSON.stringify(value)
}

type Work = (operator: Operator, network: string) => Promise<Endpoint>

const change = (id: string, flags: NetworkFlags, out: Output, what: string, work: Work): Promise<void> =>
  withNetworkChanges(flags, out, async (operator, network) => {
    show(await ofRecord(network, 'endpoint', id, work(operator, network.id)), flags, out, what)
  })

const show = (endpoint: Endpoint, flags: NetworkFlags, out: Output, what: string): void =>
  showOne(out, flags, endpoint, `Endpoint ${endpoint.id} (${endpoint.url}) is ${what}.`)

/** `endpoints update`: only the named changes. */
export async function updateEndpoint(id: string, flags: EndpointFlags, out: Output): Promise<void> {
  const changes = changesOf(flags, 'needed')
  await change(id, flags, out, 'changed', async (operator, network) => {
    const endpoint = await inOptions(operator.endpoints.update(network, id, changes))
    if (changes.url !== undefined) await warnOfAddress(operator, endpoint, out)
    return endpoint
  })
}

interface SwitchFlags extends NetworkFlags {
  readonly all?: boolean
}

/** Changes one endpoint or, with `--all`, every one that is not so yet: of the network that is named, or of all. */
async function switchTo(call: 'enable' | 'disable', id: string, flags: SwitchFlags, out: Output): Promise<void> {
  const { all = false, network: name } = flags
  if ((id === '') !== all) throw new UsageError('give the id of an endpoint, or --all')
  const what = call === 'enable' ? 'enabled' : 'disabled: its events wait'
  if (!all) return change(id, flags, out, what, ({ endpoints }, network) => endpoints[call](network, id))
  await withOperator(flags, out, async (operator) => {
    const { networks, endpoints } = operator
    for (const network of name === undefined ? await networks.list() : [await networkOf(operator, name)])
      for (const { id: each, enabled } of await endpoints.list(network.id))
        if (enabled !== (call === 'enable')) show(await endpoints[call](network.id, each), flags, out, what)
  })
}

/** `endpoints enable`: sends again, also where a relay had stopped by itself. */
export const enableEndpoint = (id: string, flags: SwitchFlags, out: Output): Promise<void> => switchTo('enable', id, flags, out)

/** `endpoints disable`: its events wait. */
export const disableEndpoint = (id: string, flags: SwitchFlags, out: Output): Promise<void> => switchTo('disable', id, flags, out)

export const removeEndpoint = (id: string, flags: NetworkFlags, out: Output): Promise<void> =>
  change(id, flags, out, 'removed', ({ endpoints }, network) => endpoints.remove(network, id))

/** `endpoints republish`: for relays that have lost their store, and to encrypt everything with the first encryption key. */
export const republishEndpoints = (flags: NetworkFlags, out: Output): Promise<void> =>
  withNetworkChanges(flags, out, async (operator, { id, subdomain }) => {
    await operator.endpoints.republish(id)
    showOne(out, flags, { network_id: id, republished: true }, `The endpoints of ${subdomain} are in the outbox again.`)
  })

/** `endpoints reveal`: its token and secrets, with a line in the audit. */
export const revealEndpoint = (id: string, flags: NetworkFlags, out: Output): Promise<void> =>
  withNetwork(flags, out, async (operator, network) => {
    const endpoint = await operator.endpoints.find(network.id, id)
    if (!endpoint) throw missing(network, 'endpoint', id)
    const shown = await operator.endpoints.reveal(network.id, id)
    const lines = linesOf(shown, endpoint)
    showOne(out, flags, { id, ...shown }, lines.join('\n') || `Endpoint ${id} has neither a token nor a secret.`)
  })

/** `endpoints rotate`: a new token, secrets or both, with the old ones valid for a time. */
export async function rotateEndpoint(id: string, flags: EndpointFlags, out: Output): Promise<void> {
  const rotation = rotationOf(flags)
  await withNetworkChanges(flags, out, async (operator, network) => {
    const rotated = inOptions(operator.endpoints.rotate(network.id, id, rotation))
    const { endpoint, token, secrets } = await ofRecord(network, 'endpoint', id, rotated)
    const made = {
      ...(rotation.token === true && token !== undefined ? { token } : {}),
      ...(typeof rotation.secrets !== 'object' && secrets !== undefined ? { secrets } : {}),
    }
    const until = endpoint.old_secrets_until ?? endpoint.old_token_until
    const first = `Endpoint ${endpoint.id} is rotated${until ? `; the old one holds until ${until}` : ''}.`
    const lines = linesOf(made, endpoint)
    showOne(out, flags, { ...endpoint, ...made }, [first, ...lines].join('\n'))
  })
}
