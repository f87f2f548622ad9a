/** Everything about one member on one page, for admins: each list is counted, and shows its newest entries. */
import { type AnswerRecord, presentAnswer } from '../../records/answer.ts'
import type { Where } from '../../storage/contract.ts'
import { rowsNamed } from '../../storage/rows-of.ts'
import type { ScopedTx } from '../../storage/scoped.ts'
import type { Id, Row, Table } from '../../storage/table.ts'
import { apiKeys, audit } from '../../storage/tables/administration.ts'
import { abuseReports, comments, posts } from '../../storage/tables/content.ts'
import { answers, customFields, memberSegments, segments } from '../../storage/tables/custom-fields.ts'
import { rsvps } from '../../storage/tables/events.ts'
import { type MemberRow, memberHistory, spaceMemberships, spaces } from '../../storage/tables/members.ts'
import { invites, planMemberships, plans, purchases, subscriptions } from '../../storage/tables/plans.ts'
import type { Details } from '../audit/details.ts'
import type { MemberListing } from './listing.ts'

/** The newest entries of a list, at most ten, and how many there are. */
export interface Block<Item> {
  readonly total: number
  readonly items: readonly Item[]
}

interface NamedEntry {
  readonly id: Id
  readonly name: string
  /** ISO 8601, UTC. */
  readonly since: string
}

/** A member with everything that the network keeps about them. */
export interface MemberProfile
  extends MemberListing,
    Pick<
      MemberRow,
      | 'time_zone'
      | 'location'
      | 'bio'
      | 'avatar'
      | 'categories'
      | 'referral_count'
      | 'ambassador_level'
      | 'commercial_email_consent'
    > {
  /** The spaces that they belong to, with their role there if it is another. */
  readonly spaces: Block<NamedEntry & { readonly role: MemberRow['role'] | null }>
  /** The plans that are open for them, and by what. */
  readonly plans: Block<NamedEntry & { readonly source: 'direct' | 'invite' | 'subscription' | 'purchase' }>
  /** Their payments; `amount` in cents. */
  readonly subscriptions: Block<Payment & { readonly status: 'active' | 'ending' | 'canceled' }>
  readonly purchases: Block<Payment & { readonly revoked_at: string | null }>
  readonly tags: Block<NamedEntry & { readonly color: string | null }>
  readonly badges: Block<NamedEntry>
  /** Their answers to custom fields. */
  readonly answers: Block<{ readonly field: string; readonly answer: AnswerRecord }>
  /** Invites to them that are open, and those that they have sent. */
  readonly invites: Block<{
    readonly id: Id
    readonly recipient_email: string
    readonly sent_at: string
    readonly accepted_at: string | null
  }>
  readonly posts: Block<{ readonly id: Id; readonly title: string; readonly family: string; readonly created_at: string }>
  readonly comments: Block<{ readonly id: Id; readonly post_id: Id; readonly text: string; readonly created_at: string }>
  /** Their RSVPs, with the title of the event. */
  readonly rsvps: Block<{ readonly event_id: Id; readonly title: string; readonly status: 'yes' | 'maybe' | 'no' }>
  /** The API keys that act as them. */
  readonly keys: Block<{ readonly id: Id; readonly name: string; readonly is_revoked: boolean }>
  /** Reports of abuse that name them. */
  readonly reports: Block<{ readonly id: Id; readonly report_type: string; readonly is_open: boolean }>
  /** What was done to them, and by whom. */
  readonly timeline: Block<TimelineEntry>
}

/** Something that was done to a member: by an operation, or, as the audit has it, by the host. */
export interface TimelineEntry {
  /** ISO 8601, UTC. */
  readonly at: string
  /** An event without `Hook`, such as `MemberTagAdded`, or an action of the audit, such as `member.banned`. */
  readonly action: string
  /** As the audit names it, `host` if it doesn't; of an API key its name. */
  readonly actor: string
  /** The API key that acted; null for the host. */
  readonly key_id: Id | null
  /** The names of spaces, tags, badges and plans that it is about, at most ten. */
  readonly about: readonly string[]
  /** Of a changed role, kind of member or state `from` and `to`; of the audit its details. */
  readonly details: Details
}

interface Payment {
  readonly id: Id
  readonly plan: string | null
  readonly amount: number
  readonly currency: string
  readonly purchased_at: string
}

/** Entries of a block. */
const shown = 10
const shortText = (text: string): string => (text.length > 200 ? `${text.slice(0, 199)}…` : text)

