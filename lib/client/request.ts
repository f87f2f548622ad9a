/** From a call of a method to a request: ids into the path, the query, the body. */
import { isCallOption } from './options.ts'
import type { ClientRoute } from './routes.ts'
import type { Outgoing, Payload } from './send.ts'
import { payloadOf } from './upload.ts'

/** The parts of a call, whichever way it was written. */
export interface CallParts {
  /** The ids of the path by name, such as `{ id: '1001' }`. */
  readonly params?: Readonly<Record<string, unknown>> | undefined
  /** The query parameters by name; those that are `undefined` or null are left out. */
  readonly query?: Readonly<Record<string, unknown>> | undefined
  /** The body, which is sent as JSON, or as a form if it has a file. */
  readonly body?: unknown
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function idText(name: string, param: string, value: unknown): string {
  const isWhole = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))
  const text = typeof value === 'string' || isWhole ? String(value) : ''
  // A path of dots would lead out of the network.
  if (text === '' || /^\.{1,2}$/.test(text)) throw new TypeError(`${name}: ${param} must be an id, as a text or a number`)
  return encodeURIComponent(text)
}

/** @throws TypeError if a value is no text, number or boolean */
function searchOf(name: string, query: Readonly<Record<string, unknown>>): URLSearchParams {
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) {
    if (isCallOption(key)) throw new TypeError(`${name}: \`${key}\` is an option of the call, which comes after the query`)
    if (value === undefined || value === null) continue
    if (!['string', 'number', 'bigint', 'boolean'].includes(typeof value))
      throw new TypeError(`${name}: ${key} must be a text, a number or a boolean`)
    search.set(key, String(value))
  }
  return search
}

/**
 * The query of a link to a page. Nothing else of the link is used, so the token goes to the server of this client only.
 * A server behind a proxy may write links with another origin.
 */
function searchIn(name: string, link: unknown): URLSearchParams {
  // A relative link with a scheme, such as `http:?page=2`, is resolved against the same scheme alone.
  const url = typeof link === 'string' && (URL.parse(link, 'https://localhost') ?? URL.parse(link, 'http://localhost'))
  if (!url) throw new TypeError(`${name}: from must be the link of a page, as \`page.links.next\``)
  return url.searchParams
}

/** @throws TypeError if `from` comes with other parameters, which the link has already */
function searchOfList(name: string, { from, ...query }: Readonly<Record<string, unknown>>): URLSearchParams {
  const search = searchOf(name, query)
  if (from === undefined || from === null) return search
  if (search.size > 0) throw new TypeError(`${name}: from is a whole link, give no other parameter with it`)
  return searchIn(name, from)
}

/** A call as its method was written, ready to be sent. */
export interface PreparedCall {
  /** The request, or for a list the one of another page. */
  outgoing(next?: string, perPage?: number): Outgoing
}

/**
 * Checks the parts of a call.
 * @param root the address of the network
 * @throws TypeError that names the wrong part
 */
export function prepare(root: string, route: ClientRoute, { params = {}, query = {}, body }: CallParts): PreparedCall {
  const name = route.name.join('.')
  const path = route.path.replace(/:(\w+)/g, (_, param: string) => idText(name, param, params[param]))
  if (!isObject(query)) throw new TypeError(`${name}: the query must be an object`)
  const isPaged = route.isList && route.method === 'GET'
  const search = isPaged ? searchOfList(name, query) : searchOf(name, query)
  const { from } = query
  const isResumed = isPaged && from !== undefined && from !== null
  const payload: Payload | undefined = route.takesBody ? payloadOf(name, body) : undefined
  return {
    outgoing(next, perPage) {
      const parameters = next === undefined ? new URLSearchParams(search) : searchIn(name, next)
      if (perPage !== undefined && next === undefined && !isResumed && !parameters.has('per_page'))
        parameters.set('per_page', String(perPage))
      const { method, conflictStays } = route
      const url = `${root}${path}${parameters.size > 0 ? `?${parameters}` : ''}`
      return { url, method, conflictStays, payload, isOnce: payload?.content instanceof ReadableStream }
    },
  }
}
