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

/** Brings the categories of a member up to date. */
export async function updateCategories(tx: ScopedTx, member_id: Id): Promise<void> {
  const primary = await tx.first(customFields, { primary: true })
  const choices = primary ? await choicesOf(tx, primary.id, member_id) : []
  await tx.update(members, member_id, { categories: choices.map(({ id, title }) => ({ id, title })) })
}

/** Does something for every member who has chosen something in a dropdown. */
export async function forEachChooser(tx: ScopedTx, custom_field_id: Id, work: (member_id: Id) => Promise<void>): Promise<void> {
  for (let after = '0'; ; ) {
    const chosen = await tx.find(memberSegments, { where: { custom_field_id }, after, limit: batch })
    for (const member_id of new Set(chosen.map((row) => row.member_id))) await work(member_id)
    if (chosen.length < batch) return
    after = chosen.at(-1)?.id ?? after
  }
}
