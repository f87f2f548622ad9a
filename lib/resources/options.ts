import type { Context } from '../context.ts'
import { fail, found, invalid, notFound } from '../errors.ts'
import { describe, LongText, optional, optionalOrNull, paged, request, ShortText, Title } from '../fields.ts'
import { operation } from '../operation.ts'
import { presentMember } from '../records/member.ts'
import { Option } from '../records/segment.ts'
import { choicesOf, lockRespondents, updateCategories } from '../rules/categories.ts'
import { fieldOf, isDropdown, lockField } from '../rules/options.ts'
import { forEachHolder } from '../rules/segments.ts'
import { addSegment, changedTitle, searchKey } from '../rules/titles.ts'
import { removeWithDependents } from '../storage/cascade.ts'
import { orConflict } from '../storage/lock.ts'
import { answers, type CustomFieldRow, type SegmentRow, segments } from '../storage/tables/custom-fields.ts'

const OptionCreate = request('CustomFieldOptionRequest', {
  title: describe(Title, 'The text of the option. No other option of the field may have it, whatever its case.'),
  description: describe(optionalOrNull(LongText), 'More about the option; null for nothing.'),
})

const OptionUpdate = request('CustomFieldOptionUpdateRequest', {
  title: describe(optional(Title), 'The new text. No other option of the field may have it, whatever its case.'),
  description: describe(optionalOrNull(LongText), 'More about the option; null or an empty text clears it.'),
})

export const listOptions = operation({
  id: 'options.list',
  method: 'GET',
  path: '/custom_fields/:custom_field_id/options',
  scope: 'options:read',
  summary: 'List the options of a dropdown; for the fields of tags and badges, the tags and badges.',
  description: 'Options that members have added by their answers are among them, marked by `is_ad_hoc`.',
  query: {
    term: describe(optional(ShortText), 'Only options with this text somewhere in their title. Case and accents do not matter.'),
  },
  returns: paged(Option),
  errors: [notFound('Custom field')],
  async handle(call) {
    const { id } = await fieldOf(call, call.params.custom_field_id)
    const term = searchKey(call.query.term ?? '')
    const where = { custom_field_id: id }
    return call.page(segments, term === '' ? { where } : { where, picks: ({ title }) => searchKey(title).includes(term) })
  },
})

export const createOption = operation({
  id: 'options.create',
  method: 'POST',
  path: '/custom_fields/:custom_field_id/options',
  scope: 'options:write',
  summary: 'Add an option to a dropdown.',
  description: 'A field that is no dropdown is a 422. No event is sent.',
  status: 201,
  body: OptionCreate,
  returns: Option,
  errors: [notFound('Custom field'), invalid('custom_field_id', 'title')],
  async handle(call) {
    const field = await lockField(call, call.params.custom_field_id, 'share')
    if (!isDropdown(field))
      fail(invalid('custom_field_id'), `custom_field_id: a field of the kind ${field.response_type} has no own options`)
    return addSegment(call, { ...call.body, kind: 'option', custom_field_id: field.id, creator_id: call.principal.member_id })
  },
})

export const showOption = operation({
  id: 'options.show',
  method: 'GET',
  path: '/custom_fields/:custom_field_id/options/:id/',
  scope: 'options:read',
  summary: 'Show an option.',
  description: 'An option of another field is a 404.',
  returns: Option,
  errors: [notFound('Custom field'), notFound('Option')],
  handle: async (call) => (await optionOf(call, call.params)).option,
})

export const updateOption = operation({
  id: 'options.update',
  method: 'PATCH',
  path: '/custom_fields/:custom_field_id/options/:id/',
  also: { id: 'options.replace', method: 'PUT' },
  scope: 'options:write',
  summary: 'Change the title or description of an option.',
  description: 'Members who chose it keep it; in the primary field their `categories` show the new title. No event is sent.',
  body: OptionUpdate,
  returns: Option,
  errors: [notFound('Custom field'), notFound('Option'), invalid('title')],
  async handle(call) {
    await lockField(call, call.params.custom_field_id, 'update')
    const { field, option } = await optionOf(call, call.params)
    const { title } = call.body
    // Members show the titles of their options in the primary field.
    const isShown = field.primary && title !== undefined && title !== option.title
    const respondents = isShown ? await lockRespondents(call.tx, { segment_id: option.id }) : []
    const locked = orConflict(await call.tx.lock(segments, option.id, 'update'), `segments ${option.id}`)
    const columns = { ...call.body, ...(await changedTitle(call, locked, title)), ...call.touch() }
    const changed = found(await call.tx.update(segments, option.id, columns), 'Option')
    for (const member_id of respondents) await updateCategories(call.tx, member_id)
    return changed
  },
})

export const deleteOption = operation({
  id: 'options.delete',
  method: 'DELETE',
  path: '/custom_fields/:custom_field_id/options/:id/',
  scope: 'options:write',
  summary: 'Delete an option; no member has chosen it any more.',
  description:
    'An answer that chose nothing else goes with it, without an event. Deleting a tag or a badge this way sends `MemberTagRemovedHook` or `MemberBadgeRemovedHook` for each member who had it.',
  errors: [notFound('Custom field'), notFound('Option')],
  emits: ['MemberTagRemoved', 'MemberBadgeRemoved'],
  async handle(call) {
    await lockField(call, call.params.custom_field_id, 'update')
    const { field, option } = await optionOf(call, call.params)
    const respondents = option.kind === 'option' ? await lockRespondents(call.tx, { segment_id: option.id }) : []
    orConflict(await call.tx.lock(segments, option.id, 'update'), `segments ${option.id}`)
    await forEachHolder(call, option.id, (member) => {
      const loss = { member: presentMember(call, member), network_id: call.network.id }
      if (option.kind === 'tag') call.emit('MemberTagRemoved', { ...loss, tag: option })
      if (option.kind === 'badge') call.emit('MemberBadgeRemoved', { ...loss, badge: option })
    })
    await removeWithDependents(call.tx, segments, option.id)
    for (const member_id of respondents) await dropEmptyAnswer(call, field, member_id)
  },
})

/** @throws ApiError 404 */
async function optionOf(
  context: Pick<Context, 'tx'>,
  { custom_field_id, id }: { readonly custom_field_id: string; readonly id: string },
): Promise<{ field: CustomFieldRow; option: SegmentRow }> {
  const field = await fieldOf(context, custom_field_id)
  const option = await context.tx.get(segments, id)
  return { field, option: found(option?.custom_field_id === field.id ? option : undefined, 'Option') }
}

/** An answer without remaining options is no answer; the member shows the remaining ones. */
async function dropEmptyAnswer({ tx }: Pick<Context, 'tx'>, field: CustomFieldRow, member_id: string): Promise<void> {
  if (field.primary) await updateCategories(tx, member_id)
  const answer = await tx.first(answers, { custom_field_id: field.id, member_id })
  if (answer && (await choicesOf(tx, field.id, member_id)).length === 0) await tx.remove(answers, answer.id)
}
