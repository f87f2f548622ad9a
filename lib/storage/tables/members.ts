/** Members, and the spaces that they belong to. */
import { folded } from '../../base/fold.ts'
import {
  boolean,
  defaultsTo,
  derived,
  id,
  integer,
  json,
  kept,
  nullable,
  personal,
  type RowIn,
  reference,
  table,
  text,
  timestamp,
} from '../table.ts'

/** An index takes no longer texts. */
const longestKey = 500

interface PersonName {
  readonly first_name: string
  readonly last_name: string
}

const nameKey = ({ first_name, last_name }: PersonName): string => folded(`${first_name} ${last_name}`).trim()

/** An address that is hidden in every record is in no text that others search. */
const searchKey = (row: PersonName & { readonly email: string; readonly commercial_email_consent: boolean }): string =>
  row.commercial_email_consent ? `${nameKey(row)} ${folded(row.email)}` : nameKey(row)

type MemberRole = 'host' | 'moderator' | 'contributor'

/**
 * A member is never taken out of the table: content keeps its author. `state` shows whether they are still there. Each column is
 * `personal`, and goes when the person is erased, or `kept`.
 */
export const members = table(
  'members',
  {
    email: personal(text()),
    /**
     * The address in lower case; null once the account is deleted, so that the address is free again. Of a deleted account that was
     * banned a hash of the address: the ban stays.
     */
    email_key: kept(nullable(text())),
    first_name: personal(text()),
    last_name: personal(text()),
    role: kept(defaultsTo(text<MemberRole>(), 'contributor')),
    member_type: kept(defaultsTo(text<'full' | 'limited'>(), 'full')),
    /** A `removed` member may join again. */
    state: kept(defaultsTo(text<'active' | 'removed' | 'banned' | 'deleted'>(), 'active')),
    commercial_email_consent: personal(defaultsTo(boolean(), false)),
    /** The name as searches and lists compare it, up to the length of an index. */
    name_key: personal(
      derived(['first_name', 'last_name'], (row: PersonName) => [...nameKey(row)].slice(0, longestKey).join('')),
    ),
    /** The name, and with consent the address: what others may search where the network shows addresses. */
    search_key: personal(derived(['first_name', 'last_name', 'email', 'commercial_email_consent'], searchKey)),
    time_zone: personal(nullable(text())),
    location: personal(nullable(text())),
    bio: personal(nullable(text())),
    avatar: personal(nullable(text())),
    referral_count: personal(defaultsTo(integer(), 0)),
    /** The option chosen in the primary custom field, as `{ id, title }`; kept here so that lists need no second look. */
    categories: personal(defaultsTo(json<readonly { id: string; title: string }[]>(), [])),
    ambassador_level: personal(nullable(text())),
    last_visited_at: personal(nullable(timestamp())),
    ban_reason: personal(nullable(text())),
    /** When they left last, and in whose name. */
    left_at: kept(nullable(timestamp())),
    left_by_id: kept(nullable(id())),
    /** When what identified the person was taken out of the row. */
    erased_at: kept(nullable(timestamp())),
  },
  {
    unique: [['email_key']],
    indexes: [
      ['state'],
      ['state', 'role'],
      ['state', 'member_type'],
      ['state', 'created_at'],
      ['state', 'last_visited_at'],
      ['state', 'name_key'],
    ],
    usual: { member_type: 'full', role: 'contributor' },
    searched: { column: 'search_key', holds: ['name_key'] },
  },
)

/** The role, the kind of member and the state, where they have changed. */
export type MemberChanges = Readonly<
  Partial<Record<'role' | 'member_type' | 'state', { readonly from: string | null; readonly to: string | null }>>
>

/** What operations did to members, and by whom. It stays when a member leaves, and goes when they are erased. */
export const memberHistory = table(
  'member_history',
  {
    member_id: reference('members', 'cascade'),
    /** The name of the event, without `Hook`. */
    event: text(),
    /** What it is about in addition, such as `space:201`; the network stands for itself, as a space. */
    about: json<readonly string[]>(),
    changes: json<MemberChanges>(),
    /** The API key that acted; null for the host. */
    key_id: nullable(id()),
    /** The person or program for whom the host acted, if it named one. */
    actor: nullable(text()),
    /** The member in whose name it acted. */
    by_id: id(),
  },
  { indexes: [['member_id']] },
)

export const collections = table(
  'collections',
  {
    name: text(),
    /** The name in lower case: no two collections share it. */
    name_key: text(),
    description: nullable(text()),
    visible_to_members: defaultsTo(boolean(), true),
    position: integer(),
    explorable: defaultsTo(boolean(), false),
  },
  { unique: [['name_key']], indexes: [['position']] },
)

export const spaces = table(
  'spaces',
  {
    name: text(),
    collection_id: nullable(reference('collections', 'restrict')),
    /** Position in its collection, from 1. */
    position: nullable(integer()),
  },
  { indexes: [['collection_id', 'position']] },
)

export const spaceMemberships = table(
  'space_memberships',
  {
    space_id: reference('spaces', 'cascade'),
    member_id: reference('members', 'cascade'),
    role: nullable(text<MemberRole>()),
  },
  {
    unique: [['space_id', 'member_id']],
    indexes: [
      ['space_id', 'member_id'],
      ['member_id', 'space_id'],
    ],
  },
)

export type MemberRow = RowIn<typeof members>
export type SpaceRow = RowIn<typeof spaces>
export type CollectionRow = RowIn<typeof collections>
