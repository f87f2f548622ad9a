/** How members get and lose tags, badges and options: one rule for all three. */
import { found } from '../errors.ts'
import type { Context, Page, Pager } from '../operation.ts'
import { count } from '../storage/counter.ts'
import { held, won } from '../storage/hold.ts'
import type { Id } from '../storage/table.ts'
import { customFields, type MemberRow, memberSegments, members, type SegmentRow, segments } from '../storage/tables.ts'

const batch = 200

const recordNames = { tag: 'Tag', badge: 'Badge', option: 'Option' } as const

/**
 * The tag, badge or option with this id.
 * @throws ApiError 404 when there is none of this kind
 */
export async function segmentOf({ tx }: Pick<Context, 'tx'>, kind: SegmentRow['kind'], id: Id): Promise<SegmentRow> {
  const segment = await tx.get(segments, id)
  return found(segment?.kind === kind ? segment : undefined, recordNames[kind])
}

/**
 * The same, held: nobody gets it any more.
 * @throws ApiError 404
 */
export async function heldSegment({ tx }: Pick<Context, 'tx'>, kind: SegmentRow['kind'], id: Id): Promise<SegmentRow> {
  const segment = await held(tx, segments, id)
  return found(segment?.kind === kind ? segment : undefined, recordNames[kind])
}

/**
 * Gives a segment to a member, unless they carry it; its `member_count` goes up. The caller holds the member.
 * @returns whether they got it now
 * @throws Conflict when the segment has gone since it was read; the kernel runs the work again
 */
export async function giveSegment(context: Pick<Context, 'tx' | 'stamp'>, member_id: Id, segment: SegmentRow): Promise<boolean> {
  const key = { member_id, segment_id: segment.id }
  if (await context.tx.first(memberSegments, key)) return false
  won(await count(context.tx, segments, segment.id, 'member_count', 1), `segments ${segment.id}`)
  await context.tx.insert(memberSegments, {
    ...context.stamp(),
    ...key,
    custom_field_id: segment.custom_field_id,
    kind: segment.kind,
  })
  return true
}

/**
 * Takes a segment from a member; its `member_count` goes down. The caller holds the member.
 * @returns whether they carried it
 * @throws Conflict when somebody else took it at the same moment; the kernel runs the work again
 */
export async function takeSegment({ tx }: Pick<Context, 'tx'>, member_id: Id, segment_id: Id): Promise<boolean> {
  const carried = await tx.first(memberSegments, { member_id, segment_id })
  if (!carried) return false
  await count(tx, segments, segment_id, 'member_count', -1)
  won(await tx.remove(memberSegments, carried.id), `member_segments ${carried.id}`)
  return true
}

/** Does something for every member who carries a segment, in ascending order of their ids. */
export async function forEachCarrier(
  { tx }: Pick<Context, 'tx'>,
  segment_id: Id,
  work: (member: MemberRow) => void | Promise<void>,
): Promise<void> {
  for (let after = '0'; ; ) {
    const order = { by: 'member_id', direction: 'asc' } as const
    const carried = await tx.find(memberSegments, { where: { segment_id }, order, after, limit: batch })
    const carriers = await tx.find(members, { where: { id: carried.map((row) => row.member_id) } })
    const memberOf = new Map(carriers.map((member) => [member.id, member]))
    for (const { member_id } of carried) {
      const member = memberOf.get(member_id)
      if (member) await work(member)
    }
    if (carried.length < batch) return
    after = carried.at(-1)?.member_id ?? after
  }
}

/** The custom field that every tag, or every badge, of the network belongs to. */
export async function ownField({ tx }: Pick<Context, 'tx'>, kind: 'tag' | 'badge'): Promise<Id> {
  return found(await tx.first(customFields, { response_type: kind }), 'Custom field').id
}

/**
 * The tag, badge or option with this id, if the member carries it.
 * @throws ApiError 404
 */
export async function carriedSegment(
  context: Pick<Context, 'tx'>,
  member_id: Id,
  kind: SegmentRow['kind'],
  id: Id,
): Promise<SegmentRow> {
  const segment = await segmentOf(context, kind, id)
  return found((await context.tx.first(memberSegments, { member_id, segment_id: segment.id })) && segment, recordNames[kind])
}

/** One page of the tags or badges that a member carries, in ascending order of their ids. */
export function carriedSegments(call: Pager, member_id: Id, kind: SegmentRow['kind']): Promise<Page<SegmentRow>> {
  const order = { by: 'segment_id', direction: 'asc' } as const
  return call.page(memberSegments, { where: { member_id, kind }, order }, (rows) =>
    call.tx.find(segments, { where: { id: rows.map((row) => row.segment_id) } }),
  )
}
