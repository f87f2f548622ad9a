/** `folkmoot panel-link`. */
import { defined } from '../../../lib/base/defined.ts'
import type { Output } from '../../output.ts'
import { UsageError } from '../../usage.ts'
import { localUser } from '../../user.ts'
import { longestLinkSeconds } from '../panel/logins.ts'
import { type NetworkFlags, networkOf, runningServer, soughtServer } from './operator.ts'
import { showOne } from './show.ts'

export interface PanelLinkFlags extends NetworkFlags {
  readonly readOnly?: boolean
  /** Seconds. */
  readonly expires?: number
  readonly port?: number
  /** Whether `storage` is the default, which no option named. */
  readonly anyStorage?: boolean
}

/** Requests a link from the running server that lets one person into its panel, once. */
export async function panelLink(
  { readOnly, expires, network, port, anyStorage, ...flags }: PanelLinkFlags,
  out: Output,
): Promise<void> {
  if (expires !== undefined && (expires < 1 || expires > longestLinkSeconds))
    throw new UsageError('--expires must be from 1s to 7d')
  const own = port === undefined ? await runningServer(flags) : undefined
  const server = own ?? (await soughtServer({ port, storage: anyStorage ? undefined : flags.storage }))
  const link = await server.panelLink({
    ...defined({ network: network === undefined ? undefined : (await networkOf(server, network)).id, expires }),
    ...(readOnly ? { read_only: true } : {}),
    actor: localUser(),
  })
  showOne(out, flags, link, link.url)
  if (!flags.json) out.warn(`The link works once, until ${link.expires_at}.`)
  if (link.hint !== undefined) out.warn(link.hint)
}
