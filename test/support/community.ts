import { expect } from 'vitest'
import { type Community, createCommunity, type Options } from '../../lib/index.ts'
import { routesOf } from '../../lib/operation.ts'
import type { EventRecord, OutboxRecord } from '../../lib/outbox/record.ts'
import type { Id } from '../../lib/storage/table.ts'
import type { NetworkRow } from '../../lib/storage/tables/administration.ts'
import type { MemberRow } from '../../lib/storage/tables/members.ts'
import { manualClock } from './clock.ts'
import { type Copies, testStorage, withTest } from './engines.ts'
import type { Json } from './json.ts'
import { testPorts } from './ports.ts'
import { canPass, isThroughClient, throughClient } from './through-client.ts'

/** A response as a client sees it. */
export interface Seen {
  readonly status: number
  readonly body: Json
  readonly headers: Headers
}

export interface RequestParts {
  readonly params?: Readonly<Record<string, string | number>>
  readonly query?: Readonly<Record<string, string | number | boolean>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** An event as a receiver sees it. */
export interface SeenEvent {
  readonly event_id: string
  readonly event_timestamp: string
  readonly event_type: string
  readonly payload: Json
}

/** A network that is there already. */
export interface Prepared {
  readonly network: NetworkRow
  readonly owner: MemberRow
  /** A token with every scope. */
  readonly token: string
  readonly copies: Copies
}

/** The network of a test. */
export const demoNetwork = {
  id: '1',
  subdomain: 'demo',
  title: 'Demo',
  service_plan: 'unlimited',
  member_email_visibility: true,
  owner: { email: 'host@example.org', first_name: 'Ada', last_name: 'Host' },
} as const

/**
 * A separate community for one test, with a storage in memory (or the engine under test) and a clock that the test moves.
 * Network 1 (`demo`) has its owner.
 * @param options what the community is created with, beside the test's own storage and clock
 * @param scopes what the test's token may do
 * @param prepared the network, where it need not be made
 */
export async function createTestCommunity(
  options: Partial<Options> = {},
  scopes: readonly string[] = ['*'],
  prepared?: Prepared,
) {
  const records: OutboxRecord[] = []
  const outbox = {
    append: async (commits: readonly (readonly OutboxRecord[])[]) => {
      for (const record of commits.flat()) records.push(record)
    },
    close: async () => {},
  }
  const clock = manualClock()
  const faults: unknown[] = []
  const undeclared: unknown[] = []
  // An operation refuses only as its declaration and the documents allow, in every test.
  withTest(() => expect(undeclared).toEqual([]))
  const storage = options.storage ?? (await (prepared?.copies ?? testStorage)(outbox))
  const community = createCommunity({
    clock,
    hooks: {
      onError(error, { task }) {
        faults.push(error)
        if (task === 'undeclared failure') undeclared.push(error)
      },
    },
    ports: testPorts().ports,
    ...options,
    storage,
  })
  const { network, owner } = prepared ?? (await community.networks.create(demoNetwork))
  const newToken = async (held: readonly string[]) =>
    (await community.keys.create({ network: network.id, name: 'test', scopes: held, member_id: owner.id })).token
  const token = prepared && scopes.join() === '*' ? prepared.token : await newToken(scopes)
  const send = sender(community, token)
  const events = (audience = 'integration'): SeenEvent[] =>
    records
      .filter((record): record is EventRecord => record.kind === 'event' && record.audience === audience)
      .map((record) => JSON.parse(record.body))

  return {
    community,
    storage,
    clock,
    network,
    owner,
    token,
    newToken,
    /** Faults that `onError` was notified of; a test that expects none looks here. */
    faults,
    /** Sends a request for an operation, by its id, through the whole of HTTP but the socket. */
    send,
    /** The same with another token. */
    sendAs: (other: string) => sender(community, other),
    events,
    /** The types of the events since the last call, in order. */
    newEvents: (() => {
      let seen = 0
      return () => {
        const all = events()
        const types = all.slice(seen)
        seen = all.length
        return types
      }
    })(),
    records,
  }
}

export type TestCommunity = Awaited<ReturnType<typeof createTestCommunity>>

function sender(community: Community, token: string) {
  const routes = new Map(routesOf(community.operations).map((route) => [route.id, route]))
  return async (id: string, parts: RequestParts = {}): Promise<Seen> => {
    const route = routes.get(id)
    if (!route) throw new Error(`there is no operation ${id}`)
    if (isThroughClient && canPass(id, parts)) return throughClient(community, token, id, parts)
    const path = route.operation.path.replace(/:(\w+)/g, (_, name: string) => String(parts.params?.[name] ?? 'missing'))
    const search = new URLSearchParams(
      Object.entries(parts.query ?? {}).map(([name, value]): [string, string] => [name, String(value)]),
    )
    return request(community, route.method, `/admin/v1/networks/1${path}${search.size > 0 ? `?${search}` : ''}`, {
      ...(parts.body === undefined ? {} : { body: JSON.stringify(parts.body) }),
      headers: {
        authorization: `Bearer ${token}`,
        ...(parts.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...parts.headers,
      },
    })
  }
}

/** Sends any request to a community, over HTTPS as far as it can tell. */
export async function request(community: Community, method: string, path: string, init: RequestInit = {}): Promise<Seen> {
  const response = await community.fetch(new Request(`https://api.test${path}`, { method, ...init }))
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text), headers: response.headers }
}

/** Ids that no record has. */
export const nobody: Id = '9007199254740991'
