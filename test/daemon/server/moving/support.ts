/** Pulling and pushing between communities of one process, which needs no network. */
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { pacedClient } from '../../../../daemon/server/moving/paced-client.ts'
import { notGiven } from '../../../../daemon/server/moving/pull/not-given.ts'
import { type PullOptions, type PullReport, pullNetwork } from '../../../../daemon/server/moving/pull/pull-network.ts'
import { type Journal, memoryJournal } from '../../../../daemon/server/moving/push/journal.ts'
import { type PushOptions, type PushReport, pushNetwork } from '../../../../daemon/server/moving/push/push-network.ts'
import type { Timing } from '../../../../lib/client/timing.ts'
import type { Community } from '../../../../lib/index.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import type { Id, Row, Table } from '../../../../lib/storage/table.ts'
import { members } from '../../../../lib/storage/tables/members.ts'
import { tables } from '../../../../lib/storage/tables.ts'
import { createSeededCommunity } from '../../../support/seed.ts'

/** A clock that jumps over every wait, and remembers how long it was. Time-outs of requests never come. */
export function jumpingTiming(): Timing & { readonly waits: readonly number[] } {
  const waits: number[] = []
  let now = Date.parse('2026-11-20T10:00:00.000Z')
  return {
    waits,
    now: () => now,
    random: () => 0,
    after(ms, run) {
      if (ms >= timeout) return () => {}
      waits.push(ms)
      now += ms
      queueMicrotask(run)
      return () => {}
    },
  }
}

/** A time-out that never comes. */
export const timeout = 24 * 60 * 60 * 1000

export interface Source {
  readonly community: Pick<Community, 'fetch'>
  readonly token: string
}

/** How a request is answered, in place of the source. */
export type Answer = (request: Request) => Response | Promise<Response>

/** The seeded network in memory, whose members all show their addresses. */
export async function seededSource() {
  const source = await createSeededCommunity({ storage: memoryStorage() })
  await source.storage.transaction(async (tx) => {
    for (const { id } of await tx.find(members, {})) await tx.update(members, id, { commercial_email_consent: true })
  })
  return source
}

/** A client of a community. */
export const clientOf = (
  { community, token }: Source,
  answer: Answer = (request) => community.fetch(request),
  timing = jumpingTiming(),
) => pacedClient({ baseUrl: 'https://source.test', network: '1', token, fetch: answer, timing, timeout })

/** Pulls network 1 of a source. */
export const pullFrom = (
  source: Source,
  storage: Storage,
  { answer, ...options }: Partial<PullOptions> & { readonly answer?: Answer } = {},
): Promise<PullReport> =>
  pullNetwork({ source: clientOf(source, answer), from: 'https://source.test network 1', storage, ...options })

/** Every row of a storage, by table. */
export const everything = (storage: Storage): Promise<Readonly<Record<string, readonly Row[]>>> =>
  storage.transaction(async (tx) => {
    const all: Record<string, readonly Row[]> = {}
    for (const table of tables as readonly Table<Row>[]) all[table.name] = await tx.find(table, {})
    return all
  })

/** Each side makes the ids and times of rows that connect two records. */
const relations = ['space_memberships', 'member_segments', 'plan_memberships']
const notComparable: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(relations.map((name) => [name, ['id', 'created_at', 'updated_at']])),
  subscriptions: ['created_at', 'updated_at'],
  rsvps: ['created_at'],
  // Only a server that makes a title checks that it is new.
  segments: ['twin_id'],
}

/** Everything in a storage that the API gives, in an order that both sides have. */
export async function given(storage: Storage) {
  const all: Record<string, unknown> = {}
  const missing = new Map(notGiven().map(({ table, columns }) => [table, columns]))
  for (const [table, rows] of Object.entries(await everything(storage))) {
    const columns = missing.get(table) ?? []
    if (columns === 'all') continue
    const left = new Set([...columns, ...(notComparable[table] ?? [])])
    const shown = rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !left.has(name))))
    const order = (row: object) => JSON.stringify(Object.entries(row).filter(([name]) => name.endsWith('id')))
    all[table] = shown.sort((a, b) => (order(a) < order(b) ? -1 : 1))
  }
  return all
}

