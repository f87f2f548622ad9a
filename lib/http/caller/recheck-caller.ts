/**
 * Checks the caller again, in the operation's own transaction, together with its first statements. So a revoked key stops immediately.
 *
 * A write reads its key. Where the storage has no version to read, the rows behind a token are remembered from an earlier
 * request, and every operation reads them: no request waits for the look-up alone. A refusal before the transaction becomes the
 * response only if the rows still hold. If they have changed, everything is done again for the caller as it is now.
 */
import type { Principal } from '../../context.ts'
import { isApiError } from '../../errors.ts'
import { hasEnded, keyStillWorks } from '../../kernel/key.ts'
import type { StartRecheck } from '../../kernel/run.ts'
import type { AnyOperation } from '../../operation.ts'
import { isSame } from '../../storage/changes.ts'
import type { ScopedTx } from '../../storage/scoped.ts'
import type { Row } from '../../storage/table.ts'
import { type ApiKeyRow, apiKeys, type NetworkRow, networks } from '../../storage/tables/administration.ts'
import { members } from '../../storage/tables/members.ts'
import type { TokenRows } from './token-rows.ts'

/** The rows of a token that worked when they were read. */
export interface WorkingRows {
  readonly key: ApiKeyRow
  readonly network: NetworkRow
}

/** Whether the caller is still the one that was remembered. */
export interface CallerRecheck {
  /** The result throws, if the rows have changed: then `failed` is true for that error. */
  readonly start: StartRecheck
  /** Whether a request failed for a caller who is no longer the same, so that it has to run again. @throws StorageError */
  failed(error: unknown): Promise<boolean>
  /** Whether the rows were found unchanged. */
  isConfirmed(): boolean
}

/** A caller, as far as a second check is concerned. */
interface RecheckedCaller {
  readonly principal: Principal
  /** Set if the caller is remembered from an earlier request. */
  readonly recheck?: CallerRecheck
  /** To be called after a request of a caller who is remembered. */
  readonly ended?: () => void
}

class Changed extends Error {}

export function workingRows({ key, network, isFormer }: TokenRows, now: number): WorkingRows | undefined {
  return key && network && !isFormer && !hasEnded(key, now) ? { key, network } : undefined
}

/**
 * @param remembered the rows of an earlier request
 * @param lookUp reads the rows of the token outside of the operation
 * @param refusesFormer whether keys of former members are refused
 */
export function recheckOf(
  remembered: WorkingRows,
  lookUp: () => Promise<TokenRows | undefined>,
  { refusesFormer, now }: { readonly refusesFormer: boolean; now(): number },
): CallerRecheck {
  let isConfirmed = false

  function holds(found: Partial<TokenRows>): boolean {
    const { key, network, isFormer = false } = found
    const works = workingRows({ key, network, isFormer }, now())
    return works !== undefined && isSameRow(works.key, remembered.key) && isSameRow(works.network, remembered.network)
  }

  async function read(tx: ScopedTx, row: Promise<NetworkRow | undefined> | undefined): Promise<TokenRows> {
    const [key, network, member] = await Promise.all([
      tx.get(apiKeys, remembered.key.id),
      row ?? tx.get(networks, remembered.network.id),
      refusesFormer ? tx.get(members, remembered.key.member_id) : undefined,
    ])
    return { key, network, isFormer: refusesFormer && member?.state !== 'active' }
  }

  return {
    start(tx, row) {
      const reading = read(tx, row)
      // Otherwise a rejection would be unhandled if work fails before it awaits.
      reading.catch(() => undefined)
      return async () => {
        if (!holds(await reading)) throw new Changed('the rows of a token have changed')
        isConfirmed = true
      }
    },
    async failed(error) {
      if (error instanceof Changed) return true
      if (isConfirmed || !isApiError(error)) return false
      isConfirmed = holds((await lookUp()) ?? {})
      return !isConfirmed
    },
    isConfirmed: () => isConfirmed,
  }
}

/** How the caller of an operation is checked in its transaction: remembered rows always, a key where the operation writes. */
export function recheckIn(
  { recheck, principal }: RecheckedCaller,
  { method }: Pick<AnyOperation, 'method'>,
  now: () => number,
): StartRecheck | undefined {
  const { key_id } = principal
  if (recheck) return recheck.start
  return method === 'GET' || key_id === null ? undefined : (tx) => keyStillWorks(tx, key_id, now)
}

/**
 * Runs a request for its caller; once more, if the caller turns out to be no longer the same.
 * @param authenticate finds out who calls; with `fresh`, by rows that are read before anything else
 * @param headers those of the response: what the first run has set goes, too
 */
export function withCaller<C extends RecheckedCaller, T>(
  authenticate: (fresh: boolean) => C | Promise<C>,
  headers: Record<string, string>,
  run: (caller: C) => Promise<T>,
): Promise<T> {
  const caller = authenticate(false)
  return caller instanceof Promise ? caller.then(runOrRepeat) : run(caller)

  async function runOrRepeat(remembered: C): Promise<T> {
    try {
      return await run(remembered)
    } catch (error) {
      if (!(await remembered.recheck?.failed(error))) throw error
    } finally {
      remembered.ended?.()
    }
    for (const name in headers) delete headers[name]
    return run(await authenticate(true))
  }
}

/** Whether nothing has changed in a row that matters to a request. */
function isSameRow<R extends Row>(row: R, before: R): boolean {
  for (const name in before) if (name !== 'last_used_at' && !isSame(row[name], before[name])) return false
  return true
}
