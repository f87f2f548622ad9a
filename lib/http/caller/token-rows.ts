/**
 * The rows behind a token: its key, and the key's network. They are looked up once for each version of their tables. So a
 * busy key costs nothing while they stand still, and a revoked one stops immediately.
 */
import { BoundedMap } from '../../base/bounded.ts'
import { hashToken, isToken } from '../../base/token.ts'
import { retryOnConflict } from '../../kernel/transactions.ts'
import type { HostPrincipal, Settings } from '../../settings.ts'
import type { Tx } from '../../storage/contract.ts'
import type { Id } from '../../storage/table.ts'
import { type ApiKeyRow, apiKeys, type NetworkRow, networks } from '../../storage/tables/administration.ts'
import { members } from '../../storage/tables/members.ts'

export interface TokenRows {
  readonly key: ApiKeyRow | undefined
  readonly network: NetworkRow | undefined
  /** Whether the key's member has left, where that ends the key. */
  readonly isFormer: boolean
}

/** Tokens that are remembered. */
const capacity = 1000

interface Known {
  /** Hash and network of a token never change. */
  readonly hash: string
  readonly network_id: Id
  /** Its rows, as of this version of the storage. */
  readonly version: number
  readonly rows: Promise<TokenRows>
  /** The last rows that were read, whatever has changed since, and the version of which they are. */
  readonly last?: TokenRows
  readonly lastVersion?: number
}

export function tokenRows({ storage, keysOfFormerMembers }: Pick<Settings, 'storage' | 'keysOfFormerMembers'>) {
  const refusesFormer = keysOfFormerMembers === 'refuse'
  const known = new BoundedMap<string, Known>(capacity)
  const tables = refusesFormer ? [apiKeys, networks, members] : [apiKeys, networks]

  /** @param probable the network, where it is known before the key */
  function lookUp(hash: string | undefined, probable: Id | undefined): Promise<TokenRows> {
    const look = async (tx: Tx): Promise<TokenRows> => {
      // Both together, where both are known to be wanted.
      const [[key], network] = await Promise.all([
        hash === undefined ? [] : tx.find(apiKeys, { where: { token_hash: hash }, limit: 1 }),
        probable === undefined ? undefined : tx.get(networks, probable),
      ])
      const network_id = key?.network_id ?? probable
      const isFormer = key !== undefined && refusesFormer && (await tx.get(members, key.member_id))?.state !== 'active'
      const own = network_id === undefined || network_id === probable ? network : await tx.get(networks, network_id)
      return { key, network: own, isFormer }
    }
    return retryOnConflict(() => storage.transaction(look, { readOnly: true }))
  }

  return {
    /** Rows of an earlier request, which may have changed. Only where the storage has no version that would show it. */
    remembered: (token: string): TokenRows | undefined => (storage.fast?.version ? undefined : known.get(token)?.last),

    /** The rows as they are now, if they were read before and nothing has changed since. */
    current(token: string): TokenRows | undefined {
      const found = known.get(token)
      return found && found.lastVersion === storage.fast?.version?.(tables) ? found.last : undefined
    },

    /** The rows for a caller whom the host has recognised. */
    ofHost: ({ network_id }: HostPrincipal): Promise<TokenRows> => lookUp(undefined, network_id),

    /** The rows of a token; `undefined` if the text cannot be one: the storage is not queried. */
    async of(token: string): Promise<TokenRows | undefined> {
      const hash = known.get(token)?.hash ?? (isToken(token) ? await hashToken(token) : undefined)
      if (hash === undefined) return undefined
      const before = known.get(token)
      // Read before the rows: a commit in between makes them old.
      const version = storage.fast?.version?.(tables) ?? Number.NaN
      // Requests that arrive during a look-up wait for that one.
      if (before?.version === version) return before.rows
      const rows = lookUp(hash, before?.network_id)
      if (before) known.set(token, { ...before, version, rows })
      try {
        const last = await rows
        const { key } = last
        if (key) known.set(token, { hash, network_id: key.network_id, version, rows, last, lastVersion: version })
        else known.delete(token)
      } catch (error) {
        if (known.get(token)?.rows === rows) known.delete(token)
        throw error
      }
      return rows
    },
  }
}
