/** The community that a server serves, with its ports and its guard. */
import { type DirectoryAssetsOptions, type DownloadGuard, ports } from '../../../adapters/ports/index.ts'
import { postgresRateLimits, rateLimits } from '../../../adapters/rate-limits/index.ts'
import { isPostgresAddress, postgresAddress } from '../../../adapters/sql/postgres/address.ts'
import { systemChance } from '../../../lib/base/chance.ts'
import type { Tracing } from '../../../lib/base/tracing.ts'
import { communityOf as createdWith } from '../../../lib/community.ts'
import type { Community, Options, RateLimiter } from '../../../lib/index.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { checkUrl, type GuardSettings, guardedLookup } from '../../relay/send/guard.ts'
import { systemResolve } from '../../relay/send/resolve.ts'
import { inFlightBytesFor } from './request-memory.ts'
import type { ServeFlags } from './serve-flags.ts'

export interface CommunityParts {
  readonly storage: Storage
  readonly rateLimiter: RateLimiter
  readonly assets: DirectoryAssetsOptions
  readonly encryptionKeys: readonly string[]
  readonly tracing: Tracing | undefined
  readonly onError: NonNullable<NonNullable<Options['hooks']>['onError']>
}

export function communityOf(parts: CommunityParts, flags: ServeFlags): Community {
  const { storage, rateLimiter, assets, encryptionKeys, tracing, onError } = parts
  // Downloads for strangers stay out of the operator's own network, as webhooks do.
  const guard = guardOf(flags)
  const download: DownloadGuard = {
    allows: (url) => checkUrl(url, guard).ok,
    lookup: guardedLookup(systemResolve(), () => guard),
  }
  const options: Options = {
    storage,
    ...(flags.publicUrl ? { publicUrl: flags.publicUrl } : {}),
    ...(flags.ids ? { ids: flags.ids } : {}),
    newMembersConsent: flags.emailConsent ?? false,
    ...httpsOf(flags),
    encryptionKeys,
    ...(tracing ? { tracing } : {}),
    rateLimiter,
    limits: { inFlightBytes: inFlightBytesFor() },
    ports: ports({ assets, download }),
    hooks: { onError },
  }
  // The banner says how to allow plain HTTP, in the words of the command.
  return createdWith(options, systemChance, () => {})
}

/**
 * The addresses that webhooks and downloads may reach. The demo's peers are on this machine, so with `--allow-http` they may be
 * reached; without the demo the guard stands as in `folkmoot-relay`.
 */
export function reach(flags: ServeFlags): { readonly allowHttp: boolean; readonly allowPrivate: boolean } {
  const local = Boolean(flags.demo && flags.allowHttp)
  return { allowHttp: local, allowPrivate: local }
}

/** The same, as rules. */
export const guardOf = (flags: ServeFlags): GuardSettings => ({ ...reach(flags), allowAddresses: [], ports: [] })

/** How requests prove that they came by HTTPS, the same for the API and for uploads. */
export const httpsOf = (flags: ServeFlags) => ({
  allowHttp: flags.allowHttp ?? false,
  trustProxy: flags.trustProxy ?? false,
})

/**
 * Rate limits for the storage of a command line. They are in PostgreSQL if that has the storage, where machines share
 * it, and otherwise in memory: each process counts for itself.
 *
 * @param address a storage address that `openStorage` has taken
 * @param warn called when the counts cannot be shared, and when they can again
 * @throws StorageError when the counts cannot be opened
 */
export async function openRateLimits(address: string, warn: (sentence: string) => void): Promise<RateLimiter> {
  if (isPostgresAddress(address)) return postgresRateLimits({ ...postgresAddress(address), warn })
  return rateLimits()
}
