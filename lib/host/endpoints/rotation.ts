/**
 * How the token and secrets of an endpoint are replaced. Old ones stay valid with the new ones until their time. Relays compare
 * that time with their clock when they send, so nothing has to happen at that moment.
 */

import { isoTime } from '../../base/clock.ts'
import { fail, invalid } from '../../errors.ts'
import { type ReplacedSecret, recordedOf } from '../../outbox/endpoint-attributes.ts'
import type { EndpointUpsert } from '../../outbox/record.ts'
import { requiresOf } from '../../outbox/requires.ts'
import type { EndpointRow } from '../../storage/tables/administration.ts'

/** The most tokens, and the most secrets, that are valid in addition to the present ones. */
const maxOld = 3

/** Those whose time is not over; null for none. */
export function live(old: readonly ReplacedSecret[] | null | undefined, now: number): readonly ReplacedSecret[] | null {
  const rest = (old ?? []).filter(({ until }) => Date.parse(until) > now)
  return rest.length > 0 ? rest : null
}

/**
 * The columns of an endpoint after a rotation.
 * @throws ApiError 422 when too many old ones hold, or a new one is the present one
 */
export function rotated(
  row: EndpointRow,
  { token, secrets }: { readonly token?: string; readonly secrets?: readonly string[] },
  keepOldSeconds: number,
  now: number,
): Partial<EndpointRow> {
  const until = isoTime(now + keepOldSeconds * 1000)
  const replace = (
    noun: 'token' | 'secrets',
    values: readonly string[],
    present: readonly string[],
    old: readonly ReplacedSecret[] | null,
  ) => {
    if (present.some((one) => values.includes(one)))
      fail(invalid(noun), `${noun} must be new, and this one is in use; give another, or true to make one`)
    if (keepOldSeconds === 0) return null
    const kept = [...present.map((one) => ({ value: one, until })), ...(live(old, now) ?? [])]
    const others = kept.filter(({ value }) => !values.includes(value))
    if (others.length > maxOld)
      fail(
        invalid(noun),
        `${maxOld} old ${noun === 'token' ? 'tokens' : noun} are still valid; wait for their end, or end them with keepOldSeconds: 0`,
      )
    return others.length > 0 ? others : null
  }
  return {
    ...(token === undefined ? {} : { key: token, old_keys: replace('token', [token], row.key ? [row.key] : [], row.old_keys) }),
    ...(secrets === undefined ? {} : { secrets, old_secrets: replace('secrets', secrets, row.secrets, row.old_secrets) }),
  }
}

/** An endpoint as the outbox record for relays. */
export function upsertOf(row: EndpointRow, now: number): EndpointUpsert {
  const { id, network_id, old_keys, old_secrets } = row
  const recorded = recordedOf({ ...row, old_keys: live(old_keys, now), old_secrets: live(old_secrets, now) })
  const requires = requiresOf(row)
  return { kind: 'endpoint', action: 'upsert', id, network_id, ...recorded, ...(requires.length > 0 ? { requires } : {}) }
}
