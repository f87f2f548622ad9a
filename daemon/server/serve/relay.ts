/** The relay of a server: in this process with `--relay`, or the one that its panel calls. */
import type { HostCalls } from '../../../lib/index.ts'
import type { RelayAdmin } from '../../../lib/relay/relay-admin.ts'
import type { Relay } from '../../relay/relay.ts'
import { separateRelay } from '../panel/separate-relay.ts'
import { grace, type Starting } from './parts.ts'
import type { ServeFlags } from './serve-flags.ts'
import { guardOf, reach } from './served-community.ts'

/** The community, whose endpoints follow the rules of the relay in this process. */
export async function withRulesOfRelay<C extends Pick<HostCalls, 'endpoints' | 'by'>>(calls: C, flags: ServeFlags): Promise<C> {
  if (!flags.relay) return calls
  const { withRelayRules } = await import('../operate/relay-rules.ts')
  return withRelayRules(calls, guardOf(flags))
}

/** @returns the relay for the panel; `undefined` if there is no way to reach one */
export async function openRelay(starting: Starting, outbox: string): Promise<RelayAdmin | undefined> {
  const { flags, onClose } = starting
  if (!flags.relay) {
    const separate = await separateRelay(outbox, flags)
    onClose(async () => separate?.close())
    return separate?.admin
  }
  const relay = await startRelayOf(starting, outbox)
  const { noteSettings, withdrawSettings } = await import('../../relay/operate/settings/settings-note.ts')
  noteSettings(outbox, relay.settings)
  onClose(async () => {
    withdrawSettings(outbox)
    await relay.close(grace)
  })
  const { relayAdmin } = await import('../../relay/admin/admin.ts')
  const { embeddedBackend } = await import('../../relay/admin/backend.ts')
  const admin = relayAdmin(outbox, embeddedBackend(relay))
  onClose(() => admin.close())
  return admin
}

async function startRelayOf({ flags, encryptionKeys, version, tracing, log }: Starting, outbox: string): Promise<Relay> {
  const { startRelay } = await import('../../relay/relay.ts')
  return startRelay({
    outbox,
    encryptionKeys,
    version,
    tracing,
    settings: reach(flags),
    onNotice: ({ kind, endpoint_id, text }) => {
      if (kind === 'endpoint.unreadable') log.warn(`endpoint ${endpoint_id}: ${text}`)
    },
    onAttempt: ({ outcome, event_type, endpoint_id, attempt, reason, next_at }) => {
      if (outcome !== 'delivered')
        log.warn(
          `not delivered: ${event_type} to endpoint ${endpoint_id}, attempt ${attempt}: ${reason}${next_at ? `; again at ${next_at}` : ''}`,
        )
    },
    onFault: (what, error) => log.fault(`relay: ${what}`, error),
  })
}
