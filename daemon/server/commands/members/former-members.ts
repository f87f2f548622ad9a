/** `folkmoot members list`, `unban` and `erase`: also of members who are no longer there. */
import { defined } from '../../../../lib/base/defined.ts'
import { itemsOf } from '../../../../lib/base/pages.ts'
import type { MemberListing, MemberQuery } from '../../../../lib/index.ts'
import { plain } from '../../../json.ts'
import type { Ask, Output } from '../../../output.ts'
import { time } from '../../../table.ts'
import { UsageError } from '../../../usage.ts'
import type { Operator } from '../../control/calls.ts'
import { assetsDirectory } from '../../storage/open.ts'
import { inOptions, missing, ofRecord } from '../in-options.ts'
import { type NetworkFlags, withNetwork, withNetworkChanges } from '../operator.ts'
import { showList, showOne } from '../show.ts'
import { type FilterFlags, filterOf } from './filters.ts'

export interface ListFlags extends NetworkFlags, FilterFlags {
  readonly limit: number
}

export interface EraseFlags extends NetworkFlags {
  readonly yes?: boolean
}

const pageSize = 100

export async function membersOf({ members }: Operator, network: string, query: MemberQuery, most: number) {
  const limit = Math.min(pageSize, most)
  return itemsOf((after) => inOptions(members.list(network, { ...query, limit, ...defined({ after }) })), most)
}

const nameOf = ({ first_name, last_name }: MemberListing): string => `${first_name} ${last_name}`.trim()

/** The state, and of an account that is more than deleted that, too. */
const stateOf = ({ state, is_banned, erased_at }: MemberListing): string =>
  [state, ...(is_banned && state !== 'banned' ? ['banned'] : []), ...(erased_at === null ? [] : ['erased'])].join(', ')

/** `members list`: the newest first unless they are sorted. */
export const listMembers = (flags: ListFlags, out: Output): Promise<void> =>
  withNetwork(flags, out, async (operator, { id }) => {
    const { limit } = flags
    const found = await membersOf(operator, id, filterOf(flags), limit + 1)
    showList(
      out,
      flags,
      found.slice(0, limit),
      [
        { title: 'id', cell: ({ id }) => id, fits: 'whole' },
        { title: 'name', cell: nameOf },
        { title: 'address', cell: ({ email }) => email },
        { title: 'state', cell: stateOf, fits: 'whole', isState: true },
        { title: 'role', cell: ({ role }) => role, shown: 'spare' },
        { title: 'last visit', cell: ({ last_visited_at }) => time(last_visited_at), shown: 'spare' },
        { title: 'left', cell: ({ left_at }) => time(left_at) },
        { title: 'by', cell: ({ left_by }) => left_by && (left_by.name || left_by.id), shown: 'spare' },
        { title: 'reason', cell: ({ ban_reason }) => ban_reason, fits: 'wrap' },
        { title: 'created', cell: ({ created_at }) => time(created_at), shown: 'wide' },
      ],
      'There is no such member.',
    )
    if (found.length > limit && !flags.json) out.warn(`There are more than ${limit}: --limit shows up to 10000.`)
  })

export const unbanMember = (id: string, flags: NetworkFlags, out: Output): Promise<void> =>
  withNetworkChanges(flags, out, async (operator, network) => {
    const member = await ofRecord(network, 'member', id, operator.members.unban(network.id, id))
    showOne(out, flags, member, `The ban of member ${id} is lifted.`)
  })

/** `members erase`: asks first, because nothing brings the person back. */
export function eraseMember(id: string, flags: EraseFlags, out: Output, ask: Ask | undefined): Promise<void> {
  const isAsked = !flags.yes && !flags.preview
  if (isAsked && (ask === undefined || flags.json === true))
    throw new UsageError('an erasure cannot be undone: add --yes if member and network are right')
  const assets = assetsDirectory(flags.storage, flags.assets)
  return withNetworkChanges({ ...flags, assets }, out, async (operator, network) => {
    if (isAsked && ask) {
      const known = (await operator.members.list(network.id, { q: id, limit: 1 })).items.find((member) => member.id === id)
      if (!known) throw missing(network, 'member', id)
      const who = [nameOf(known), known.email].filter((text) => text !== '').join(', ')
      const answer = await ask(`Erase member ${id} (${plain(who)}) of ${plain(network.subdomain)} for good? Type yes: `)
      if (answer.trim().toLowerCase() !== 'yes') throw new UsageError('nothing is erased')
    }
    const member = await ofRecord(network, 'member', id, operator.members.erase(network.id, id))
    showOne(out, flags, member, `Member ${id} is erased.`)
  })
}