/** Pushes network 1 of a storage. Pictures are answered as from another server. */
export const pushTo = (
  target: Source,
  storage: Storage,
  { answer = (request) => target.community.fetch(request), timing, journal = memoryJournal(), ...options }: PushParts = {},
): Promise<PushReport> => {
  const withPictures: Answer = (request) =>
    request.url.startsWith('https://cdn.') ? new Response(picture, { headers: { 'content-type': 'image/png' } }) : answer(request)
  const paced = clientOf(target, withPictures, timing)
  return paced.client.me
    .show()
    .then((me) =>
      pushNetwork({ storage, network: { id: '1' }, target: paced, journal, me: { ...me }, assets: 'none', ...options }),
    )
}

interface PushParts extends Partial<Omit<PushOptions, 'storage' | 'target' | 'me' | 'network'>> {
  readonly answer?: Answer
  readonly timing?: ReturnType<typeof jumpingTiming>
}

export const picture = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='),
  (character) => character.charCodeAt(0),
)

/** Columns that each side makes itself, or that the API does not take. */
const ownOnes: Readonly<Record<string, readonly string[]>> = {
  members: [
    ...['time_zone', 'location', 'bio', 'referral_count', 'avatar', 'ambassador_level', 'last_visited_at'],
    'commercial_email_consent',
    'categories',
  ],
  collections: ['position', 'explorable'],
  segments: ['custom_field_id', 'creator_id', 'avatar_id', 'avatar_url', 'is_ad_hoc'],
  member_segments: ['custom_field_id'],
  posts: ['creator_id', 'images', 'comments_enabled', 'published_at', 'last_activity_at', 'content_type', 'choices', 'summary'],
  comments: ['author_id', 'depth', 'cheer_count'],
  answers: ['last_edited_at'],
  events: ['recurrence_rule'],
  courseworks: ['parent_id', 'children_count'],
}

/** Tables whose rows others name, by the columns that name them. */
const references: Readonly<Record<string, string>> = {
  member_id: 'members',
  space_id: 'spaces',
  collection_id: 'collections',
  custom_field_id: 'custom_fields',
  segment_id: 'segments',
  post_id: 'posts',
  event_id: 'posts',
  comment_id: 'comments',
  reply_to_id: 'comments',
}

/** The tables that a push fills, with the rows of the source that it takes. */
const pushed: Readonly<Record<string, (row: Json, owner: Id) => boolean>> = {
  members: ({ state }) => state === 'active',
  ...Object.fromEntries(
    ['collections', 'spaces', 'space_memberships', 'segments', 'member_segments', 'answers', 'comments', 'mutes'].map((name) => [
      name,
      () => true,
    ]),
  ),
  custom_fields: ({ response_type }) => response_type !== 'tag' && response_type !== 'badge',
  posts: ({ status }) => status === 'posted',
  events: () => true,
  rsvps: () => true,
  reactions: ({ member_id }, owner) => member_id === owner,
  courseworks: ({ type }) => type !== 'overview',
}

/** The content of both storages in the tables that a push fills, with the ids of the target, in one order. */
export async function sharedContent(source: Storage, target: Storage, journal: Journal) {
  const [from, to] = [await everything(source), await everything(target)]
  const ownerThere = (to['members'] ?? []).find((row) => Object(row).role === 'host' && Object(row).email === 'host@example.org')
  const here: Record<string, unknown> = {}
  const there: Record<string, unknown> = {}
  const owner = (from['members'] ?? []).find((row) => Object(row).email === 'host@example.org')?.id ?? ''
  for (const [name, isTaken] of Object.entries(pushed)) {
    const mapped = (row: Json): Json =>
      Object.fromEntries(
        Object.entries(row).map(([column, value]) => {
          const table = references[column]
          return [column, table === undefined || value === null ? value : (journal.get(`${table} ${value}`)?.to ?? `no ${table}`)]
        }),
      )
    const shown = (rows: readonly Row[], mine: Id, isHere: boolean) =>
      rows
        .map((row): Json => ({ ...row }))
        .filter((row) => isTaken(row, mine))
        .map((row) => (isHere ? mapped(row) : row))
        .map((row) =>
          Object.entries(row).filter(
            ([column]) => !['id', 'network_id', 'created_at', 'updated_at', ...(ownOnes[name] ?? [])].includes(column),
          ),
        )
        .map((row) => JSON.stringify(row.sort(([a], [b]) => (a < b ? -1 : 1))))
        .sort()
    here[name] = shown(from[name] ?? [], owner, true)
    there[name] = shown(to[name] ?? [], ownerThere?.id ?? '', false)
  }
  return { here, there }
}
type Json = Readonly<Record<string, unknown>>
