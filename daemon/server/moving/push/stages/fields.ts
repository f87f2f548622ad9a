/** Custom fields with their options, tags and badges with their members, and answers. */
import { titleKey } from '../../../../../lib/rules/titles.ts'
import { rowsOf } from '../../../../../lib/storage/rows-of.ts'
import {
  type AnswerRow,
  answers,
  askable,
  type CustomFieldRow,
  customFields,
  memberSegments,
  segments,
} from '../../../../../lib/storage/tables/custom-fields.ts'
import { textOf } from '../../given.ts'
import { given, LeftOut, type Push, type PushStage, pushStage } from '../push-stage.ts'
import { idInList } from './people.ts'

const dropdowns = ['dropdown_single_select', 'dropdown_multi_select']
const isDropdown = ({ response_type }: CustomFieldRow): boolean => dropdowns.includes(response_type)

const allFields = pushStage({
  name: 'custom fields',
  group: 'custom_fields',
  table: customFields,
  where: { response_type: [...askable] },
  create: 'custom_fields.create',
  update: 'custom_fields.update',
  body: (row) =>
    given({
      title: row.title,
      description: row.description,
      placeholder: row.placeholder,
      response_type: row.response_type,
      privacy: row.privacy,
      response_by: row.response_by,
      allow_ad_hoc: isDropdown(row) ? row.allow_ad_hoc : undefined,
      max_responses: row.max_responses,
      min_value: row.min_value,
      max_value: row.max_value,
      location_granularity: row.location_granularity,
    }),
  changes: ({ title, description, placeholder, status, primary }) => ({ title, description, placeholder, status, primary }),
})

/** Columns of segments that are made of others, or of the members who have them. */
const ofSegments = ['kind', 'custom_field_id', 'title_key', 'twin_id', 'member_count', 'avatar_id'] as const

/** Whether a record of the server has the title of a row. */
const hasTitleOf =
  (row: { readonly title: string }) =>
  (record: Readonly<Record<string, unknown>>): boolean =>
    titleKey(textOf(record['title'])) === titleKey(row.title)

const allOptions = pushStage({
  name: 'options',
  group: 'options',
  table: segments,
  where: { kind: 'option' },
  create: 'options.create',
  update: 'options.update',
  params: ({ custom_field_id }, push) => ({ custom_field_id: push.there('custom_fields', custom_field_id) }),
  body: ({ title, description }) => given({ title, description }),
  changes: ({ title, description }) => ({ title, description }),
  taken(row, push) {
    const params = { custom_field_id: push.there('custom_fields', row.custom_field_id) }
    return idInList(push, 'options.list', params, { term: row.title }, hasTitleOf(row))
  },
  follows: [...ofSegments, 'color', 'avatar_url'],
  madeBy: 'creator_id',
})

const allTags = pushStage({
  name: 'tags',
  group: 'tags',
  table: segments,
  where: { kind: 'tag' },
  create: 'tags.create',
  update: 'tags.update',
  body: ({ title, description, color }) => given({ title, description, color }),
  changes: ({ title, description, color }) => ({ title, description, color }),
  taken: (row, push) => idInList(push, 'tags.list', {}, {}, hasTitleOf(row)),
  follows: ['avatar_url', 'is_ad_hoc', ...ofSegments],
  madeBy: 'creator_id',
})

const allBadges = pushStage({
  name: 'badges',
  group: 'badges',
  table: segments,
  where: { kind: 'badge' },
  create: 'badges.create',
  update: 'badges.update',
  reason: ({ avatar_url }) => (avatar_url === null ? 'a badge needs a picture, and its own has no address' : undefined),
  async body({ title, description, color, avatar_url }, push) {
    return given({ title, description, color, avatar_id: await push.upload(avatar_url ?? '') })
  },
  changes: ({ title, description, color }) => ({ title, description, color }),
  taken: (row, push) => idInList(push, 'badges.list', {}, {}, hasTitleOf(row)),
  follows: ['avatar_url', 'is_ad_hoc', ...ofSegments],
  madeBy: 'creator_id',
})

const carried = (kind: 'tag' | 'badge'): PushStage =>
  pushStage({
    name: `${kind}s of members`,
    group: `${kind}s`,
    table: memberSegments,
    where: { kind },
    key: ({ member_id, segment_id }) => `${member_id} ${segment_id}`,
    create: `member_${kind}s.create`,
    hasNoId: true,
    params: ({ member_id }, push) => ({ member_id: push.there('members', member_id) }),
    body: ({ segment_id }, push) => ({ [`${kind}_id`]: push.there('segments', segment_id, `${kind}s`) }),
    follows: ['member_id', 'segment_id', 'custom_field_id', 'kind'],
  })

/** The fields of an answer to each kind of field that is no dropdown. */
const valueNames = [
  ...(['text', 'number', 'boolean_value', 'date', 'start_date', 'end_date', 'month', 'day'] as const),
  ...(['url', 'phone_number', 'latitude', 'longitude', 'locations'] as const),
]

async function answerOf(row: AnswerRow, { reads, there }: Push): Promise<Readonly<Record<string, unknown>>> {
  const [field] = await reads.find(customFields, { where: { id: row.custom_field_id } })
  if (!field) throw new LeftOut('its custom field is gone')
  if (!isDropdown(field)) return given(Object.fromEntries(valueNames.map((name) => [name, row[name]])))
  const segment_ids: string[] = []
  const where = { member_id: row.member_id, custom_field_id: field.id }
  for await (const { segment_id } of rowsOf(reads, memberSegments, where, { by: 'segment_id' }))
    segment_ids.push(there('segments', segment_id, 'options'))
  return { segment_ids }
}

const allAnswers = pushStage({
  name: 'answers',
  group: 'answers',
  table: answers,
  key: ({ custom_field_id, member_id }) => `${custom_field_id} ${member_id}`,
  create: 'answers.upsert',
  update: 'answers.upsert',
  isWhole: true,
  hasNoId: true,
  params: ({ custom_field_id, member_id }, push) => ({
    custom_field_id: push.there('custom_fields', custom_field_id),
    member_id: push.there('members', member_id),
  }),
  body: answerOf,
  changes: answerOf,
  follows: ['custom_field_id', 'member_id', 'last_edited_at'],
})

/** In the order of dependence. */
export const fields: readonly PushStage[] = [
  allFields,
  allOptions,
  allTags,
  allBadges,
  carried('tag'),
  carried('badge'),
  allAnswers,
]
