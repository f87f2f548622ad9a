/**
 * A caller who is remembered from an earlier request, where the storage has no version to ask. The rows behind the token are read
 * once more in the operation's own transaction, together with its first statements. So nobody waits for the look-up alone, and a
 * revoked key stops at once.
 *
 * Until then the caller is presumed. A refusal before the transaction is an answer only if the rows still hold.
 */
import { isApiError } from '../errors.ts'
import { hasEnded } from '../kernel/key.ts'
import { isSame } from '../storage/changes.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Row } from '../storage/table.ts'
import { type ApiKeyRow, apiKeys, type NetworkRow, networks } from '../storage/tables/administration.ts'
import { members } from '../storage/tables/members.ts'
import type { TokenRows } from './token-rows.ts'

/** The rows of a token that worked when they were read. */
export interface WorkingRows {
  readonly key: ApiKeyRow
  readonly network: NetworkRow
}

/** Whether the caller is still the one that was remembered. */
export interface Presumption {
  /**
   * Reads the rows again, inside the transaction of the operation.
   * @returns throws when it is awaited, if they have changed: then `isWrong` is true for that error
   */
  admit(tx: ScopedTx): () => Promise<void>
  /** Whether a request failed for a caller who is no longer the same, so that it has to be answered anew. @throws StorageError */
  isWrong(error: unknown): Promise<boolean>
  /** Whether the rows were found unchanged. */
  isConfirmed(): boolean
}

class Changed extends Error {}

/** The rows, if their key works. */
export function workingRows({ key, network, isFormer }: TokenRows, now: number): WorkingRows | undefined {
  return key && network && !isFormer && !hasEnded(key, now) ? { key, network } : undefined
}

/**
 * @param remembered the rows of an earlier request
 * @param lookUp reads the rows of the token outside of the operation
 * @param refusesFormer whether keys of former members are refused
 */
export function presumed(
  remembered: WorkingRows,
  lookUp: () => Promise<TokenRows | undefined>,
  { refusesFormer, now }: { readonly refusesFormer: boolean; now(): number },
): Presumption {
  let isConfirmed = false

  function holds(found: Partial<TokenRows>): boolean {
    const { key, network, isFormer = false } = found
    const works = workingRows({ key, network, isFormer }, now())
    return works !== undefined && isSameRow(works.key, remembered.key) && isSameRow(works.network, remembered.network)
  }

  async function read(tx: ScopedTx): Promise<TokenRows> {
    const [key, network, member] = await Promise.all([
      tx.get(apiKeys, remembered.key.id),
      tx.get(networks, remembered.network.id),
      refusesFormer ? tx.get(members, remembered.key.member_id) : undefined,
    ])
    return { key, network, isFormer: refusesFormer && member?.state !== 'active' }
  }

  return {
    admit(tx) {
      const reading = read(tx)
      // Otherwise a rejection would be unhandled if work fails before it asks.
      reading.catch(() => undefined)
      return async () => {
        if (!holds(await reading)) throw new Changed('the rows of a token have changed')
        isConfirmed = true
      }
    },
    async isWrong(error) {
      if (error instanceof Changed) return true
      if (isConfirmed || !isApiError(error)) return false
      isConfirmed = holds((await lookUp()) ?? {})
      return !isConfirmed
    },
    isConfirmed: () => isConfirmed,
  }
}

/** Whether nothing has changed in a row that matters to a request. */
function isSameRow<R extends Row>(row: R, before: R): boolean {
  for (const name in before) if (name !== 'last_used_at' && !isSame(row[name], before[name])) return false
  return true
}
