/** What operations did to members, and by whom: a row for each kind of event about a membership, in the transaction of the events. */
import type { Principal } from '../context.ts'
import { type EventName, subjectOf } from '../events/catalogue.ts'
import type { Change } from '../events/changed.ts'
import type { Emission } from '../events/envelope.ts'
import { about, type SubjectRule } from '../events/subject-rules.ts'
import { isSame } from '../storage/changes.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import { type MemberChanges, memberHistory } from '../storage/tables/members.ts'

const space = about('space', 'space_id')
const tag = about('tag', 'tag.id')
const badge = about('badge', 'badge.id')
const plan = about('plan', 'plan.id')

/** The events that are recorded, with what they are about in addition to the member. */
const recorded: Readonly<Partial<Record<EventName, SubjectRule>>> = {
  MemberJoined: space,
  MemberLeft: space,
  MemberUpdated: space,
  MemberTagAdded: tag,
  MemberTagRemoved: tag,
  MemberBadgeAdded: badge,
  MemberBadgeRemoved: badge,
  MemberPurchased: plan,
  MemberPlanChanged: plan,
  MemberSubscriptionCanceled: plan,
  MemberRemovedFromPlan: plan,
}

interface Entry {
  readonly event: EventName
  readonly member: string
  readonly about: string[]
  changes: MemberChanges
}

const insertedTogether = 200
/** The most records that one row is about. */
const mostAbout = 100

/**
 * Records what an operation did to members. Several events of a kind about one member, such as of each space, are one row.
 * @param actor whom the host named, where it acts
 * @param stamp makes the id and the times of a row
 */
export async function recordHistory(
  tx: ScopedTx,
  emissions: readonly Emission[],
  { key_id, member_id: by_id }: Principal,
  actor: string | null,
  stamp: () => { readonly id: Id; readonly created_at: string; readonly updated_at: string },
): Promise<void> {
  const entries = new Map<string, Entry>()
  for (const { name: event, payload, change } of emissions) {
    const subject = recorded[event] && subjectOf(event, payload)
    if (subject === undefined) continue
    const changes = changesIn(change)
    // Of a profile the event alone says what changed.
    if (event === 'MemberUpdated' && Object.keys(changes).length === 0) continue
    const entry = entries.get(`${event} ${subject}`) ?? { event, member: subject.slice('member:'.length), about: [], changes: {} }
    entries.set(`${event} ${subject}`, entry)
    const other = recorded[event]?.(payload)
    if (other !== undefined && entry.about.length < mostAbout) entry.about.push(other)
    entry.changes = { ...entry.changes, ...changes }
  }
  const rows = [...entries.values()].map(({ member: member_id, ...entry }) => ({
    ...stamp(),
    ...entry,
    member_id,
    key_id,
    actor,
    by_id,
  }))
  // Together: one by one, a tag with thousands of holders would take twice as long to delete on PostgreSQL.
  for (let begin = 0; begin < rows.length; begin += insertedTogether)
    await Promise.all(rows.slice(begin, begin + insertedTogether).map((row) => tx.insert(memberHistory, row)))
}

/** The role and the state before and after, where they differ. */
function changesIn(change: Change | undefined): MemberChanges {
  if (!change) return {}
  const [before, after] = change as readonly [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>]
  const differing = (['role', 'member_type', 'state'] as const).filter((name) => !isSame(before[name], after[name]))
  return Object.fromEntries(differing.map((name) => [name, { from: before[name], to: after[name] }])) as MemberChanges
}
