/** `folkmoot members show`, `ban`, `remove` and `role`: one member. */
import { defined } from '../../../../lib/base/defined.ts'
import { plainSentence } from '../../../../lib/events/sentences.ts'
import { happened } from '../../../../lib/host/members/happened.ts'
import type { Block, MemberListing, MemberProfile } from '../../../../lib/index.ts'
import type { Output } from '../../../output.ts'
import type { Operator } from '../../control/calls.ts'
import { ofRecord } from '../in-options.ts'
import { type NetworkFlags, withNetworkChanges } from '../operator.ts'
import { showOne } from '../show.ts'

interface BanFlags extends NetworkFlags {
  readonly reason?: string
  readonly keepPlans?: boolean
}

interface RemoveFlags extends NetworkFlags {
  readonly cancelPlans?: boolean
}

type Work<T> = (members: Operator['members'], network: string) => Promise<T>

/** Runs a call about one member, and shows what came of it. */
const onMember = <T extends object>(
  id: string,
  flags: NetworkFlags,
  out: Output,
  work: Work<T>,
  sentence: (value: T) => string,
) =>
  withNetworkChanges(flags, out, async (operator, network) => {
    const value = await ofRecord(network, 'member', id, work(operator.members, network.id))
    showOne(out, flags, value, sentence(value))
  })

const nameOf = ({ first_name, last_name }: MemberListing): string => `${first_name} ${last_name}`.trim()

export const banMember = (id: string, { reason, keepPlans, ...flags }: BanFlags, out: Output): Promise<void> =>
  onMember(
    id,
    flags,
    out,
    (members, network) => members.ban(network, id, { ...defined({ reason }), cancel_plans: keepPlans !== true }),
    (member) => `Member ${id} (${nameOf(member)}) is banned. \`folkmoot members unban ${id}\` lifts the ban.`,
  )

export const removeMember = (id: string, { cancelPlans, ...flags }: RemoveFlags, out: Output): Promise<void> =>
  onMember(
    id,
    flags,
    out,
    (members, network) => members.remove(network, id, { cancel_plans: cancelPlans === true }),
    (member) => `Member ${id} (${nameOf(member)}) is removed, and may join again.`,
  )

export const changeRole = (id: string, role: MemberListing['role'], flags: NetworkFlags, out: Output): Promise<void> =>
  onMember(
    id,
    flags,
    out,
    (members, network) => members.changeRole(network, id, role),
    (member) => `Member ${id} (${nameOf(member)}) is a ${role}.`,
  )

/** `members show`: a line for each fact, and the newest entries of each list. */
export const showMember = (id: string, flags: NetworkFlags, out: Output): Promise<void> =>
  onMember(id, flags, out, (members, network) => members.get(network, id), profileText)

function profileText(member: MemberProfile): string {
  const facts = {
    name: nameOf(member),
    address: member.email,
    state: `${member.state}${member.ban_reason === null ? '' : ` (${member.ban_reason})`}, ${member.member_type} ${member.role}`,
    joined: member.created_at,
    left:
      member.left_at && `${member.left_at}${member.left_by === null ? '' : ` by ${member.left_by.name || member.left_by.id}`}`,
    'last visit': member.last_visited_at,
    location: member.location,
    'time zone': member.time_zone,
    bio: member.bio,
    categories: member.categories.map(({ title }) => title).join(', '),
    spaces: listed(member.spaces, ({ name, role }) => (role === null ? name : `${name} (${role})`)),
    plans: listed(member.plans, ({ name, source }) => `${name} (${source})`),
    subscriptions: listed(member.subscriptions, ({ plan, status }) => `${plan} (${status})`),
    purchases: listed(member.purchases, ({ plan, revoked_at }) => `${plan}${revoked_at === null ? '' : ' (revoked)'}`),
    tags: listed(member.tags, ({ name }) => name),
    badges: listed(member.badges, ({ name }) => name),
    answers: listed(member.answers, ({ field }) => field),
    invites: listed(member.invites, ({ sent_at }) => sent_at),
    posts: listed(member.posts, ({ title }) => title),
    comments: listed(member.comments, ({ text }) => text.slice(0, 40)),
    RSVPs: listed(member.rsvps, ({ title, status }) => `${title} (${status})`),
    keys: listed(member.keys, ({ name, is_revoked }) => `${name}${is_revoked ? ' (revoked)' : ''}`),
    reports: listed(member.reports, ({ report_type, is_open }) => `${report_type}${is_open ? ' (open)' : ''}`),
  }
  const lines = Object.entries(facts).flatMap(([name, value]) => (value ? [`${`${name}:`.padEnd(15)}${value}`] : []))
  const done = member.timeline.items.map(
    (entry) =>
      `  ${entry.at} ${plainSentence(happened(nameOf(member) || `member ${member.id}`, entry))}, by ${entry.key_id === null ? '' : 'key '}${entry.actor}`,
  )
  return [...lines, ...(done.length > 0 ? ['timeline:', ...done] : [])].join('\n')
}

function listed<Item>({ total, items }: Block<Item>, text: (item: Item) => string): string {
  const more = total > items.length ? `, … (${total})` : ''
  return items.map(text).join(', ') + more
}
