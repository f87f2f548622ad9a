/** Members, the spaces that they are in, and their tags, badges and answers. */
import { titleKey } from '../../../../../lib/rules/titles.ts'
import { removeWithDependents } from '../../../../../lib/storage/cascade.ts'
import type { ScopedTx } from '../../../../../lib/storage/scoped.ts'
import type { Id } from '../../../../../lib/storage/table.ts'
import { posts } from '../../../../../lib/storage/tables/content.ts'
import {
  answers,
  customFields,
  memberSegments,
  responseTypes,
  segments,
} from '../../../../../lib/storage/tables/custom-fields.ts'
import { collections, members, spaceMemberships, spaces } from '../../../../../lib/storage/tables/members.ts'
import { type ApiRecord, listIn, shownAddress, textOf } from '../../api-record.ts'
import { derivedId } from '../ids.ts'
import { type Place, type Stage, stage, under } from '../stage.ts'
import { addressColumns, memberGone } from './former.ts'

const createdAt = (record: ApiRecord): unknown => record['created_at']

const allMembers = stage({
  name: 'members',
  group: 'members',
  list: 'members.list',
  table: members,
  shown: () => ({ state: 'active' }) as const,
  columns: {
    email: ({ email }) => addressColumns(email).email,
    email_key: ({ email }) => addressColumns(email).email_key,
    commercial_email_consent: ({ email }) => addressColumns(email).commercial_email_consent,
    categories: (record, { ids }) =>
      listIn(record, 'categories').map(({ id, title }) => ({ id: ids.here(id), title: textOf(title) })),
    state: () => 'active',
  },
  async related(_tx, { email }, { facts }) {
    if (shownAddress(email) !== undefined) facts.addressShown = true
    else if (textOf(email) !== '') facts.addressMasked = true
  },
  gone: memberGone,
})

const allCollections = stage({
  name: 'collections',
  group: 'collections',
  list: 'collections.list',
  table: collections,
  shown: () => ({}),
  columns: { name_key: ({ name }) => titleKey(textOf(name)) },
  async gone(tx, { id }) {
    if (await tx.first(spaces, { collection_id: id })) return false
    return (await removeWithDependents(tx, collections, id)) !== undefined
  },
})

const allSpaces = stage({
  name: 'spaces',
  group: 'spaces',
  list: 'spaces.list',
  table: spaces,
  shown: () => ({}),
  async gone(tx, { id }) {
    if (await tx.first(posts, { space_id: id })) return false
    return (await removeWithDependents(tx, spaces, id)) !== undefined
  },
})

const spaceMembers = stage({
  name: 'members of spaces',
  group: 'spaces',
  list: 'space_members.list',
  parents: [under('space_id', spaces)],
  table: spaceMemberships,
  key: ['space_id', 'member_id'],
  shown: ({ params: { space_id = '' } }) => ({ space_id }),
  takesFields: false,
  columns: { space_id: (_, { params }) => params['space_id'], member_id: ({ id }) => id },
  inserts: {
    id: ({ id }, { params, ids }) => derivedId('space_memberships', params['space_id'] ?? '', ids.here(id)),
    created_at: createdAt,
  },
})

const allFields = stage({
  name: 'custom fields',
  group: 'custom_fields',
  list: 'custom_fields.list',
  table: customFields,
  shown: () => ({ response_type: ['tag', 'badge', ...responseTypes] }) as const,
  inserts: {
    response_by: ({ response_type }) =>
      response_type === 'tag' || response_type === 'badge' ? 'hosts_only' : 'individual_member',
  },
  async gone(tx, { id, response_type }) {
    // A network has one of each, which was made at the end of a pull if the server shows none.
    const isOwn = response_type === 'tag' || response_type === 'badge'
    if (isOwn && (await tx.count(customFields, { where: { response_type } })) === 1) return false
    return (await removeWithDependents(tx, customFields, id)) !== undefined
  },
})

/** No list of tags or badges shows how many members have them; the options of their field do. */
const uncounted = -1

/** The source decides which titles its fields have twice. */
const uncheckedTitle = {
  title_key: ({ title }: ApiRecord) => titleKey(textOf(title)),
  twin_id: ({ id }: ApiRecord) => id,
}

const segmentStage = (kind: 'tag' | 'badge'): Stage =>
  stage({
    name: `${kind}s`,
    group: `${kind}s`,
    list: `${kind}s.list`,
    table: segments,
    shown: () => ({ kind }),
    columns: { kind: () => kind, ...uncheckedTitle },
    inserts: { creator_id: (_, { owner }) => owner, member_count: () => uncounted },
  })

