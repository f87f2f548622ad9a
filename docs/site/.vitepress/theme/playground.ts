/** A community in the reader's browser: the API of the library over a storage in memory, with the network of the demo. */
import { createCommunity, type WebhookEvent } from 'folkmoot'
import { memoryStorage } from 'folkmoot/storage/memory'
import { recurrence } from '../../../../adapters/ports/recurrence.ts'
import { seedDemo } from '../../../../daemon/server/demo/seed.ts'

export interface Operation {
  readonly id: string
  /** The resource, such as `members`. */
  readonly resource: string
  readonly method: string
  /** Below the network, with `{id}` where a record is named. */
  readonly path: string
  readonly summary: string
  /** Query parameters that a request needs. */
  readonly query: readonly string[]
  /** An example, if the operation takes a body. */
  readonly body: Readonly<Record<string, unknown>> | undefined
}

export interface Request {
  readonly method: string
  readonly path: string
  /** JSON, or nothing. */
  readonly body: string
}

export interface ApiResponse {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

export interface Playground {
  readonly operations: readonly Operation[]
  /** The request of an operation that names records which are there. */
  requestOf(operation: Operation): Promise<Request>
  send(request: Request): Promise<ApiResponse>
}

interface Described {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly required: boolean }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: Operation['body'] }>> }
}

const network = '/admin/v1/networks/demo'
/** Records of the demo that most operations can be tried on. Of other kinds it is the first one of the list. */
const chosen: Readonly<Record<string, string>> = {
  avatar: '3501',
  comment: '4501',
  email: 'bela.birch.2@example.org',
  member: '1002',
  plan: '5002',
  post: '4030',
  purchase: '5301',
  space: '2005',
  subscription: '5201',
  user: '1002',
}
const methods = ['get', 'post', 'patch', 'put', 'delete'] as const

/** The operations of the OpenAPI document, but for uploads: their body is not JSON. */
function operationsOf(paths: Readonly<Record<string, object>>): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const described = (item as Partial<Record<string, Described>>)[method]
      const content = described?.requestBody?.content
      if (!described || (content && !content['application/json'])) return []
      const { operationId: id, summary, tags, parameters = [] } = described
      const query = parameters.filter(({ in: place, name, required }) => place === 'query' && (required || name === 'user_id'))
      const operation = {
        ...{ id, summary, resource: tags[0] ?? '', method: method.toUpperCase() },
        path: path.replace('/admin/v1/networks/{network_id}', ''),
        query: query.map(({ name }) => name),
        body: content?.['application/json']?.example,
      }
      return [operation]
    }),
  )
}

/** @param onEvent gets each webhook event that a relay would deliver */
export async function openPlayground(onEvent: (event: WebhookEvent) => void): Promise<Playground> {
  const outbox: NonNullable<NonNullable<Parameters<typeof memoryStorage>[0]>['outbox']> = {
    async append(commits) {
      for (const record of commits.flat())
        if (record.kind === 'event' && record.audience === 'integration') onEvent(JSON.parse(record.body) as WebhookEvent)
    },
    async close() {},
  }
  const storage = memoryStorage({ outbox })
  const community = createCommunity({ storage, ports: { recurrence: recurrence() } })
  const token = await seedDemo(community, storage)
  const operations = operationsOf(community.openapi()['paths'] as Readonly<Record<string, object>>)
  const lists = new Set(operations.filter(({ method }) => method === 'GET').map(({ path }) => path))

  async function send({ method, path, body }: Request): Promise<ApiResponse> {
    const headers = { authorization: `Bearer ${token}`, ...(body.trim() === '' ? {} : { 'content-type': 'application/json' }) }
    const request = new Request(new URL(network + path, 'https://community.example'), {
      method,
      headers,
      ...(method === 'GET' || body.trim() === '' ? {} : { body }),
    })
    const response = await community.fetch(request)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    return {
      status: response.status,
      headers: [...response.headers],
      body: isJson ? JSON.stringify(JSON.parse(text), undefined, 2) : text,
    }
  }

  async function first(list: string): Promise<string | undefined> {
    const { status, body } = await send({ method: 'GET', path: list, body: '' })
    if (status !== 200) return undefined
    return (JSON.parse(body) as { readonly items?: readonly { readonly id?: string }[] }).items?.[0]?.id
  }

  /** The id of a record that is there, for `member_id` and the like, or what else is chosen. */
  async function idFor(name: string): Promise<string | undefined> {
    const record = name.replace(/_id$/, '')
    return chosen[record] ?? (lists.has(`/${record}s`) ? first(`/${record}s`) : undefined)
  }

  /** The example with the ids of records that are there; without those that are found nowhere. */
  async function bodyOf(example: NonNullable<Operation['body']>): Promise<object> {
    const filled: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(example)) {
      const given = name.endsWith('_id') ? await idFor(name) : value
      if (given !== undefined) filled[name] = given
    }
    return filled
  }

  async function queryOf(names: readonly string[]): Promise<string> {
    const query = new URLSearchParams()
    for (const name of names) query.set(name, (await idFor(name)) ?? '')
    return query.size === 0 ? '' : `?${query}`
  }

  return {
    operations,
    send,
    async requestOf({ method, path: template, query, body: example }) {
      let path = ''
      for (const part of template.split(/(?=\/)/)) {
        const [, name] = /^\/\{(\w+)\}$/.exec(part) ?? []
        const isOfNetwork = path.lastIndexOf('/') === 0
        const id = name && ((isOfNetwork ? chosen[path.slice(1, -1)] : undefined) ?? (await first(path)) ?? (await idFor(name)))
        path += id ? `/${id}` : part
      }
      const body = example ? JSON.stringify(await bodyOf(example), undefined, 2) : ''
      return { method, path: path + (await queryOf(query)), body }
    },
  }
}
