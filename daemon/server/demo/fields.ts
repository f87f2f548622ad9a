import { newTitle } from '../../../lib/rules/titles.ts'
import type { ScopedTx } from '../../../lib/storage/scoped.ts'
import { assets } from '../../../lib/storage/tables/content.ts'
import { answers, customFields, memberSegments, segments } from '../../../lib/storage/tables/custom-fields.ts'
import { at, badgeFieldId, memberIds, ownerId, pick, range, stamp, tagFieldId } from './made.ts'

const fields = [
  { title: 'Favourite medium', response_type: 'dropdown_single_select', primary: true },
  { title: 'Techniques', response_type: 'dropdown_multi_select', max_responses: 3 },
  { title: 'Studio', response_type: 'text_short' },
  { title: 'About your work', response_type: 'text_long' },
  { title: 'Painting since', response_type: 'date' },
  { title: 'Portfolio', response_type: 'url' },
] as const

/** Custom fields with their answers; tags, badges and options with the members that carry them. */
export async function seedFields(tx: ScopedTx): Promise<void> {
  await tx.insert(customFields, {
    ...stamp(Number(tagFieldId), 0),
    title: 'Tags',
    response_type: 'tag',
    response_by: 'hosts_only',
  })
  await tx.insert(customFields, {
    ...stamp(Number(badgeFieldId), 0),
    title: 'Badges',
    response_type: 'badge',
    response_by: 'hosts_only',
  })
  for (const [place, field] of fields.entries()) await tx.insert(customFields, { ...stamp(3001 + place, 2), ...field })
  for (const place of range(3))
    await tx.insert(assets, {
      ...stamp(3501 + place, 2),
      url: `https://demo.example/assets/${3501 + place}.png`,
      type: 'Asset',
      name: `badge-${place + 1}.png`,
      asset_style: 'avatar',
      content_type: 'image/png',
      byte_size: 68,
    })

  let membership = 3_000_001
  const seed = async (
    kind: 'tag' | 'badge' | 'option',
    field: string,
    first: number,
    titles: readonly string[],
    carriers: readonly string[],
  ) => {
    for (const [place, title] of titles.entries()) {
      const carrying = carriers.filter((_, member) => member % (titles.length + 1) === place)
      await tx.insert(segments, {
        ...stamp(first + place, 3),
        kind,
        custom_field_id: field,
        ...newTitle(title),
        color: kind === 'option' ? null : '#33AA77',
        avatar_id: kind === 'badge' ? String(3501 + place) : null,
        avatar_url: kind === 'badge' ? `https://demo.example/assets/${3501 + place}.png` : null,
        creator_id: ownerId,
        member_count: carrying.length,
      })
      for (const member_id of carrying)
        await tx.insert(memberSegments, {
          ...stamp(membership++, 4),
          member_id,
          segment_id: String(first + place),
          custom_field_id: field,
          kind,
        })
    }
  }
  await seed('tag', tagFieldId, 3101, ['VIP', 'Newcomer', 'Mentor', 'Exhibitor'], memberIds)
  await seed('badge', badgeFieldId, 3201, ['First post', 'Ten paintings', 'Helper'], memberIds)
  await seed('option', '3002', 3311, ['Wet on wet', 'Impasto', 'Glazing'], [])

  // The favourite medium of the first twelve, in turn, so that it agrees with their categories.
  const media = ['Watercolour', 'Oil', 'Acrylic'] as const
  for (const [place, title] of media.entries())
    await tx.insert(segments, {
      ...stamp(3301 + place, 3),
      kind: 'option',
      custom_field_id: '3001',
      ...newTitle(title),
      creator_id: ownerId,
      member_count: 4,
    })
  for (const place of range(12)) {
    const member_id = pick(['1001', ...memberIds.slice(1)], place)
    const chosen = { member_id, segment_id: String(3301 + (place % 3)), custom_field_id: '3001', kind: 'option' } as const
    await tx.insert(memberSegments, { ...stamp(membership++, 20), ...chosen })
    await tx.insert(answers, { ...stamp(3401 + place, 20), custom_field_id: '3001', member_id, last_edited_at: at(20) })
    await tx.insert(answers, {
      ...stamp(3421 + place, 21),
      custom_field_id: '3003',
      member_id,
      text: `Studio ${place + 1}`,
      last_edited_at: at(21),
    })
  }
}
