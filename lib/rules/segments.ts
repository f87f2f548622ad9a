/** How members get and lose tags, badges and options: one rule for all three. */
import type { Page, Pager } from '../call.ts'
import type { Context } from '../context.ts'
import { found } from '../errors.ts'
import { orConflict } from '../storage/lock.ts'
import { batchesOf, rowsNamed } from '../storage/rows-of.ts'
import type { Id } from '../storage/table.ts'
import { customFields, memberSegments, type SegmentRow, segments } from '../storage/tables/custom-fields.ts'
import { type MemberRow, members } from '../storage/tables/members.ts'

const recordNames = { tag: 'Tag', badge: 'Badge', option: 'Option' } as const

/**
 * The tag, badge or option with this id.
 * @throws ApiError 404 if this kind has no such segment
 */
export async function segmentOf({ tx }: Pick<Context, 'tx'>, kind: SegmentRow['kind'], id: Id): Promise<SegmentRow> {
  const segment = await tx.get(segments, id)
  return found(segment?.kind === kind ? segment : undefined, recordNames[kind])
}

/**
 * The same, locked: no member gets it any more.
 * @throws ApiError 404
 */
export async function lockSegment({ tx }: Pick<Context, 'tx'>, kind: SegmentRow['kind'], id: Id): Promise<SegmentRow> {
  const segment = await tx.lock(segments, id, 'update')
  return found(segment?.kind === kind ? segment : undefined, recordNames[kind])
}

/**
 * Assigns a segment to a member, unless they have it; its `member_count` goes up. The caller has locked the member.
 * @returns whether they got it now
 * @throws Conflict when the segment has gone since it was read; the kernel runs the work again
 */
export async function giveSegment(context: Pick<Context, 'tx' | 'stamp'>, member_id: Id, segment: SegmentRow): Promise<boolean> {
  const key = { member_id, segment_id: segment.id }
  if (await context.tx.first(memberSegments, key)) return false
  orConflict(await context.tx.increment(segments, segment.id, { member_count: 1 }), `segments ${segment.id}`)
  await context.tx.insert(memberSegments, {
    ...context.stamp(),
    ...key,
    custom_field_id: segment.custom_field_id,
    kind: segment.kind,
  })
  return true
}

/**
 * Takes a segment from a member; its `member_count` goes down. The caller has locked the member.
 * @returns whether they had it
 * @throws Conflict when another request took it at the same moment; the kernel runs the work again
 */
export async function takeSegment({ tx }: Pick<Context, 'tx'>, member_id: Id, segment_id: Id): Promise<boolean> {
  const assignment = await tx.first(memberSegments, { member_id, segment_id })
  if (!assignment) return false
  await tx.increment(segments, segment_id, { member_count: -1 })
  orConflict(await tx.remove(memberSegments, assignment.id), `member_segments ${assignment.id}`)
  return true
}

/** Does something for every holder of a segment, in ascending order of their ids. */
export async function forEachHolder(
  { tx }: Pick<Context, 'tx'>,
  segment_id: Id,
  work: (member: MemberRow) => void | Promise<void>,
): Promise<void> {
  for await (const assignments of batchesOf(tx, memberSegments, { segment_id }, { by: 'member_id' })) {
    const holders = await rowsNamed(tx, members, 'member_id', assignments)
    for (const { member_id } of assignments) {
      const member = holders.get(member_id)
      if (member) await work(member)
    }
  }
}

/** The custom field that every tag, or every badge, of the network belongs to. */
export async function ownField({ tx }: Pick<Context, 'tx'>, kind: 'tag' | 'badge'): Promise<Id> {
  return found(await tx.first(customFields, { response_type: kind }), 'Custom field').id
}

/**
 * The tag, badge or option with this id, if the member has it.
 * @throws ApiError 404
 */
export async function assignedSegment(
  context: Pick<Context, 'tx'>,
  member_id: Id,
  kind: SegmentRow['kind'],
  id: Id,
): Promise<SegmentRow> {
  const segment = await segmentOf(context, kind, id)
  return found((await context.tx.first(memberSegments, { member_id, segment_id: segment.id })) && segment, recordNames[kind])
}

/** One page of the tags or badges of a member, in ascending order of their ids. */
export function assignedSegments(call: Pager, member_id: Id, kind: SegmentRow['kind']): Promise<Page<SegmentRow>> {
  const order = { by: 'segment_id', direction: 'asc' } as const
  return call.page(memberSegments, { where: { member_id, kind }, order }, (rows) =>
    call.tx.find(segments, { where: { id: rows.map((row) => row.segment_id) } }),
  )
}
