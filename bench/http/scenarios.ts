/** The requests of the API's benchmark. */
import { firstMember, firstSpace, spaceCount } from './seeded.ts'
import type { Server } from './start.ts'

export interface BenchRequest {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export type Kind = 'byId' | 'list' | 'shortList' | 'post'

export interface Scenario {
  readonly name: string
  /** Which of the models a peer responds with. */
  readonly kind: Kind
  /** One request; another one with each call, where there are several records to read. */
  request(server: Server): BenchRequest
}

/** Members on a page of the list that is walked; with 25 there are 4,000 pages of 100,000. */
export const pageLength = 25
export const wantedPage = 4_000

const root = '/admin/v1/networks/1'
const post = {
  title: 'Morning light',
  description: 'What the sea looked like at six, and which blues it took. '.repeat(12),
}
const anyOf = (first: number, count: number): string => String(first + Math.floor(Math.random() * count))
const bearer = ({ token }: Server) => ({ authorization: `Bearer ${token}` })

/**
 * The requests, in groups. Those of one group are measured one right after the other, to be compared.
 * @param latePath the path of a server's late page, as its own links said it
 */
export function scenariosOf(latePath: (server: Server) => string): readonly (readonly Scenario[])[] {
  const get = (server: Server, path: string): BenchRequest => ({ method: 'GET', path, headers: bearer(server) })
  const byId: Scenario = {
    name: 'GET /members/{id}/, any of them',
    kind: 'byId',
    request: (server) => get(server, `${root}/members/${anyOf(firstMember, server.members || 1000)}/`),
  }
  const list: Scenario = {
    name: 'GET /members?per_page=100',
    kind: 'list',
    request: (server) => get(server, `${root}/members?per_page=100`),
  }
  const any: Scenario = {
    name: 'GET /members?per_page=100, behind any member',
    kind: 'list',
    // The page begins anywhere, so nothing is gained by keeping it. A peer has one page.
    request: (server) => {
      const after = server.members > 100 ? `&after=${anyOf(firstMember, server.members - 100)}` : ''
      return get(server, `${root}/members?per_page=100${after}`)
    },
  }
  const first: Scenario = {
    name: `GET /members?per_page=${pageLength}`,
    kind: 'shortList',
    request: (server) => get(server, `${root}/members?per_page=${pageLength}`),
  }
  const late: Scenario = {
    name: 'the same, a late page by its link',
    kind: 'shortList',
    request: (server) => get(server, latePath(server)),
  }
  const posted: Scenario = {
    name: 'POST /posts',
    kind: 'post',
    request: (server) => ({
      method: 'POST',
      path: `${root}/posts`,
      headers: { ...bearer(server), 'content-type': 'application/json' },
      body: JSON.stringify({ ...post, space_id: anyOf(firstSpace, spaceCount) }),
    }),
  }
  return [[byId], [list, any], [first, late], [posted]]
}

/** A page late in a list. */
export interface Deep {
  /** Its number. */
  readonly page: number
  /** Path and query, as in the link to it. */
  readonly path: string
}

interface Page {
  readonly items: readonly unknown[]
  readonly links: { readonly next: string | null }
}

/** Follows `links.next` from the first page to the wanted one, or to the last that is full. */
export async function walk(server: Server, onProgress: (sentence: string) => void): Promise<Deep> {
  let next: string | null = `http://127.0.0.1:${server.port}${root}/members?per_page=${pageLength}`
  let deep: Deep = { page: 0, path: '' }
  while (next !== null && deep.page < wantedPage) {
    const response = await fetch(next, { headers: bearer(server) })
    if (!response.ok) throw new Error(`${next} gets the status ${response.status}`)
    const { items, links } = (await response.json()) as Page
    if (items.length < pageLength) break
    const { pathname, search }: URL = new URL(next)
    deep = { page: deep.page + 1, path: pathname + search }
    if (deep.page % 500 === 0) onProgress(`${server.name}, ${server.members} members: page ${deep.page} by its link`)
    next = links.next
  }
  return deep
}
