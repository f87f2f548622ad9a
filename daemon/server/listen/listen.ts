/**
 * `folkmoot listen`: an endpoint for as long as the command runs. It shows and forwards deliveries while you develop a
 * receiver, and passes the responses back to the relay.
 */
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode } from '../../../adapters/files/errors.ts'
import { BoundedMap } from '../../../lib/base/bounded.ts'
import { isApiError } from '../../../lib/errors.ts'
import { newEndpointToken, newSecret } from '../../../lib/host/endpoints/fields.ts'
import { sign } from '../../../lib/receiver/index.ts'
import { fault, type Output } from '../../output.ts'
import { systemClock } from '../../relay/clock.ts'
import { about, CommandFailure, Ended, UsageError } from '../../usage.ts'
import { runningServer, withNetwork, withOperator } from '../commands/operator.ts'
import type { Operator } from '../control/calls.ts'
import { secretOf } from '../credentials/secrets.ts'
import { refusedByRelay } from '../operate/relay-rules.ts'
import { eventTypes, extraHeaders, forwardUrl, isOfConnection, type ListenFlags } from './flags.ts'
import { createForwarder, type Forwarder } from './forward.ts'
import { type Incoming, type Reply, startListener } from './listener.ts'
import { createRelayLink, mayNotReach, type RelayLink } from './relay-link.ts'
import { createShow, type Show } from './show.ts'

/** The parts of the process that the command needs. */
export interface Terminal {
  readonly out: Output
  /** Calls for each key that is pressed, until the returned function is called. */
  readonly keys: (pressed: (key: string) => void) => () => void
}

/** So many ids of events are remembered, to show which ones come again. */
const maxRemembered = 10_000
/** Milliseconds between two looks at the endpoint, and that a relay may be away, as while it restarts. */
const interval = 2_000
const relayPatience = 6_000

const endpointName = (): string => `folkmoot listen on ${hostname()}`

/**
 * Listens until the signal.
 * @throws UsageError, Ended when the server, the relay or the endpoint is gone
 */
export async function listen(flags: ListenFlags, { out, keys }: Terminal, signal: AbortSignal): Promise<void> {
  const url = forwardUrl(flags.forwardTo)
  const headers = extraHeaders(flags.headers)
  const events = eventTypes(flags.events)
  const token = secretOf('--token', flags.token, flags.tokenFile) ?? newEndpointToken()
  const secret = secretOf('--secret', flags.secret, flags.secretFile) ?? newSecret()
  if (secret.startsWith('whsk_')) throw new UsageError('--secret must be whsec_…: a listener has no public key to verify with')
  await refuseWithoutServer(flags)
  const show = createShow(flags, out, systemClock.now)
  const forwarder = url && createForwarder(url, !flags.skipVerify)
  const desk = createDesk({ forwarder, headers, show, secret })
  const listener = await startListener({
    port: flags.port,
    expected: flags.skipVerify ? null : { token, secrets: secret },
    take: desk.take,
    refused: (why) => show.warn(`refused: ${why}`),
  })
  try {
    await withNetwork(flags, out, async (operator, network) => {
      await removeLeftovers(operator, network.id)
      const registration = { network: network.id, url: listener.url, name: endpointName(), token, secrets: [secret], events }
      const { id } = await operator.endpoints.upsert(registration).catch((error: unknown) => {
        throw isApiError(error) && error.message.includes(refusedByRelay) ? new Ended(mayNotReach) : error
      })
      const registered = { id, network_id: network.id }
      let link: RelayLink | undefined
      let stopKeys = () => {}
      try {
        show.step(
          'registered',
          `Endpoint ${id} of ${network.subdomain} is registered: ${events?.join(', ') ?? 'every event for integrations'}.\ntoken  ${token}\nsecret ${secret}`,
          { endpoint_id: id, network_id: network.id, url: listener.url, token, secrets: [secret], events },
        )
        link = createRelayLink(await operator.outbox(), registered, systemClock.now)
        await link.connect(desk.arrival, signal)
        stopKeys = keys((pressed) => {
          if (pressed === 'r') void desk.resend()
        })
        const where = url ? `Deliveries go to ${url.href}; r sends the last one again.` : 'Deliveries are shown and acknowledged.'
        show.step('connected', `Connected: a test delivery has come back. ${where} Ctrl-C ends.`, {
          forward_to: url?.href ?? null,
        })
        await watch(operator, link, registered, show, signal)
      } finally {
        stopKeys()
        await link?.close()
        await remove(flags, out, operator, registered)
      }
    })
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    await listener.close()
    await forwarder?.close()
  }
}

/** No relay runs on a storage that one process holds while no server does. */
async function refuseWithoutServer(flags: ListenFlags): Promise<void> {
  const held = flags.server === undefined && flags.storage.startsWith('lowdb:')
  if (held && !(await runningServer(flags)))
    throw about(
      new CommandFailure(`no server runs on ${flags.storage}: start one, such as \`folkmoot serve --demo --relay --allow-http\``),
      'storage',
    )
}

