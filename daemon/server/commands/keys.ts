/** `folkmoot keys …` */

import { readMoment } from '../../../lib/base/date-time.ts'
import { defined } from '../../../lib/base/defined.ts'
import { suggestion } from '../../../lib/base/suggest.ts'
import type { KeyListing } from '../../../lib/index.ts'
import { operations } from '../../../lib/operations.ts'
import type { Output } from '../../output.ts'
import { time } from '../../table.ts'
import { UsageError } from '../../usage.ts'
import { inOptions, ofRecord } from './in-options.ts'
import { type NetworkFlags, withNetwork, withNetworkChanges } from './operator.ts'
import { showList, showOne, warnOnce } from './show.ts'

export interface KeyFlags extends NetworkFlags {}

export interface CreateFlags extends KeyFlags {
  readonly name: string
  readonly scope: readonly string[]
  readonly member?: string
  readonly expires?: string
}

/** Every scope that a key may hold. */
const scopes = (): readonly string[] => {
  const groups = [...new Set(operations.map(({ scope }) => scope.slice(0, scope.indexOf(':'))))].sort()
  return ['*', '*:read', ...groups.flatMap((group) => [`${group}:read`, `${group}:write`])]
}

/** `keys create`: the one moment in which a token can be read. */
export async function createKey({ name, scope, member, expires, ...flags }: CreateFlags, out: Output): Promise<void> {
  if (expires !== undefined && readMoment(expires)?.offset === undefined)
    throw new UsageError(`--expires must be like 2027-01-01T00:00:00Z, got ${JSON.stringify(expires)}`)
  const known = scopes()
  if (scope.length === 0) throw new UsageError(`--scope is required, one or more of ${known.join(', ')}`)
  for (const each of scope)
    if (!known.includes(each)) throw new UsageError(`there is no --scope ${JSON.stringify(each)}: ${suggestion(each, known)}`)
  await withNetworkChanges(flags, out, async (operator, { id }) => {
    const wish = { network: id, name, scopes: scope, ...defined({ member_id: member, expires_at: expires }) }
    const { key, token } = await inOptions(operator.keys.create(wish))
    showOne(out, flags, { ...key, token }, token)
    warnOnce(out, flags, 'this token')
  })
}

const stateOf = ({ status, expired }: KeyListing): string => (status === 'Active' && expired ? 'Expired' : status)

export const listKeys = (flags: KeyFlags, out: Output): Promise<void> =>
  withNetwork(flags, out, async ({ keys }, { id }) =>
    showList(
      out,
      flags,
      await keys.list(id),
      [
        { title: 'id', cell: ({ id }) => id, fits: 'whole' },
        { title: 'name', cell: ({ name }) => name },
        { title: 'status', cell: stateOf, isState: true },
        { title: 'scopes', cell: (key) => key.scopes.join(' ') },
        { title: 'expires', cell: ({ expires_at }) => time(expires_at) },
        { title: 'last used', cell: ({ last_used_at }) => time(last_used_at) },
        { title: 'member', cell: (key) => key.member_id, fits: 'whole' },
        { title: 'key', cell: ({ redacted }) => redacted, fits: 'whole', shown: 'spare' },
        { title: 'created', cell: ({ created_at }) => time(created_at), shown: 'wide' },
      ],
      'There is no key.',
    ),
  )

/** `keys revoke`: immediately and for good. */
export const revokeKey = (id: string, flags: KeyFlags, out: Output): Promise<void> =>
  withNetworkChanges(flags, out, async (operator, network) => {
    const key = await ofRecord(network, 'key', id, operator.keys.revoke(network.id, id))
    showOne(out, flags, key, `Key ${key.id} (${key.name}) is revoked.`)
  })
