import * as v from 'valibot'
import { isoTime } from '../base/clock.ts'
import { nearest } from '../base/suggest.ts'
import { hashToken, newToken, redactToken } from '../base/token.ts'
import { fail, found, invalid } from '../errors.ts'
import { IdInput, listOf, optional, TimestampInput, Title } from '../fields.ts'
import type { AnyOperation } from '../operation.ts'
import type { Settings } from '../settings.ts'
import { rowsNamed } from '../storage/rows-of.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import { type ApiKeyRow, apiKeys } from '../storage/tables/administration.ts'
import { type MemberRow, members } from '../storage/tables/members.ts'
import { checkArgument, idOf, NetworkName, PlaceInput, shape } from './arguments.ts'
import type { Changes } from './audit/changes.ts'
import type { AuditSubject } from './audit/line.ts'
import type { Networks } from './networks.ts'

/** An API key to be (interface.md, 5.2). */
export interface NewKey {
  /** The network, by id or subdomain. */
  readonly network: Id | number
  /** A descriptive name. */
  readonly name: string
  /** `members:read`, `*:read`, `*`, …; at least one. */
  readonly scopes: readonly string[]
  /** The member who acts when the key is used; by default the network's first host. */
  readonly member_id?: Id | number
  /** When it stops working, ISO 8601 and in the future; never by default. */
  readonly expires_at?: string
}

/** A key as lists show it: without its token, which is kept nowhere. */
export interface KeyListing extends Omit<ApiKeyRow, 'token_hash'> {
  /** `Revoked` once it was revoked, for good. One that has only expired is `Active`; see `expired`. */
  readonly status: 'Active' | 'Revoked'
  /** Whether it has expired. */
  readonly expired: boolean
  /** The state of the member who acts; see the option `keysOfFormerMembers`. */
  readonly member_state: MemberRow['state']
}

/** A page of keys to be listed. */
export interface KeyQuery {
  /** `Revoked` or not; both by default. */
  readonly status?: KeyListing['status']
  /** At most so many, from 1 to 100: 25 by default. */
  readonly limit?: number
  /** The `next` of the page before. */
  readonly after?: Id | undefined
}

/** A page of keys, the newest first. */
export interface KeyPage {
  /** At most `limit` keys. */
  readonly items: readonly KeyListing[]
  /** Given as `after` it yields the next page; null on the last. A page with `next` may hold fewer than `limit`. */
  readonly next: Id | null
}

/** The calls about API keys. A network is named by its id or its subdomain. */
export interface Keys {
  /**
   * Creates a key. The token is in the response and can never be read again (interface.md, 5.3).
   * @throws ApiError 404 when there is no such network, 422 when a value is refused or there is no member to act
   */
  create(key: NewKey): Promise<{ readonly token: string; readonly key: KeyListing }>
  /**
   * Every key of a network, active and revoked, oldest first.
   * @throws ApiError 404
   */
  list(network: Id | number): Promise<readonly KeyListing[]>
  /**
   * A page of the keys of a network, the newest first.
   * @throws ApiError 404, 422 when a value is refused
   */
  page(network: Id | number, query?: KeyQuery): Promise<KeyPage>
  /**
   * One key, or `undefined` if the network has no such key.
   * @throws ApiError 404 when there is no such network, 422 when the id cannot be one
   */
  find(network: Id | number, id: Id | number): Promise<KeyListing | undefined>
  /**
   * Revokes a key: it stops working immediately, stays listed, and stays revoked.
   * @throws ApiError 404 when the network has no such key, 422 when it is revoked already
   */
  revoke(network: Id | number, id: Id | number): Promise<KeyListing>
}

/** A page of revoked keys reads so many times its limit. */
const windowsOfPage = 20

