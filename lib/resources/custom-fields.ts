import * as v from 'valibot'
import type { Context } from '../context.ts'
import { fail, found, invalid, notFound, refused } from '../errors.ts'
import {
  BoolInput,
  byDefault,
  describe,
  integerBetween,
  LongText,
  listUpTo,
  oneOf,
  optional,
  optionalOrNull,
  paged,
  publish,
  request,
  Title,
} from '../fields.ts'
import { operation } from '../operation.ts'
import { CustomField, LocationGranularity, ResponseType } from '../records/custom-field.ts'
import { lockRespondents, updateCategories } from '../rules/categories.ts'
import { lockNetwork } from '../rules/members.ts'
import { fieldOf, isDropdown, lockField } from '../rules/options.ts'
import { hasTwins, insertSegment } from '../rules/titles.ts'
import { removeWithDependents } from '../storage/cascade.ts'
import { type CustomFieldRow, customFields, responseTypes } from '../storage/tables/custom-fields.ts'

const maxOptions = 500

const CustomFieldCreate = request('CustomFieldRequest', {
  title: describe(Title, 'The question or label that members see.'),
  description: describe(optionalOrNull(LongText), 'A longer explanation of what to answer; null for none.'),
  placeholder: describe(optionalOrNull(LongText), 'The hint that an empty input shows; null for none.'),
  response_type: describe(oneOf(...responseTypes), 'The kind of answer that the field takes. It cannot change afterwards.'),
  privacy: describe(oneOf('public', 'private', 'admin'), 'Who may see the answers. It is kept for the host, who shows them.'),
  response_by: describe(
    oneOf('hosts_only', 'individual_member'),
    'Who may answer: the member concerned and hosts, or hosts alone.',
  ),
  allow_ad_hoc: describe(
    byDefault(optional(BoolInput), false),
    'Whether an answer may add an option of its own, for dropdowns only; false by default.',
  ),
  max_responses: describe(
    optional(integerBetween(2, 40)),
    'The most options that one answer may choose, for `dropdown_multi_select` only; 100 if left out.',
  ),
  options: describe(
    optional(
      publish(listUpTo(Title, maxOptions, 'texts'), {
        type: 'array',
        items: { type: 'string', minLength: 1, maxLength: { limit: 'titleCharacters' } },
        maxItems: maxOptions,
      }),
    ),
    'The texts of the options of a dropdown, which must differ whatever their case; more can be added later.',
  ),
  min_value: describe(
    optional(integerBetween(0, Number.MAX_SAFE_INTEGER)),
    'The least number that an answer may have, for `number` only.',
  ),
  max_value: describe(
    optional(integerBetween(0, Number.MAX_SAFE_INTEGER)),
    'The greatest number that an answer may have, for `number` only.',
  ),
  location_granularity: describe(
    optional(LocationGranularity),
    'How exactly a place is given, for `location` and `multi_location` only. It cannot change afterwards.',
  ),
})

const CustomFieldUpdate = request('CustomFieldUpdateRequest', {
  title: describe(optional(Title), 'The new question or label.'),
  description: describe(optionalOrNull(LongText), 'The new explanation; null or an empty text clears it.'),
  placeholder: describe(optionalOrNull(LongText), 'The new hint; null or an empty text clears it.'),
  status: describe(
    optional(oneOf('visible', 'hidden', 'billing_disabled')),
    'Whether members see the field; it is kept for the host, who shows it.',
  ),
  notify_all_members: describe(
    byDefault(optional(BoolInput), false),
    'Whether the host should notify all members of the field, if it is visible; false by default.',
  ),
  primary: describe(
    optional(BoolInput),
    'Whether the choices in this dropdown are the `categories` of members. The field that was primary before no longer is.',
  ),
})

const notOfHosts = refused('The fields of tags and badges belong to the network: they can be neither changed nor deleted')

/** Invalid values of the filter are ignored (interface.md, 3.3). */
const ResponseTypeFilter = publish(v.fallback(v.optional(ResponseType), undefined), {
  type: 'string',
  enum: ResponseType.options,
})

export const listCustomFields = operation({
  id: 'custom_fields.list',
  method: 'GET',
  path: '/custom_fields',
  scope: 'custom_fields:read',
  summary: 'List the custom fields of the network.',
  description: "The network's own two fields, which hold its tags and badges, are among them.",
  query: {
    response_type: describe(ResponseTypeFilter, 'Only fields of this kind; any other value is ignored.'),
  },
  returns: paged(CustomField),
  handle: ({ page, query: { response_type } }) => page(customFields, response_type ? { where: { response_type } } : {}),
})

export const createCustomField = operation({
  id: 'custom_fields.create',
  method: 'POST',
  path: '/custom_fields',
  scope: 'custom_fields:write',
  summary: 'Create a custom field, a dropdown with its options.',
  description: 'For a dropdown it makes the options too. A property that does not go with the kind is a 422. No event is sent.',
  status: 201,
  body: CustomFieldCreate,
  example: {
    title: 'Favourite plant',
    response_type: 'dropdown_single_select',
    privacy: 'public',
    response_by: 'individual_member',
    options: ['Rose', 'Fern'],
  },
  returns: CustomField,
  errors: [
    invalid(
      'title',
      'response_type',
      'options',
      'allow_ad_hoc',
      'max_responses',
      'min_value',
      'max_value',
      'location_granularity',
    ),
  ],
  async handle(call) {
    const { options = [], ...columns } = call.body
    checkKind(call.body)
    const field = await call.tx.insert(customFields, { ...call.stamp(), ...columns })
    const creator_id = call.principal.member_id
    for (const title of options) await insertSegment(call, { kind: 'option', custom_field_id: field.id, title, creator_id })
    return field
  },
})

