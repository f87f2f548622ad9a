/** A request of a test, sent by the method of the client. The project `client` runs the generated tests so. */
import { type Client, createClient, isClientError } from '../../lib/client/index.ts'
import { routes } from '../../lib/client/routes.ts'
import type { Community } from '../../lib/index.ts'
import type { RequestParts, Seen } from './community.ts'

/** Whether requests for operations go through the client. */
export const isThroughClient = process.env['FOLKMOOT_TEST_CLIENT'] !== undefined

const byId = new Map(routes.map((route) => [route.id, route]))

/** The client refuses some keys itself, as the server would. */
const mayPass = (headers: Readonly<Record<string, string>> = {}): boolean =>
  Object.entries(headers).every(([name, value]) => name === 'idempotency-key' && /^[\x20-\x7e]{1,255}$/.test(value))

/**
 * Whether a method of the client can send a request. It sets headers itself, and sends a body or a query only if the
 * operation takes one.
 */
export function canPass(id: string, { headers, body, query = {} }: RequestParts): boolean {
  const route = byId.get(id)
  if (!route || !mayPass(headers) || (body !== undefined) !== route.takesBody) return false
  return route.takesQuery || Object.keys(query).length === 0
}

const clients = new WeakMap<Community, Map<string, Client>>()

/** One client for each community and token, as a program has it. */
export function clientOf(community: Community, token: string): Client {
  const known = clients.get(community) ?? new Map<string, Client>()
  clients.set(community, known)
  const fetch = (request: Request) => community.fetch(request)
  const client = known.get(token) ?? createClient({ baseUrl: 'https://api.test', network: 1, token, fetch, maxRetries: 0 })
  known.set(token, client)
  return client
}

/** Sends a request by the client's method. The response is given as the wire has it. */
export async function throughClient(community: Community, token: string, id: string, parts: RequestParts): Promise<Seen> {
  const route = byId.get(id)
  if (!route) throw new Error(`the client has no operation ${id}`)
  const method = route.name.reduce((group: unknown, word) => Object(group)[word], clientOf(community, token))
  if (typeof method !== 'function') throw new Error(`the client has no method ${route.name.join('.')}`)
  const idempotencyKey = parts.headers?.['idempotency-key']
  const given = [
    ...route.params.map((name) => parts.params?.[name] ?? 'missing'),
    ...(route.takesBody ? [parts.body] : []),
    ...(route.takesQuery ? [parts.query] : []),
    idempotencyKey === undefined ? {} : { idempotencyKey },
  ]
  try {
    const called = method(...given)
    if (!('withResponse' in called)) return seenPage(await called)
    const { data, status, headers } = await called.withResponse()
    return route.isList ? seenPage(data) : { status, body: data, headers }
  } catch (error) {
    if (!isClientError(error) || error.status === undefined) throw error
    return { status: error.status, body: error.body, headers: error.headers }
  }
}

const seenPage = ({ items, links, status, headers }: Seen & { items: unknown; links: unknown }): Seen => ({
  status,
  body: { items, links },
  headers,
})