/** @param operations whose scopes a key may hold */
export function keysOf(settings: Settings, changes: Changes, networks: Networks, operations: readonly AnyOperation[]): Keys {
  const { clock, limits, chance } = settings
  const now = () => isoTime(clock.now())
  const groups = [...new Set(operations.map(({ scope }) => scope.split(':', 1)[0]))].sort()
  const scopesThere = ['*', '*:read', ...groups.flatMap((group) => [`${group}:read`, `${group}:write`])]
  const scopeRule = `must be one or more of ${scopesThere.join(', ')}`
  const scopeProblem = ({ input }: v.BaseIssue<unknown>): string => {
    const near = typeof input === 'string' ? nearest(input, scopesThere.slice(1)) : []
    return near.length > 0 ? `must be a scope, got ${JSON.stringify(input)}; did you mean ${near.join(' or ')}?` : scopeRule
  }
  const pageRule = 'must be a whole number from 1 to 100'
  const Key = shape({
    network: NetworkName,
    name: Title,
    scopes: v.pipe(
      listOf(v.picklist(scopesThere, scopeProblem)),
      v.minLength(1, scopeRule),
      v.transform((scopes) => [...new Set(scopes)]),
    ),
    member_id: optional(IdInput),
    expires_at: optional(
      v.pipe(
        TimestampInput,
        v.check((time) => !(Date.parse(time) <= clock.now()), 'must be in the future'),
      ),
    ),
  })
  const KeyQuery = shape({
    status: optional(v.picklist(['Active', 'Revoked'], 'must be Active or Revoked')),
    limit: optional(
      v.pipe(v.number('must be a number'), v.integer(pageRule), v.minValue(1, pageRule), v.maxValue(100, pageRule)),
    ),
    after: optional(PlaceInput),
  })
  const listing = ({ token_hash: _, ...key }: ApiKeyRow, member: MemberRow | undefined): KeyListing => ({
    ...key,
    status: key.revoked_at ? 'Revoked' : 'Active',
    expired: key.expires_at !== null && Date.parse(key.expires_at) <= clock.now(),
    member_state: member?.state ?? 'deleted',
  })
  const subjectOf = ({ id, name }: ApiKeyRow): AuditSubject => ({ type: 'key', id, name })
  const withMember = async (tx: ScopedTx, key: ApiKeyRow) => listing(key, await tx.get(members, key.member_id))
  async function withMembers(tx: ScopedTx, rows: readonly ApiKeyRow[]): Promise<readonly KeyListing[]> {
    const owners = await rowsNamed(tx, members, 'member_id', rows)
    return rows.map((row) => listing(row, owners.get(row.member_id)))
  }

  return {
    async create(given) {
      const { network: named, name, scopes, member_id, expires_at } = checkArgument('keys.create', Key, given, limits)
      const network = await networks.show(named)
      const token = newToken(chance)
      const token_hash = await hashToken(token)
      const created_at = now()
      const key = await changes.change(network.id, created_at, async (tx) => {
        const owner = member_id ? await tx.get(members, member_id) : await tx.first(members, { state: 'active', role: 'host' })
        if (owner?.state !== 'active')
          fail(invalid('member_id'), 'member_id must name a member of the network, or the network must have a host')
        const row = await tx.insert(apiKeys, {
          id: changes.newId(),
          created_at,
          updated_at: created_at,
          name,
          scopes,
          token_hash,
          redacted: redactToken(token),
          member_id: owner.id,
          expires_at: expires_at ?? null,
        })
        const details = { scopes, member_id: owner.id, expires_at: row.expires_at }
        return { result: listing(row, owner), audit: [{ action: 'key.created', subject: subjectOf(row), details }] }
      })
      return { token, key }
    },
    async list(name) {
      const network = await networks.show(name)
      return changes.read(network.id, async (tx) => {
        return withMembers(tx, await tx.find(apiKeys, {}))
      })
    },
    async page(name, given = {}) {
      const { status, limit = 25, after } = checkArgument('keys.page', KeyQuery, given, limits)
      const network = await networks.show(name)
      return changes.read(network.id, async (tx) => {
        const rows: ApiKeyRow[] = []
        let [last, isMore] = [after, true]
        // No column has the status of revoked keys. So some rows are read in vain, and a page ends after its windows.
        for (let window = 0; isMore && rows.length < limit && window < windowsOfPage; window++) {
          const read = await tx.find(apiKeys, {
            order: { by: 'id', direction: 'desc' },
            limit: limit + 1,
            ...(status === 'Active' ? { where: { revoked_at: null } } : {}),
            ...(last === undefined ? {} : { after: last }),
          })
          isMore = read.length > limit
          for (const row of read.slice(0, limit)) {
            last = row.id
            if (status !== 'Revoked' || row.revoked_at !== null) rows.push(row)
            if (rows.length < limit) continue
            isMore = row.id !== read.at(-1)?.id
            break
          }
        }
        return { items: await withMembers(tx, rows), next: isMore ? (last ?? null) : null }
      })
    },
    async find(name, given) {
      const id = idOf(given)
      const network = await networks.show(name)
      return changes.read(network.id, async (tx) => {
        const row = await tx.get(apiKeys, id)
        return row && withMember(tx, row)
      })
    },
    async revoke(name, given) {
      const id = idOf(given)
      const network = await networks.show(name)
      const revoked_at = now()
      return changes.change(network.id, revoked_at, async (tx) => {
        const revoked = await tx.update(apiKeys, id, { revoked_at, updated_at: revoked_at }, { revoked_at: null })
        if (revoked)
          return { result: await withMember(tx, revoked), audit: [{ action: 'key.revoked', subject: subjectOf(revoked) }] }
        found(await tx.get(apiKeys, id), 'API key')
        return fail(invalid('id'), 'The API key is revoked already')
      })
    },
  }
}
