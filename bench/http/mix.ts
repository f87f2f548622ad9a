/** What users request of an API: single kinds of requests, and a mixture of all. */

import type { BenchRequest } from './scenarios.ts'
import { firstMember, firstSpace, spaceCount } from './seeded.ts'
import type { Server } from './start.ts'
import { uniqueMark } from './unique-mark.ts'

/** Records of a server whose ids it made itself. */
export interface Content {
  readonly events: readonly string[]
}

export interface MixKind {
  readonly name: string
  request(server: Server, content: Content): BenchRequest
}

const root = '/admin/v1/networks/1'
const bearer = ({ token }: Server) => ({ authorization: `Bearer ${token}` })
const any = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T
const anyOf = (first: number, count: number): string => String(first + Math.floor(Math.random() * count))

const get =
  (path: (content: Content) => string) =>
  (server: Server, content: Content): BenchRequest => ({
    method: 'GET',
    path: `${root}${path(content)}`,
    headers: bearer(server),
  })

const write =
  (method: BenchRequest['method'], path: (content: Content) => string, body: () => object) =>
  (server: Server, content: Content): BenchRequest => ({
    ...{ method, path: `${root}${path(content)}`, headers: { ...bearer(server), 'content-type': 'application/json' } },
    body: JSON.stringify(body()),
  })

const text = 'What the sea looked like at six, and which blues it took. '.repeat(12)

/** Every kind, for a network of so many members. */
export function kindsOf(members: number): readonly MixKind[] {
  const member = () => anyOf(firstMember, members)
  const behind = () => anyOf(firstMember, Math.max(1, members - 25))
  return [
    { name: 'GET a member by id', request: get(() => `/members/${member()}/`) },
    { name: 'GET an event by id', request: get(({ events }) => `/events/${any(events)}/`) },
    { name: 'list members, first page', request: get(() => '/members') },
    { name: 'list members, any page', request: get(() => `/members?after=${behind()}`) },
    { name: 'list posts', request: get(() => '/posts') },
    { name: 'list events', request: get(() => '/events') },
    { name: 'list plans', request: get(() => '/plans') },
    { name: 'list spaces', request: get(() => '/spaces') },
    {
      name: 'PATCH a member',
      request: write(
        'PATCH',
        () => `/members/${member()}/`,
        () => ({ location: `Delft ${Math.random()}` }),
      ),
    },
    {
      name: 'POST a post',
      request: write(
        'POST',
        () => '/posts',
        () => ({ title: 'Light', description: text, space_id: anyOf(firstSpace, spaceCount) }),
      ),
    },
    {
      name: 'POST a member',
      request: write(
        'POST',
        () => '/members',
        () => ({
          ...{ email: `new${uniqueMark}-${Date.now()}@example.org`, first_name: 'Cato', last_name: 'Cole' },
        }),
      ),
    },
    {
      name: 'POST an RSVP',
      request: write(
        'POST',
        ({ events }) => `/events/${any(events)}/rsvps`,
        () => ({ member_id: member(), status: any(['yes', 'no']) }),
      ),
    },
  ]
}

/** 70 % records by random id, 20 % lists, 10 % writes. */
export function mixedOf(members: number): MixKind {
  const kinds = kindsOf(members)
  const lists = kinds.filter(({ name }) => name.startsWith('list'))
  const writes = kinds.filter(({ name }) => /^P/.test(name))
  const records = kinds.filter(({ name }) => name.startsWith('GET'))
  return {
    name: 'mixed',
    request(server, content) {
      const share = Math.random()
      return any(share < 0.7 ? records : share < 0.9 ? lists : writes).request(server, content)
    },
  }
}

/** The ids of events that a server has. */
export async function findContent(server: Server): Promise<Content> {
  const response = await fetch(`http://127.0.0.1:${server.port}${root}/events?per_page=100`, { headers: bearer(server) })
  if (!response.ok) throw new Error(`${server.name}: the list of events gets the status ${response.status}`)
  const { items } = (await response.json()) as { readonly items: readonly { readonly id: string }[] }
  return { events: items.map(({ id }) => id) }
}
