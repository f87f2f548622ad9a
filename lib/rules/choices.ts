/** The options of a dropdown that a member chooses with an answer. */
import { compareIds } from '../base/ids.ts'
import type { Context } from '../context.ts'
import { fail, invalid } from '../errors.ts'
import { hasMoreCharacters, isBlank, isOneLine, oneLine } from '../fields.ts'
import { type CustomFieldRow, type SegmentRow, segments } from '../storage/tables/custom-fields.ts'
import type { MemberRow } from '../storage/tables/members.ts'
import { updateCategories } from './categories.ts'
import { giveSegment, takeSegment } from './segments.ts'
import { insertSegment, segmentTitled } from './titles.ts'

/** The most options of one answer, unless the field has its own limit. */
export const maxChoices = 100

interface Parties {
  readonly field: CustomFieldRow
  readonly member: MemberRow
}

/** The fields of a request that choose options. */
interface GivenChoices {
  readonly segment_ids?: readonly string[] | null | undefined
  readonly text?: string | null | undefined
}

export const sameChoices = (some: readonly SegmentRow[], others: readonly SegmentRow[]): boolean =>
  some.length === others.length && some.every(({ id }) => others.some((other) => other.id === id))

/**
 * The options that a request chooses; a text becomes a new option if the field allows it.
 * @throws ApiError 422 when they are not options of the field, or more than it takes
 */
export async function choicesIn(
  call: Pick<Context, 'tx' | 'stamp' | 'limits'>,
  { field, member }: Parties,
  { segment_ids, text }: GivenChoices,
): Promise<SegmentRow[]> {
  if (segment_ids === undefined && text === undefined)
    fail(invalid('segment_ids'), `segment_ids is required for a ${field.response_type} field; an empty list clears the answer`)
  const ids = [...new Set(segment_ids ?? [])]
  const known = (await call.tx.find(segments, { where: { id: ids } })).filter((option) => option.custom_field_id === field.id)
  const stranger = ids.find((id) => !known.some((option) => option.id === id))
  if (stranger) fail(invalid('segment_ids'), `segment_ids: ${stranger} is not an option of this field`)
  const title = isBlank(text ?? '') ? '' : (text ?? '').trim()
  const own = title === '' ? undefined : await adHocOption(call, field, member, title)
  const choices = own && !known.some((option) => option.id === own.id) ? [...known, own] : known
  const most = field.response_type === 'dropdown_single_select' ? 1 : (field.max_responses ?? maxChoices)
  if (choices.length > most) fail(invalid('segment_ids'), `segment_ids must have at most ${most} of the field’s options`)
  return choices
}

/** @throws ApiError 422 when the field takes no options but its own, or the text is no title of one */
async function adHocOption(
  call: Pick<Context, 'tx' | 'stamp' | 'limits'>,
  field: CustomFieldRow,
  member: MemberRow,
  title: string,
): Promise<SegmentRow> {
  if (!field.allow_ad_hoc) fail(invalid('text'), 'text: this field accepts only its existing options; name them in segment_ids')
  const most = call.limits.titleCharacters
  if (hasMoreCharacters(title, most)) fail(invalid('text'), `text must have at most ${most} characters as an option`)
  if (!isOneLine(title)) fail(invalid('text'), `text ${oneLine}, as an option`)
  const known = await segmentTitled(call, field.id, title)
  if (known) return known
  return insertSegment(call, { kind: 'option', custom_field_id: field.id, title, is_ad_hoc: true, creator_id: member.id })
}

/** Assigns these options of a field to a member and no others. */
export async function choose(
  call: Pick<Context, 'tx' | 'stamp'>,
  { field, member }: Parties,
  former: readonly SegmentRow[],
  choices: readonly SegmentRow[],
): Promise<void> {
  // Taken and given in one order: others leave with the same options, or change between them.
  for (const option of [...former, ...choices].sort((a, b) => compareIds(a.id, b.id)))
    if (choices.some(({ id }) => id === option.id)) await giveSegment(call, member.id, option)
    else await takeSegment(call, member.id, option.id)
  if (field.primary) await updateCategories(call.tx, member.id)
}