/** @param listing the same member in short */
export async function profileOf(tx: ScopedTx, row: MemberRow, listing: MemberListing): Promise<MemberProfile> {
  const member_id = row.id

  async function block<R extends Row, N, Item>(
    table: Table<R, N>,
    where: Where<R>,
    present: (rows: readonly R[]) => readonly Item[] | Promise<readonly Item[]>,
  ): Promise<Block<Item>> {
    const rows = await tx.find(table, { where, order: { by: 'id', direction: 'desc' }, limit: shown })
    const total = rows.length < shown ? rows.length : await tx.count(table, { where })
    return { total, items: await present(rows) }
  }
  const segmentsOf = (kind: 'tag' | 'badge') =>
    block(memberSegments, { member_id, kind }, async (rows) => {
      const known = await rowsNamed(tx, segments, 'segment_id', rows)
      return rows.map(({ segment_id: id, created_at: since }) => ({
        ...{ id, since, name: known.get(id)?.title ?? '' },
        color: known.get(id)?.color ?? null,
      }))
    })
  /** The names of things such as `space:201`. */
  const namesOf = async (things: readonly string[]): Promise<readonly string[]> => {
    const names = things.slice(0, shown).map(async (thing) => {
      const [kind = '', id = ''] = thing.split(':')
      if (id === tx.network_id) return 'the network'
      const known = kind === 'space' ? await tx.get(spaces, id) : kind === 'plan' ? await tx.get(plans, id) : undefined
      return known?.name ?? (await tx.get(segments, id))?.title ?? thing
    })
    return Promise.all(names)
  }
  /** The newest of the history and of the audit. */
  async function timeline(): Promise<Block<TimelineEntry>> {
    const byHost = await block(audit, { subject_type: 'member', subject_id: member_id }, (rows) =>
      rows.map(({ created_at: at, action, actor, details }) => ({ at, action, actor, key_id: null, about: [], details })),
    )
    const byOperations = await block(memberHistory, { member_id }, async (rows) => {
      const keys = await rowsNamed(tx, apiKeys, 'key_id', rows)
      return Promise.all(
        rows.map(async ({ created_at: at, event: action, key_id, actor: named, about, changes: details }) => {
          const actor = key_id === null ? (named ?? 'host') : (keys.get(key_id)?.name ?? `key ${key_id}`)
          return { at, action, actor, key_id, about: await namesOf(about), details }
        }),
      )
    })
    const items = [...byHost.items, ...byOperations.items].toSorted((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
    return { total: byHost.total + byOperations.total, items: items.slice(0, shown) }
  }
  const { time_zone, location, bio, avatar, categories, referral_count, ambassador_level } = row
  return {
    ...listing,
    ...{ time_zone, location, bio, avatar, categories, referral_count, ambassador_level },
    commercial_email_consent: row.commercial_email_consent,
    spaces: await block(spaceMemberships, { member_id }, async (rows) => {
      const known = await rowsNamed(tx, spaces, 'space_id', rows)
      return rows.map(({ space_id: id, role, created_at: since }) => ({ id, role, since, name: known.get(id)?.name ?? '' }))
    }),
    plans: await block(planMemberships, { member_id }, async (rows) => {
      const known = await rowsNamed(tx, plans, 'plan_id', rows)
      return rows.map(({ plan_id: id, source, created_at: since }) => ({ id, source, since, name: known.get(id)?.name ?? '' }))
    }),
    subscriptions: await block(subscriptions, { member_id }, (rows) =>
      rows.map(({ id, plan, status, purchased_at }) => ({ ...paymentOf(id, plan, purchased_at), status })),
    ),
    purchases: await block(purchases, { member_id }, (rows) =>
      rows.map(({ id, plan, revoked_at, purchased_at }) => ({ ...paymentOf(id, plan, purchased_at), revoked_at })),
    ),
    tags: await segmentsOf('tag'),
    badges: await segmentsOf('badge'),
    answers: await block(answers, { member_id }, async (rows) => {
      const known = await rowsNamed(tx, customFields, 'custom_field_id', rows)
      const chosen = await tx.find(memberSegments, { where: { member_id, kind: 'option' } })
      const options = await rowsNamed(tx, segments, 'segment_id', chosen)
      return rows.flatMap((answer) => {
        const field = known.get(answer.custom_field_id)
        const own = [...options.values()].filter(({ custom_field_id }) => custom_field_id === answer.custom_field_id)
        return field ? [{ field: field.title, answer: presentAnswer(field, answer, own) }] : []
      })
    }),
    invites: await block(invites, { recipient_id: member_id }, (rows) =>
      rows.map(({ id, recipient_email, sent_at, accepted_at }) => ({ id, recipient_email, sent_at, accepted_at })),
    ),
    posts: await block(posts, { creator_id: member_id }, (rows) =>
      rows.map(({ id, title, family, created_at }) => ({ id, title, family, created_at })),
    ),
    comments: await block(comments, { author_id: member_id }, (rows) =>
      rows.map(({ id, post_id, text, created_at }) => ({ id, post_id, created_at, text: shortText(text) })),
    ),
    rsvps: await block(rsvps, { member_id }, async (rows) => {
      // An event has the id of its post.
      const known = await rowsNamed(tx, posts, 'event_id', rows)
      return rows.map(({ event_id, status }) => ({ event_id, status, title: known.get(event_id)?.title ?? '' }))
    }),
    keys: await block(apiKeys, { member_id }, (rows) =>
      rows.map(({ id, name, revoked_at }) => ({ id, name, is_revoked: revoked_at !== null })),
    ),
    reports: await block(abuseReports, { targetable_type: 'User', targetable_id: member_id }, (rows) =>
      rows.map(({ id, report_type, ignored_at }) => ({ id, report_type, is_open: ignored_at === null })),
    ),
    timeline: await timeline(),
  }
}

const paymentOf = (
  id: Id,
  { name: plan, amount, currency }: { name: string | null; amount: number; currency: string },
  purchased_at: string,
) => ({
  ...{ id, plan, amount, currency, purchased_at },
})
