/**
 * A server of the Admin API that is not folkmoot, written from docs/interface.md alone. Its ids are numbers, its pages are short,
 * and some of its lists are arrays. Its times have an offset, and fields are unknown, missing or null.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { onLoopback } from '../../../support/on-loopback.ts'

type Json = Readonly<Record<string, unknown>>

const at = (day: number): string => `2026-03-${String(1 + (day % 28)).padStart(2, '0')}T08:00:00+00:00`
const stamp = (id: number) => ({ id, created_at: at(id), updated_at: at(id) })
const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)

const members: readonly Json[] = range(23).map((index) => ({
  ...stamp(100 + index),
  email: index % 5 === 0 ? '' : index % 5 === 1 ? 'a***@***.***' : `person${index}@elsewhere.test`,
  member_type: 'full',
  permalink: `https://elsewhere.test/people/${index}`,
  first_name: `Person ${index}`,
  // Null, or missing.
  ...(index % 2 === 0 ? { last_name: null, categories: null } : { last_name: 'Else', bio: 'Hello', categories: [] }),
  karma: index * 7,
  nested: { deeply: [{ unknown: true }] },
}))

const creator = (index: number) => ({ ...stamp(100 + index), name: `Person ${index} Else`, email: '', admin: index === 3 })
const spaces: readonly Json[] = range(3).map((index) => ({
  ...stamp(200 + index),
  name: `Room ${index}`,
  ...(index === 0 ? { collection_id: 250 } : index === 1 ? { collection_id: null } : {}),
}))

const posts: readonly Json[] = range(12).map((index) => ({
  ...stamp(300 + index),
  title: `Post ${index}`,
  description: index % 3 === 0 ? null : 'Long.',
  post_type: index < 9 ? (index % 2 === 0 ? 'post' : 'essay') : index < 11 ? 'poll' : 'event',
  space_id: 200 + (index % 3),
  creator_id: 100 + index,
  images: index % 2 === 0 ? null : ['https://elsewhere.test/a.png'],
  status: 'posted',
}))

const polls: readonly Json[] = [309, 310].map((id) => ({
  ...stamp(id),
  post_type: 'poll',
  title: `Post ${id - 300}`,
  creator: creator(id - 300),
  space: { ...stamp(200 + (id % 3)), name: 'Some room' },
  status: 'posted',
  poll_type: 'hot_cold_poll',
  choices:
    id === 309
      ? [
          { id: 'x1', text: 'Hot' },
          { id: 'x2', text: 'Cold' },
        ]
      : null,
}))

/** More than one full page, in an array, whose pages have numbers alone. */
const comments: readonly Json[] = range(230).map((index) => ({
  ...stamp(400 + index),
  text: `<p>Comment ${index}</p>`,
  author_id: 100 + (index % 23),
  targetable_id: 300,
  targetable_type: 'Post',
  ...(index > 0 && index % 10 === 0 ? { reply_to_id: 400 + index - 1, depth: 2 } : { depth: 1 }),
}))

const tags: readonly Json[] = range(100).map((index) => ({
  ...stamp(700 + index),
  title: `Tag ${index}`,
  custom_field_id: 77,
  color: null,
}))

/** Lists by their path, each with the way in which it is sent. */
const lists: Readonly<
  Record<string, { readonly records: readonly Json[]; readonly sent: 'links' | 'header' | 'numbers' | 'whole' }>
> = {
  '/members': { records: members, sent: 'links' },
  '/collections': { records: [{ ...stamp(250), name: 'Rooms', position: 1, extra: null }], sent: 'whole' },
  '/spaces': { records: spaces, sent: 'header' },
  '/spaces/200/members': { records: members.slice(0, 9), sent: 'links' },
  '/spaces/201/members': { records: [], sent: 'whole' },
  '/spaces/202/members': { records: members.slice(0, 1), sent: 'numbers' },
  '/custom_fields': { records: [{ ...stamp(77), title: 'Tags', response_type: 'tag' }], sent: 'links' },
  '/custom_fields/77/options': { records: [], sent: 'links' },
  // As many as a page has, and the same again for every page.
  '/tags': { records: tags, sent: 'whole' },
  '/badges': { records: [], sent: 'links' },
  '/posts': { records: posts, sent: 'header' },
  '/polls': { records: polls, sent: 'links' },
  '/events': {
    records: [
      { ...stamp(311), post_type: 'event', title: 'Post 11', event_type: 'local_meetup', starts_at: at(3), ends_at: null },
    ],
    sent: 'whole',
  },
  '/events/311/rsvps': { records: [], sent: 'whole' },
  '/posts/300/comments': { records: comments, sent: 'numbers' },
  '/posts/300/reactions': {
    records: [{ ...stamp(650), emoji: '👍', base_emoji: '👍', member_id: 101, space_id: 200 }],
    sent: 'whole',
  },
  '/members/101/tags': { records: tags.slice(0, 2), sent: 'whole' },
  '/plans': { records: [{ ...stamp(800), name: 'Friends', permalink: 'https://elsewhere.test/plans/800' }], sent: 'links' },
  '/plans/800/members': { records: members.slice(2, 4), sent: 'header' },
}

/** Paths below which every list is there, and empty unless it is above. */
const emptyBelow =
  /^\/(?:posts\/\d+\/(?:comments|reactions)|comments\/\d+\/reactions|members\/\d+\/(?:tags|badges)|spaces\/\d+\/courseworks)$/

const shortPage = 7

function respond(request: IncomingMessage, response: ServerResponse): ServerResponse {
  const url = new URL(request.url ?? '/', 'http://elsewhere.test')
  const path = url.pathname.replace(/^\/api\/admin\/v1\/networks\/42/, '').replace(/(.)\/$/, '$1')
  const send = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): ServerResponse =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  if (request.headers.authorization !== 'Bearer elsewhere')
    return send(401, { error: 'unauthorized', message: 'Who are you?', status: 401 })
  if (path === '/') return send(200, { id: 42, title: 'Elsewhere', subdomain: 'elsewhere', theme: { dark: true } })
  if (path === '/me') return send(200, { id: 103, name: 'Person 3 Else', email: '', network_id: 42, role: 'host' })
  if (path === '/abuse_reports') return send(403, { error: 'forbidden', message: 'Your plan has no reports.', status: 403 })
  const list = lists[path] ?? (emptyBelow.test(path) ? { records: [], sent: 'whole' as const } : undefined)
  if (!list) return send(404, { error: 'There is nothing here.' })
  const { records, sent } = list
  const number = Number(url.searchParams.get('page') ?? 1)
  const size = sent === 'numbers' ? Number(url.searchParams.get('per_page')) : shortPage
  if (sent === 'whole') return send(200, records)
  const page = records.slice((number - 1) * size, number * size)
  if (sent === 'numbers') return send(200, page)
  const next = number * size < records.length ? `${url.pathname}?page=${number + 1}` : null
  // Relative, and without the other parameters.
  if (sent === 'links') return send(200, { items: page, links: { self: url.pathname, next }, total: records.length })
  return send(200, page, next === null ? {} : { link: `<http://${request.headers.host}${next}>; rel="next"` })
}

/** How many records its lists have, by path. */
export const recordsAt = (path: string): number => lists[path]?.records.length ?? 0

/** Starts it. @returns its address, with a prefix */
export async function otherServer(): Promise<string> {
  return `${await onLoopback((request, response) => void respond(request, response))}/api`
}
