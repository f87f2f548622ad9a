/** The categories of members: their options in the network's primary custom field, if it has one. */
import { rowsOf } from '../storage/rows-of.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import { customFields, memberSegments, type SegmentRow, segments } from '../storage/tables/custom-fields.ts'
import { members } from '../storage/tables/members.ts'

/** The options that a member has chosen in a dropdown, in ascending order of their ids. */
export async function choicesOf(tx: ScopedTx, custom_field_id: Id, member_id: Id): Promise<SegmentRow[]> {
  const chosen = await tx.find(memberSegments, { where: { member_id, custom_field_id } })
  return tx.find(segments, { where: { id: chosen.map((row) => row.segment_id) } })
}

/** Brings the categories of a member up to date. The caller has locked the member. */
export async function updateCategories(tx: ScopedTx, member_id: Id): Promise<void> {
  const primary = await tx.first(customFields, { primary: true })
  const choices = primary ? await choicesOf(tx, primary.id, member_id) : []
  await tx.update(members, member_id, { categories: choices.map(({ id, title }) => ({ id, title })) })
}

/**
 * Locks every member who has chosen something in a dropdown, or one of its options. The caller has locked the field, so that
 * their number doesn't grow in between.
 * @returns their ids
 */
export async function lockRespondents(
  tx: ScopedTx,
  where: { readonly custom_field_id: Id } | { readonly segment_id: Id },
): Promise<readonly Id[]> {
  const ids = new Set<Id>()
  // A member who has chosen several options is found with the first of them.
  for await (const { member_id } of rowsOf(tx, memberSegments, where, { by: 'member_id' })) ids.add(member_id)
  const there: Id[] = []
  for (const id of ids) if ((await tx.lock(members, id, 'update'))?.state === 'active') there.push(id)
  return there
}
