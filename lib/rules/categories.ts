/** The categories of members: what they have chosen in the network's primary custom field, if it has one. */
import type { ScopedTx } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import { customFields, memberSegments, members, type SegmentRow, segments } from '../storage/tables.ts'

const batch = 200

/** What a member has chosen in a dropdown, in ascending order of the options' ids. */
export async function choicesOf(tx: ScopedTx, custom_field_id: Id, member_id: Id): Promise<SegmentRow[]> {
  const chosen = await tx.find(memberSegments, { where: { member_id, custom_field_id } })
  return tx.find(segments, { where: { id: chosen.map((row) => row.segment_id) } })
}

/** Brings the categories of a member up to date. The caller holds the member. */
export async function updateCategories(tx: ScopedTx, member_id: Id): Promise<void> {
  const primary = await tx.first(customFields, { primary: true })
  const choices = primary ? await choicesOf(tx, primary.id, member_id) : []
  await tx.update(members, member_id, { categories: choices.map(({ id, title }) => ({ id, title })) })
}

/**
 * Holds every member who has chosen something in a dropdown, or one of its options. The caller holds the field, so that there
 * are not more of them meanwhile.
 * @returns their ids
 */
export async function heldChoosers(
  tx: ScopedTx,
  where: { readonly custom_field_id: Id } | { readonly segment_id: Id },
): Promise<readonly Id[]> {
  const ids = new Set<Id>()
  for (let after = '0'; ; ) {
    // Whoever has chosen several options is found with the first of them.
    const order = { by: 'member_id', direction: 'asc' } as const
    const chosen = await tx.find(memberSegments, { where, order, after, limit: batch })
    for (const { member_id } of chosen) ids.add(member_id)
    if (chosen.length < batch) break
    after = chosen.at(-1)?.member_id ?? after
  }
  const there: Id[] = []
  for (const id of ids) if (await tx.update(members, id, { state: 'active' }, { state: 'active' })) there.push(id)
  return there
}
