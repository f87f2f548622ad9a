import { fail, found, invalid } from '../errors.ts'
import { isoTime } from '../kernel/clock.ts'
import type { Runner } from '../kernel/run.ts'
import type { AnyOperation } from '../operation.ts'
import type { Settings } from '../options.ts'
import type { Id } from '../storage/table.ts'
import { type ApiKeyRow, apiKeys, members } from '../storage/tables.ts'
import { hashToken, newToken, redactToken } from '../token.ts'

/** An API key to be (specification, section 5, rule 2). */
export interface NewKey {
  readonly network_id: Id
  /** A descriptive name. */
  readonly name: string
  /** `members:read`, `*:read`, `*`, …; at least one. */
  readonly scopes: readonly string[]
  /** The member who acts when the key is used; by default the network's first host. */
  readonly member_id?: Id
  /** When it stops working, as a timestamp; never by default. */
  readonly expires_at?: string
}

/** A key as lists show it: without its token, which is kept nowhere. */
export type KeyListing = Omit<ApiKeyRow, 'token_hash'> & { readonly status: 'Active' | 'Revoked' }

export interface Keys {
  /**
   * Creates a key. The token is in the answer and can never be read again (specification, section 5, rule 3).
   * @throws ApiError 422 when a scope does not exist or there is no member to act
   */
  create(key: NewKey): Promise<{ readonly token: string; readonly key: KeyListing }>
  /** Every key of a network, active and revoked, oldest first. */
  list(network_id: Id): Promise<readonly KeyListing[]>
  /**
   * Revokes a key: it stops working at once, stays listed, and stays revoked.
   * @throws ApiError 404 when the network has no such key, 422 when it is revoked already
   */
  revoke(network_id: Id, id: Id): Promise<KeyListing>
}

/** @param operations whose scopes a key may hold */
export function keysOf({ clock }: Settings, runner: Runner, operations: readonly AnyOperation[]): Keys {
  const now = () => isoTime(clock.now())
  const groups = operations.map(({ scope }) => scope.split(':', 1)[0])
  const scopesThere = new Set(['*', '*:read', ...groups.flatMap((group) => [`${group}:read`, `${group}:write`])])
  return {
    async create({ network_id, name, scopes, member_id, expires_at }) {
      if (name.trim() === '') fail(invalid('name'), "name can't be blank")
      const wrong = scopes.find((scope) => !scopesThere.has(scope))
      if (wrong !== undefined || scopes.length === 0)
        fail(invalid('scopes'), `scopes must be like members:read, *:read or *, got ${JSON.stringify(wrong ?? [])}`)
      if (expires_at !== undefined && Number.isNaN(Date.parse(expires_at)))
        fail(invalid('expires_at'), 'expires_at must be a date and time in ISO 8601')
      const token = newToken()
      const token_hash = await hashToken(token)
      const created_at = now()
      const key = await runner.work(network_id, created_at, async (tx) => {
        const owner = member_id ? await tx.get(members, member_id) : await tx.first(members, { state: 'active', role: 'host' })
        if (!owner)
          return fail(invalid('member_id'), 'member_id must name a member of the network, or the network must have a host')
        return tx.insert(apiKeys, {
          id: runner.newId(),
          created_at,
          updated_at: created_at,
          name,
          scopes: [...scopes],
          token_hash,
          redacted: redactToken(token),
          member_id: owner.id,
          expires_at: expires_at === undefined ? null : isoTime(Date.parse(expires_at)),
        })
      })
      return { token, key: listing(key) }
    },
    list: (network_id) => runner.read(network_id, async (tx) => (await tx.find(apiKeys, {})).map(listing)),
    revoke: (network_id, id) =>
      runner.work(network_id, now(), async (tx) => {
        const revoked_at = now()
        const revoked = await tx.update(apiKeys, id, { revoked_at, updated_at: revoked_at }, { revoked_at: null })
        if (revoked) return listing(revoked)
        found(await tx.get(apiKeys, id), 'API key')
        return fail(invalid('id'), 'The API key is revoked already')
      }),
  }
}

const listing = ({ token_hash: _, ...key }: ApiKeyRow): KeyListing => ({ ...key, status: key.revoked_at ? 'Revoked' : 'Active' })