interface DeskParts {
  readonly forwarder: Forwarder | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly show: Show
  readonly secret: string
}

/** Where deliveries come in: each is forwarded and shown, and the last one is kept. */
function createDesk({ forwarder, headers: extra, show, secret }: DeskParts) {
  const times = new BoundedMap<string, number>(maxRemembered)
  let last: Incoming | undefined
  let awaited: { readonly event_id: string; readonly arrived: () => void } | undefined

  function count(event_id: string): number {
    const number = (times.get(event_id) ?? 0) + 1
    times.set(event_id, number)
    return number
  }

  async function pass(incoming: Incoming, resent: boolean): Promise<Reply> {
    const headers = {
      ...Object.fromEntries(Object.entries(incoming.headers).filter(([name]) => !isOfConnection(name))),
      ...extra,
    }
    const forwarded = await forwarder?.send({ headers, body: incoming.raw })
    const { status = 204, milliseconds = null, problem = null } = forwarded ?? {}
    show.delivery({
      incoming,
      times: resent ? (times.get(incoming.event_id) ?? 1) : count(incoming.event_id),
      resent,
      status,
      milliseconds,
      problem,
    })
    return { status, headers: forwarded?.headers ?? {}, body: forwarded?.body ?? Buffer.alloc(0) }
  }

  return {
    async take(incoming: Incoming): Promise<Reply> {
      if (awaited && incoming.event_id === awaited.event_id) {
        awaited.arrived()
        return { status: 204, headers: {}, body: Buffer.alloc(0) }
      }
      last = incoming
      return pass(incoming, false)
    },
    /** Resolves when the event has come; it is not forwarded. */
    arrival: (event_id: string): Promise<void> =>
      new Promise((arrived) => {
        awaited = { event_id, arrived }
      }),
    /** Sends the last delivery again, signed again as a relay does. */
    async resend(): Promise<void> {
      if (!last) return show.warn('There is no delivery to send again.')
      const signed = await sign(last.raw, { secrets: secret, id: last.headers['webhook-id'] ?? last.event_id })
      await pass({ ...last, headers: { ...last.headers, ...signed } }, true)
    },
  }
}

/** Endpoints of listeners that were killed: nothing listens there any more. */
async function removeLeftovers({ endpoints }: Operator, network: string): Promise<void> {
  for (const { id, name, url } of await endpoints.list(network)) {
    if (name !== endpointName() || !/^http:\/\/127\.0\.0\.1:\d+\/webhooks$/.test(url)) continue
    const isDead = await fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
      () => false,
      (error: unknown) => errorCode(error instanceof Error ? error.cause : undefined) === 'ECONNREFUSED',
    )
    if (isDead) await endpoints.remove(network, id)
  }
}

/** Looks after the endpoint until the signal. @throws Ended */
async function watch(
  operator: Operator,
  link: RelayLink,
  { id, network_id }: { readonly id: string; readonly network_id: string },
  show: Show,
  signal: AbortSignal,
): Promise<never> {
  let missingSince: number | undefined
  let circuit = 'closed'
  for (;;) {
    await sleep(interval, undefined, { signal })
    const endpoint = await operator.endpoints.find(network_id, id).catch((error: unknown) => {
      throw new Ended(`the server cannot be reached any more: ${fault(error)}`)
    })
    if (!endpoint) throw new Ended(`endpoint ${id} was removed: nothing more will come`)
    if (!endpoint.enabled) throw new Ended(`endpoint ${id} was disabled: nothing more will come`)
    const status = await link.status().catch((error: unknown) => {
      throw new Ended(`the relay cannot be watched any more: ${fault(error)}`)
    })
    if (status?.disabled) throw new Ended(`the relay has disabled endpoint ${id}: ${status.disabled}`)
    if (status && status.circuit !== circuit) {
      circuit = status.circuit
      show.warn(
        circuit === 'open' ? `The relay pauses after failures: ${status.last_error ?? 'see its log'}.` : 'The relay resumes.',
      )
    }
    if (status) missingSince = undefined
    else if (missingSince === undefined) {
      missingSince = systemClock.now()
      show.warn('The relay is away.')
    } else if (systemClock.now() - missingSince > relayPatience) throw new Ended('the relay has ended: nothing more will come')
  }
}

/** Removes the endpoint, in the storage itself if its server has ended. */
async function remove(
  flags: ListenFlags,
  out: Output,
  operator: Operator,
  { id, network_id }: { readonly id: string; readonly network_id: string },
): Promise<void> {
  const isGone = async ({ endpoints }: Operator) => {
    if (await endpoints.find(network_id, id)) await endpoints.remove(network_id, id)
  }
  await isGone(operator).catch(() =>
    flags.server === undefined
      ? withOperator(flags, { line: () => {}, warn: () => {} }, isGone).catch(() =>
          out.warn(`Endpoint ${id} is still registered: \`folkmoot endpoints remove ${id}\` removes it.`),
        )
      : undefined,
  )
}