export const showCustomField = operation({
  id: 'custom_fields.show',
  method: 'GET',
  path: '/custom_fields/:id/',
  scope: 'custom_fields:read',
  summary: 'Show a custom field.',
  description: 'Its options and answers have operations of their own.',
  returns: CustomField,
  errors: [notFound('Custom field')],
  handle: (call) => fieldOf(call, call.params.id),
})

export const updateCustomField = operation({
  id: 'custom_fields.update',
  method: 'PATCH',
  path: '/custom_fields/:id/',
  also: { id: 'custom_fields.replace', method: 'PUT' },
  scope: 'custom_fields:write',
  summary: 'Change a custom field, or make it the primary one, which sets the categories of members.',
  description:
    "Only the fields that you send change. With another primary field, the `categories` of all members concerned change immediately. The network's own two fields are a 403.",
  body: CustomFieldUpdate,
  example: { title: 'Hobbies', description: 'What you like to do.', notify_all_members: true },
  returns: CustomField,
  errors: [notFound('Custom field'), notOfHosts, invalid('title', 'status', 'primary')],
  emits: ['CustomFieldNotificationRequested'],
  async handle(call) {
    const { notify_all_members, ...changes } = call.body
    // The network first: there is one primary field, and another one may be made it at this moment.
    if (changes.primary !== undefined) await lockNetwork(call.tx)
    const field = await hostsField(call, call.params.id)
    if (changes.primary && !isDropdown(field)) fail(invalid('primary'), 'primary is for dropdowns only')
    const former = changes.primary ? await formerPrimary(call, field) : undefined
    const changed = found(await call.tx.update(customFields, field.id, { ...changes, ...call.touch() }), 'Custom field')
    if (changed.primary !== field.primary)
      for (const { id } of [...(former ? [former] : []), changed]) await updateChoosers(call, id)
    if (notify_all_members && changed.status === 'visible')
      call.emit('CustomFieldNotificationRequested', { custom_field: changed, network_id: call.network.id })
    return changed
  },
})

export const deleteCustomField = operation({
  id: 'custom_fields.delete',
  method: 'DELETE',
  path: '/custom_fields/:id/',
  scope: 'custom_fields:write',
  summary: 'Delete a custom field with its options and answers.',
  description:
    "No event is sent for the answers that go with it. If it was primary, the `categories` of members are empty afterwards. The network's own two fields are a 403.",
  errors: [notFound('Custom field'), notOfHosts],
  async handle(call) {
    const field = await hostsField(call, call.params.id)
    if (field.primary) {
      await call.tx.update(customFields, field.id, { primary: false })
      await updateChoosers(call, field.id)
    }
    await removeWithDependents(call.tx, customFields, field.id)
  },
})

/**
 * A field of the hosts' own, locked.
 * @throws ApiError 404, 403 for the network's own two fields
 */
async function hostsField(context: Pick<Context, 'tx'>, id: string): Promise<CustomFieldRow> {
  const field = await lockField(context, id, 'update')
  return field.response_type === 'tag' || field.response_type === 'badge' ? fail(notOfHosts) : field
}

/** Brings the categories of everybody who has chosen something in a dropdown up to date. */
async function updateChoosers({ tx }: Pick<Context, 'tx'>, custom_field_id: string): Promise<void> {
  for (const member_id of await lockRespondents(tx, { custom_field_id })) await updateCategories(tx, member_id)
}

/** Takes its rank from the field that was primary so far; the network is locked, so that there are never two. */
async function formerPrimary(
  { tx, touch }: Pick<Context, 'tx' | 'touch'>,
  field: CustomFieldRow,
): Promise<CustomFieldRow | undefined> {
  const former = (await tx.find(customFields, { where: { primary: true } })).find((other) => other.id !== field.id)
  return former && (await tx.update(customFields, former.id, { primary: false, ...touch() }))
}

/** Which properties go with which kinds; any other kind does not take them. */
const belongsTo: Readonly<Record<string, readonly string[]>> = {
  options: ['dropdown_single_select', 'dropdown_multi_select'],
  allow_ad_hoc: ['dropdown_single_select', 'dropdown_multi_select'],
  max_responses: ['dropdown_multi_select'],
  min_value: ['number'],
  max_value: ['number'],
  location_granularity: ['location', 'multi_location'],
}

/** @throws ApiError 422 when a property does not go with the kind, or two of them contradict each other */
function checkKind(body: v.InferOutput<typeof CustomFieldCreate>): void {
  const given: Readonly<Record<string, unknown>> = body
  for (const [name, kinds] of Object.entries(belongsTo)) {
    const value = given[name]
    const isSet = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false
    if (isSet && !kinds.includes(body.response_type)) fail(invalid(name), `${name} is only for ${kinds.join(' and ')}`)
  }
  const { options = [], min_value, max_value } = body
  if (min_value !== undefined && max_value !== undefined && min_value > max_value)
    fail(invalid('max_value'), 'max_value must not be below min_value')
  if (hasTwins(options)) fail(invalid('options'), 'options must differ from each other')
}
