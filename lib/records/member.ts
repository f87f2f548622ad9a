import * as v from 'valibot'
import type { Context } from '../context.ts'
import {
  Bool,
  describe,
  Email,
  Id,
  Integer,
  listOf,
  oneOf,
  optional,
  optionalOrNull,
  orNull,
  publish,
  record,
  request,
  ShortText,
  Text,
  Timestamp,
  Title,
  Url,
} from '../fields.ts'
import { rowsNamed } from '../storage/rows-of.ts'
import { type MemberRow, members } from '../storage/tables/members.ts'
import { Permalink, stamps } from './stamps.ts'
import { visibleEmail } from './visible-email.ts'

/** The address of a member inside of other records. */
export const ShownEmail = describe(
  Text,
  "The address, by the same rules as in the member's own record: it may be empty or masked.",
)

/** First and last name in one text. */
export const FullName = publish(v.string(), {
  type: 'string',
  description: 'First and last name in one text.',
  example: 'Ada Ash',
})

export const Category = record('CategoryResponse', {
  id: describe(Id, 'The id of the chosen option.'),
  title: describe(Text, 'The title of the chosen option.'),
})

export const Member = record('MemberResponse', {
  ...stamps,
  email: describe(
    Text,
    "The address. It is empty without consent to commercial e-mail, and `a***@***.***` unless the network's plan shows addresses. The response to creating the member shows it in full.",
  ),
  member_type: describe(oneOf('full', 'limited'), '`full` members belong to the network, `limited` ones only to certain spaces.'),
  permalink: Permalink,
  first_name: describe(orNull(Text), 'The first name.'),
  last_name: describe(orNull(Text), 'The last name; it may be empty.'),
  time_zone: describe(
    orNull(Text),
    'The time zone that the member has set, such as `Europe/Berlin`; null if they have set none.',
  ),
  location: describe(orNull(Text), 'Where the member lives, in their own words; null if they do not say.'),
  bio: describe(orNull(Text), 'What the member writes about themselves; null if they write nothing.'),
  referral_count: describe(
    orNull(Integer),
    'The number of people who joined by an invite of this member, unless the host has counted them differently.',
  ),
  avatar: describe(orNull(Url), "The address of the member's picture; null if they have none."),
  categories: describe(
    listOf(Category),
    'The options that the member has chosen in the primary custom field; empty if they have none or there is no such field.',
  ),
  ambassador_level: describe(
    orNull(Text),
    'The level that the member has reached by referrals: `Bronze`, `Silver` or `Gold`; null before the first.',
  ),
  last_visited_at: describe(
    orNull(Timestamp),
    'When the member last visited the network, as the host reports it; null before the first visit.',
  ),
})
export type MemberRecord = v.InferOutput<typeof Member>

/** What a member belongs to: the network, or only some spaces. */
export const MemberType = oneOf('full', 'limited')

export const MemberRole = oneOf('host', 'moderator', 'contributor')

/** The body of PATCH and PUT, for a member of the network and for one of a space. */
export const MemberUpdate = request('MemberUpdateRequest', {
  role: describe(
    optional(MemberRole),
    'What the member may do: `host` administers, `moderator` looks after content, `contributor` takes part. Within a space it is the role in that space alone.',
  ),
  email: describe(
    optional(Email),
    'The new address. Open invites move along with it. A hidden or masked address from a record cannot be written back: leave it out.',
  ),
  first_name: describe(optional(Title), 'The new first name; not blank.'),
  last_name: describe(optionalOrNull(ShortText), 'The new last name; null or an empty text clears it.'),
  member_type: describe(
    optional(oneOf('full', 'limited')),
    '`full` makes a limited member join the network. A full member cannot become limited.',
  ),
})

/** A member in the short form inside other records: the creator. */
export const User = record('UserResponse', {
  ...stamps,
  name: FullName,
  email: ShownEmail,
  short_bio: describe(Text, 'What the member writes about themselves; empty if they write nothing.'),
  admin: describe(Bool, 'Whether the member is a host of the network.'),
  last_visited_at: describe(orNull(Timestamp), 'When the member last visited the network; null before the first visit.'),
})
export type UserRecord = v.InferOutput<typeof User>

/** A member's record; the address as the network may show it. */
export function presentMember(context: Pick<Context, 'network' | 'permalink'>, row: MemberRow): MemberRecord {
  // Field by field: to spread a frozen row takes longer than the rest of a read in memory.
  return {
    id: row.id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    email: visibleEmail(row, context.network),
    member_type: row.member_type,
    permalink: context.permalink('members', row.id),
    first_name: row.first_name,
    last_name: row.last_name,
    time_zone: row.time_zone,
    location: row.location,
    bio: row.bio,
    referral_count: row.referral_count,
    avatar: row.avatar,
    categories: [...row.categories],
    ambassador_level: row.ambassador_level,
    last_visited_at: row.last_visited_at,
  }
}

/** A member as the creator of something. */
export function presentUser(context: Pick<Context, 'network'>, row: MemberRow): UserRecord {
  return {
    id: row.id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    name: fullName(row),
    email: visibleEmail(row, context.network),
    short_bio: row.bio ?? '',
    admin: row.role === 'host',
    last_visited_at: row.last_visited_at,
  }
}

export const fullName = (row: Pick<MemberRow, 'first_name' | 'last_name'>): string => `${row.first_name} ${row.last_name}`.trim()

/** The creators of some content, by id. They may have left; their row stays. */
export async function creatorsOf(
  context: Pick<Context, 'tx' | 'network'>,
  content: readonly { readonly creator_id: string }[],
): Promise<ReadonlyMap<string, UserRecord>> {
  const creators = await rowsNamed(context.tx, members, 'creator_id', content)
  return new Map([...creators].map(([id, row]) => [id, presentUser(context, row)]))
}
