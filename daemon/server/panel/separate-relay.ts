/** The relay for the panel, if it runs in another process than the server. */

import { readFile } from 'node:fs/promises'
import { isPostgresAddress } from '../../../adapters/sql/postgres/address.ts'
import { withoutPassword } from '../../../lib/base/without-password.ts'
import type { RelayAdmin } from '../../../lib/relay/relay-admin.ts'
import { UsageError } from '../../usage.ts'
import type { ServeFlags } from '../serve/serve-flags.ts'

export interface SeparateRelay {
  readonly admin: RelayAdmin
  close(): Promise<void>
}

type Flags = Pick<ServeFlags, 'relay' | 'relayControl' | 'relayControlTokenFile'>

/** @throws UsageError for options that do not go together */
export function checkRelayFlags({ relay, relayControl, relayControlTokenFile }: Flags): void {
  if (relay && relayControl !== undefined)
    throw new UsageError('--relay runs the relay in this process: leave out --relay-control, or --relay')
  if (relayControlTokenFile !== undefined && relayControl === undefined)
    throw new UsageError('--relay-control-token-file goes with --relay-control, the address of the control port')
}

/**
 * The relay for the panel: by its control port, or by the PostgreSQL database that relays share.
 * @returns `undefined` if there is no way to reach it
 * @throws UsageError for an address that cannot be one
 */
export async function separateRelay(outbox: string, flags: Flags): Promise<SeparateRelay | undefined> {
  const { relayControl: url, relayControlTokenFile } = flags
  if (url === undefined) {
    if (!isPostgresAddress(outbox)) return undefined
    const { relayAdmin } = await import('../../relay/admin/admin.ts')
    const admin = relayAdmin(outbox)
    return { admin, close: () => admin.close() }
  }
  const { controlTokenPath } = await import('../../relay/operate/control/control-token.ts')
  const { relayAdminOverControl } = await import('../../../lib/relay/control-client.ts')
  const file = relayControlTokenFile ?? controlTokenPath(outbox)
  // Read for each call: the relay makes the file at its first start.
  const token = async () => readFile(file, 'utf8')
  try {
    return { admin: relayAdminOverControl({ url, token }), close: async () => undefined }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UsageError(
      `--relay-control must be an address such as http://127.0.0.1:9464, got ${JSON.stringify(withoutPassword(url))}`,
    )
  }
}
