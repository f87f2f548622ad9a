/** A community for the tests of a host: in memory, with a clock that the test moves, and the same responses at each run. */
import * as v from 'valibot'
import { seededChance } from '../../lib/base/chance.ts'
import { must } from '../../lib/base/options.ts'
import { type Client, createClient } from '../../lib/client/index.ts'
import { communityOf } from '../../lib/community.ts'
import type { Community, EventOf, HostEventName, NetworkRow, Options, WebhookEvent } from '../../lib/index.ts'
import { optionRules } from '../../lib/options.ts'
import type { OutboxRecord } from '../../lib/outbox/record.ts'
import type { MemberRow } from '../../lib/storage/tables/members.ts'
import { checkOptions } from '../options.ts'
import { memoryStorage } from '../storage/memory.ts'
import { momentOf, momentRule, type TestClock, testClock } from './clock.ts'

/**
 * Options of `testCommunity`: those of `createCommunity` too, except for the storage and the clock. `allowHttp` is true by
 * default, so that a test can mount the community in a server.
 */
export interface TestCommunityOptions extends Omit<Options, 'storage' | 'clock'> {
  /** The clock at the start: milliseconds since 1970, an ISO 8601 text, or a `Date`. 2026-01-01T00:00:00.000Z by default. */
  readonly now?: number | string | Date
  /** Equal seeds give equal ids, event ids, tokens and signing secrets. 1 by default. */
  readonly seed?: number | string
}

/** A request of a test: what `fetch` takes, and `json`. */
export interface TestRequest extends RequestInit {
  /** The body as a value. It is sent as JSON. */
  readonly json?: unknown
}

/** A community in memory, for one test. */
export interface TestCommunity {
  /** The community itself, for calls without HTTP. */
  readonly community: Community
  /** The network `paint-pals`. */
  readonly network: NetworkRow
  /** Its host, for whom the token acts. */
  readonly owner: MemberRow
  /** A token with every scope. */
  readonly token: string
  /** The clock of the community. */
  readonly clock: TestClock
  /** A client of the network with that token. It never tries again, so a test does not wait. */
  readonly client: Client
  /**
   * Sends a request with that token, without a server.
   * @param path below the network, such as `/members`; or a whole one, which begins with `/admin/` or `/webhooks/`
   * @param init as for `fetch`; `json` is a body as a value. An own `authorization` header replaces the token
   * @throws TypeError if the path does not begin with a slash, or there are both `json` and `body`
   */
  request(path: string, init?: TestRequest): Promise<Response>
  /**
   * Makes another token.
   * @param scopes what it may do: `members:read`, `*:read`, …
   * @throws ApiError 422 when there is no such scope
   */
  newToken(...scopes: readonly string[]): Promise<string>
  /** The events since the last call, in their order, as an endpoint gets them. */
  events(): WebhookEvent[]
  /** The same for the events that only the host gets, such as mail to be sent. */
  events(audience: 'host'): EventOf<HostEventName>[]
  /** Waits for what no caller waited for, and closes the community. */
  close(): Promise<void>
}

const { storage: _storage, clock: _clock, ...sharedRules } = optionRules
const rules = {
  ...sharedRules,
  now: v.optional(
    v.custom<number | string | Date>((value) => momentOf(value) !== undefined, must(momentRule)),
    '2026-01-01T00:00:00.000Z',
  ),
  seed: v.optional(
    v.custom<number | string>((value) => typeof value === 'string' || Number.isFinite(value), must('be a number or a text')),
    1,
  ),
}

const origin = 'https://api.test'

/**
 * Makes a community with one network, its host, and a token with every scope. Nothing is shared between two of them. The
 * responses of equal calls are equal at each run if the calls wait for each other.
 *
 * @param options `now` and `seed`, and the options of `createCommunity`
 * @throws TypeError that lists every problem of the options
 * @example const { client, events } = await testCommunity()
 */
export async function testCommunity(options: TestCommunityOptions = {}): Promise<TestCommunity> {
  for (const own of ['storage', 'clock'])
    if (own in Object(options))
      throw new TypeError(`testCommunity: option \`${own}\` is its own: use createCommunity, or \`now\` and \`clock\``)
  const { now, seed: seeded } = checkOptions('testCommunity', rules, options, '{ now, seed }')
  const { now: _now, seed: _seed, ...rest } = options
  const emitted = { integration: [] as string[], host: [] as string[] }
  const outbox = {
    append: async (commits: readonly (readonly OutboxRecord[])[]) => {
      for (const record of commits.flat()) if (record.kind === 'event') emitted[record.audience].push(record.body)
    },
    close: async () => {},
  }
  const clock = testClock(momentOf(now) ?? 0)
  const community = communityOf({ allowHttp: true, ...rest, storage: memoryStorage({ outbox }), clock }, seededChance(seeded))
  const { network, owner } = await community.networks.create({
    id: '1',
    subdomain: 'paint-pals',
    title: 'Paint Pals',
    service_plan: 'unlimited',
    owner_id: '101',
    owner: { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' },
  })
  const newToken = async (...scopes: readonly string[]): Promise<string> =>
    (await community.keys.create({ network: network.id, name: 'Test', scopes })).token
  const token = await newToken('*')
  const root = `${origin}${rest.basePath ?? ''}`

  return {
    community,
    network,
    owner,
    token,
    clock,
    client: createClient({ baseUrl: root, network: network.id, token, fetch: community.fetch, maxRetries: 0 }),
    async request(path, init = {}) {
      const { json, ...given } = init
      if (!path.startsWith('/')) throw new TypeError(`request: the path must begin with a slash, as in /members, got ${path}`)
      if (json !== undefined && given.body !== undefined) throw new TypeError('request: give `json` or `body`, not both')
      const headers = new Headers(given.headers)
      if (!headers.has('authorization')) headers.set('authorization', `Bearer ${token}`)
      if (json !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json')
      const isWhole = /^\/(?:admin|webhooks)\//.test(path)
      const url = `${root}${isWhole ? '' : `/admin/v1/networks/${network.id}`}${path}`
      return community.fetch(
        new Request(url, { ...given, headers, ...(json === undefined ? {} : { body: JSON.stringify(json) }) }),
      )
    },
    newToken,
    // The records are written from the same schemas as the types.
    events: (audience: 'integration' | 'host' = 'integration') => emitted[audience].splice(0).map((body) => JSON.parse(body)),
    close: () => community.close(),
  }
}
