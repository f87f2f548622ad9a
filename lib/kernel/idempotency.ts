import { sha256 } from '../base/sha256.ts'
import { badRequest, fail, invalid } from '../errors.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import { idempotencyKeys } from '../storage/tables/administration.ts'

const keptMs = 24 * 60 * 60 * 1000
/** How many expired keys one request clears away; more than it adds, so that they never pile up. */
const clearedBatch = 4

/** The identity of a repeated request. */
export interface Repeatable {
  readonly caller: string
  readonly key: string
  readonly fingerprint: string
}

export interface FirstResponse {
  readonly status: number
  readonly body: string
}

/**
 * Reads an `Idempotency-Key` (docs/gaps.md, repeats).
 * @param parts what the key is used for: operation, records, query, body
 * @throws ApiError 400 when the key is not 1 to 255 printable characters
 */
export async function readRepeatable(key: string, caller: string, parts: readonly unknown[]): Promise<Repeatable> {
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) fail(badRequest('Idempotency-Key must be 1 to 255 printable ASCII characters'))
  return { caller, key, fingerprint: await sha256(JSON.stringify(parts, byName)) }
}

/**
 * The first response to this request, if there was one in the last 24 hours.
 * @throws ApiError 422 when the key was used for another request
 */
export async function firstResponse(
  tx: ScopedTx,
  { caller, key, fingerprint }: Repeatable,
  now: string,
): Promise<FirstResponse | undefined> {
  const row = await tx.first(idempotencyKeys, { caller, key })
  if (!row) return undefined
  if (isExpired(row.created_at, now)) {
    await tx.remove(idempotencyKeys, row.id)
    return undefined
  }
  if (row.fingerprint !== fingerprint)
    fail(invalid('Idempotency-Key'), 'Idempotency-Key was used for another request. Use a new key for a new request')
  return row
}

/**
 * Stores a response for 24 hours, in the transaction that it belongs to. Of two concurrent ones the second gets a unique
 * violation.
 */
export async function storeResponse(
  tx: ScopedTx,
  repeatable: Repeatable,
  response: FirstResponse,
  stamp: { id: Id; created_at: string; updated_at: string },
): Promise<void> {
  const oldest = await tx.find(idempotencyKeys, { limit: clearedBatch })
  for (const row of oldest) if (isExpired(row.created_at, stamp.created_at)) await tx.remove(idempotencyKeys, row.id)
  await tx.insert(idempotencyKeys, { ...stamp, ...repeatable, status: response.status, body: response.body })
}

/** Forgets a response: the next request is the first again. */
export async function forgetResponse(tx: ScopedTx, { caller, key }: Pick<Repeatable, 'caller' | 'key'>): Promise<void> {
  const row = await tx.first(idempotencyKeys, { caller, key })
  if (row) await tx.remove(idempotencyKeys, row.id)
}

const isExpired = (created_at: string, now: string): boolean => Date.parse(now) - Date.parse(created_at) >= keptMs

/** Fields in one order. Maps of Java and Perl have another order in each process, and a job may repeat its request in a new one. */
const byName = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value
