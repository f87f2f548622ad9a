/** Shared by the contract tests: one case for every route, and ways to send its example. */
import { expect } from 'vitest'
import type { Community } from '../../lib/index.ts'
import type { Method } from '../../lib/operation.ts'
import { routesOf } from '../../lib/operation.ts'
import { operations } from '../../lib/operations.ts'
import { request, type Seen, type TestCommunity } from '../support/community.ts'
import { engine } from '../support/engines.ts'
import { type Example, examplesOf, requestSchemas } from '../support/examples.ts'
import { at } from '../support/json-schema.ts'
import { soaking } from '../support/rounds.ts'
import { createSeededCommunity } from '../support/seed.ts'
import { canPass, isThroughClient, throughClient } from '../support/through-client.ts'

/** Every route's id, for `test.each`: what is added to the registry is tested without a change here. */
export const routeIds: readonly string[] = routesOf(operations).map(({ id }) => id)

/** The routes that a predicate picks, by id. */
export const routesWhere = (holds: (example: Example) => boolean): readonly string[] =>
  [...examples.values()].filter(holds).map(({ route }) => route.id)

/** The part that differs between the projects of the generated tests. */
const differs = engine !== 'memory' ? 'storage' : isThroughClient ? 'client' : undefined

/**
 * The routes of a test, where it can tell something new. Every test runs in memory, and in the soak on every engine.
 * @param part what its requests reach. One that is refused before a storage is called is the same on each
 */
export const reaching = (part: 'storage' | 'client' | 'neither', ids: readonly string[]): readonly string[] =>
  soaking || differs === undefined || differs === part ? ids : []

const { community } = await createSeededCommunity()
/** The document of the API, as a community with the default options publishes it. */
export const document = community.openapi()
const examples: ReadonlyMap<string, Example> = new Map(examplesOf(community).map((example) => [example.route.id, example]))

/** The example request of a route. */
export function exampleOf(id: string): Example {
  const example = examples.get(id)
  if (!example) throw new Error(`there is no route ${id}`)
  return example
}

/** Changes to an example before it is sent. */
export interface Changes {
  readonly method?: string
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** A body to be written as JSON; `rawBody` is sent as it is. */
  readonly body?: unknown
  readonly rawBody?: string | Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
  /** The change of the path before it is called. */
  readonly path?: (path: string) => string
}

/** The path of an example below the community's origin. */
export const pathOf = ({ route, params }: Pick<Example, 'route' | 'params'>): string =>
  `/admin/v1/networks/1${route.operation.path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? 'missing')}`

/** The statuses that a route is documented to respond with, by its id; looked up for every response. */
const documented = new Map(
  routeIds.map((id) => [id, Object.keys(at(requestSchemas(document, exampleOf(id).route).described, 'responses')).map(Number)]),
)

/** The statuses that a route is documented to respond with. */
const documentedStatuses = (id: string): readonly number[] => documented.get(id) ?? []

/** Sends the example of a route, changed as `changes` asks; the status has to be a documented one. */
export async function sendExample(
  { community, token }: Pick<TestCommunity, 'token'> & { readonly community: Community },
  id: string,
  changes: Changes = {},
): Promise<Seen> {
  const example = exampleOf(id)
  const { route } = example
  const path = pathOf({ route, params: { ...example.params, ...changes.params } })
  const search = new URLSearchParams({ ...example.query, ...changes.query })
  const json = changes.body === undefined ? example.body : changes.body
  const parts = {
    params: { ...example.params, ...changes.params },
    query: { ...example.query, ...changes.query },
    body: json,
    headers: changes.headers ?? {},
  }
  const isPlain = changes.method === undefined && changes.path === undefined && changes.rawBody === undefined
  if (isThroughClient && isPlain && canPass(id, parts)) {
    const seen = await throughClient(community, token, id, parts)
    expect(documentedStatuses(id), `${id} returned ${JSON.stringify(seen.body)}`).toContain(seen.status)
    return seen
  }
  const body = changes.rawBody ?? (json === undefined ? undefined : JSON.stringify(json))
  const response = await request(
    community,
    changes.method ?? route.method,
    `${changes.path?.(path) ?? path}${search.size > 0 ? `?${search}` : ''}`,
    {
      ...(body === undefined ? {} : { body }),
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...changes.headers,
      },
    },
  )
  if (!changes.method && !documentedStatuses(id).includes(response.status))
    expect(documentedStatuses(id), `${id} returned ${JSON.stringify(response.body)}`).toContain(response.status)
  return response
}

/** Every method that a client might try. */
export const everyMethod: readonly (Method | 'HEAD' | 'OPTIONS')[] = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']
