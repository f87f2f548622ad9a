import type * as v from 'valibot'
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
  record,
  request,
  ShortText,
  Text,
  Timestamp,
  Title,
  Url,
} from '../fields.ts'
import { type MemberRow, members } from '../storage/tables/members.ts'
import { visibleEmail } from './visible-email.ts'

export const Category = record('CategoryResponse', { id: Id, title: Text })

export const Member = record('MemberResponse', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  email: Text,
  member_type: oneOf('full', 'limited'),
  permalink: Url,
  first_name: orNull(Text),
  last_name: orNull(Text),
  time_zone: orNull(Text),
  location: orNull(Text),
  bio: orNull(Text),
  referral_count: orNull(Integer),
  avatar: orNull(Url),
  categories: listOf(Category),
  ambassador_level: orNull(Text),
  last_visited_at: orNull(Timestamp),
})
export type MemberRecord = v.InferOutput<typeof Member>

export const MemberRole = oneOf('host', 'moderator', 'contributor')

/** The body of PATCH and PUT, for a member of the network and for one of a space. */
export const MemberUpdate = request('MemberUpdateRequest', {
  role: optional(MemberRole),
  email: optional(Email),
  first_name: optional(Title),
  last_name: optionalOrNull(ShortText),
  member_type: optional(
    describe(oneOf('full', 'limited'), 'full makes a limited member join the network. A full member cannot become limited.'),
  ),
})

/** A member in the short form inside other records: the creator. */
export const User = record('UserResponse', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  name: Text,
  email: Text,
  short_bio: Text,
  admin: Bool,
  last_visited_at: orNull(Timestamp),
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

/**
 * The creators of some content, by id. They may have left; their row stays.
 */
export async function creatorsOf(
  context: Pick<Context, 'tx' | 'network'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, UserRecord>> {
  const rows = await context.tx.find(members, { where: { id: [...new Set(ids)] } })
  return new Map(rows.map((row) => [row.id, presentUser(context, row)]))
}
