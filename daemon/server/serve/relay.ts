/** The relay of a server: in this process with `--relay`, or the one that its panel calls. */
import { readFile } from 'node:fs/promises'
import { isPostgresAddress } from '../../../adapters/sql/postgres/address.ts'
import { withoutPassword } from '../../../lib/base/without-password.ts'
import type { HostCalls } from '../../../lib/index.ts'
import type { RelayAdmin } from '../../../lib/relay/relay-admin.ts'
import type { Relay } from '../../relay/relay.ts'
import { UsageError } from '../../usage.ts'
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
  if (!flags.relay) return separateRelay(starting, outbox)
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

/**
 * A relay of another process, for the panel: by its control port, or by the PostgreSQL database that relays share.
 * @returns `undefined` if there is no way to reach it
 * @throws UsageError for an address that cannot be one
 */
async function separateRelay({ flags, onClose }: Starting, outbox: string): Promise<RelayAdmin | undefined> {
  const { relayControl: url, relayControlTokenFile } = flags
  if (url === undefined) {
    if (!isPostgresAddress(outbox)) return undefined
    const { relayAdmin } = await import('../../relay/admin/admin.ts')
    const admin = relayAdmin(outbox)
    onClose(() => admin.close())
    return admin
  }
  const { controlTokenPath } = await import('../../relay/operate/control/control-token.ts')
  const { relayAdminOverControl } = await import('../../../lib/relay/control-client.ts')
  const file = relayControlTokenFile ?? controlTokenPath(outbox)
  // Read for each call: the relay makes the file at its first start.
  const token = async () => readFile(file, 'utf8')
  try {
    return relayAdminOverControl({ url, token })
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UsageError(
      `--relay-control must be an address such as http://127.0.0.1:9464, got ${JSON.stringify(withoutPassword(url))}`,
    )
  }
}