const kindOf = ({ response_type }: ApiRecord): string =>
  response_type === 'tag' || response_type === 'badge' ? response_type : 'option'

const allOptions = stage({
  name: 'options',
  group: 'options',
  list: 'options.list',
  parents: [
    under('custom_field_id', customFields, {
      response_type: ['tag', 'badge', 'dropdown_single_select', 'dropdown_multi_select'],
    }),
  ],
  table: segments,
  // Tags and badges have other lists, and not every server shows them here.
  shown: ({ params: { custom_field_id = '' } }) => ({ custom_field_id, kind: 'option' }) as const,
  columns: {
    kind: (_, { parents }) => kindOf(parents[0] ?? {}),
    custom_field_id: (_, { params }) => params['custom_field_id'],
    ...uncheckedTitle,
  },
})

const carried = (kind: 'tag' | 'badge'): Stage =>
  stage({
    name: `${kind}s of members`,
    group: `${kind}s`,
    list: `member_${kind}s.list`,
    parents: [under('member_id', members, { state: 'active' })],
    counted: kind,
    table: memberSegments,
    key: ['member_id', 'segment_id'],
    // Without a member it is every row of the kind: no one carries any.
    shown: ({ params: { member_id } }) => ({ kind, ...(member_id === undefined ? {} : { member_id }) }),
    takesFields: false,
    columns: {
      member_id: (_, { params }) => params['member_id'],
      segment_id: ({ id }) => id,
      custom_field_id: ({ custom_field_id }) => custom_field_id,
      kind: () => kind,
    },
    inserts: {
      id: ({ id }, { params, ids }) => derivedId('member_segments', params['member_id'] ?? '', ids.here(id)),
      created_at: createdAt,
    },
  })

const allAnswers = stage({
  name: 'answers',
  group: 'answers',
  list: 'answers.list',
  parents: [
    under('custom_field_id', customFields, { response_type: [...responseTypes] }),
    under('member_id', members, { state: 'active' }),
  ],
  table: answers,
  key: ['custom_field_id', 'member_id'],
  shown: ({ params: { custom_field_id = '', member_id = '' } }) => ({ custom_field_id, member_id }),
  columns: {
    // An answer of several places is shown without its id.
    id: ({ id }, { params }) => id ?? derivedId('answers', params['custom_field_id'] ?? '', params['member_id'] ?? ''),
    custom_field_id: (_, { params }) => params['custom_field_id'],
    member_id: (_, { params }) => params['member_id'],
    locations: (record, { parents }) => (parents[0]?.['response_type'] === 'multi_location' ? listIn(record, 'locations') : null),
  },
  related: (tx, record, place) => choose(tx, place, listIn(record, 'segments')),
  async gone(tx, { id, custom_field_id, member_id }) {
    for (const row of await tx.find(memberSegments, { where: { custom_field_id, member_id } }))
      await tx.remove(memberSegments, row.id)
    return (await tx.remove(answers, id)) !== undefined
  },
})

/** Assigns the options of an answer to its member, and no others of the field. */
async function choose(tx: ScopedTx, { params, ids }: Place, chosen: readonly ApiRecord[]): Promise<void> {
  const [custom_field_id = '', member_id = ''] = [params['custom_field_id'], params['member_id']]
  const wanted = new Set<Id>(chosen.map(({ id }) => ids.here(id)))
  for (const row of await tx.find(memberSegments, { where: { custom_field_id, member_id } }))
    if (!wanted.delete(row.segment_id)) await tx.remove(memberSegments, row.id)
  for (const segment_id of wanted) {
    const segment = await tx.get(segments, segment_id)
    if (!segment) continue
    const { created_at, updated_at } = segment
    const id = derivedId('member_segments', member_id, segment_id)
    await tx.insert(memberSegments, { id, created_at, updated_at, member_id, segment_id, custom_field_id, kind: 'option' })
  }
}

/** In the order of dependence. */
export const people: readonly Stage[] = [
  allMembers,
  allCollections,
  allSpaces,
  spaceMembers,
  allFields,
  segmentStage('tag'),
  segmentStage('badge'),
  allOptions,
]

/** The lists of each member: by far the most requests, so they come last. */
export const ofMembers: readonly Stage[] = [carried('tag'), carried('badge'), allAnswers]
