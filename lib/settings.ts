/** The settings of a community, as all of its parts read them. */
import type { Chance } from './base/chance.ts'
import type { Clock } from './base/clock.ts'
import type { Tracing } from './base/tracing.ts'
import type { PermalinkKind, Principal } from './context.ts'
import type { CommittedEvent } from './events/catalogue.ts'
import type { Limits } from './limits.ts'
import type { AnyOperation } from './operation.ts'
import type { KeyRing } from './outbox/encryption.ts'
import type { Ports } from './ports.ts'
import type { Storage } from './storage/contract.ts'
import type { Recorder } from './storage/recorder.ts'
import type { ScopedTx } from './storage/scoped.ts'
import type { Id } from './storage/table.ts'

/** The principal of a host's own token. */
export interface HostPrincipal {
  /** The network of the token. */
  readonly network_id: Id
  /** The member who acts. */
  readonly member_id: Id
  /** `members:read`, `*:read`, `*`, … */
  readonly scopes: readonly string[]
  /** A stable name of the token, never the token. Rate limits and idempotency keys are counted by it. */
  readonly key: string
}

/** One count of one minute. */
export interface RateCount {
  /** Whether this request is within the limit; if not, it gets a 429. */
  readonly allowed: boolean
  /** Requests left in this minute. */
  readonly remaining: number
  /** Seconds until the count starts over. */
  readonly resetSeconds: number
}

/** Counts requests per key and minute. `folkmoot/rate-limits` makes some: in memory, or in the database of the storage. */
export interface RateLimiter {
  /**
   * Counts one request.
   * @param key the counted key: the API key's id
   * @param perMinute how many are allowed
   */
  count(key: string, perMinute: number): Promise<RateCount>
  /** Closes what it holds open. `community.close()` calls it. */
  close?(): Promise<void>
}

/** The request as a hook sees it, for any operation. */
export interface BeforeCall {
  /** The operation, such as `members.create`. PUT has the id of PATCH. */
  readonly id: string
  /** Its declaration: scope, summary, schemas and events. */
  readonly operation: AnyOperation
  /** The ids of the path by name, such as `{ id: '1001' }`. */
  readonly params: Readonly<Record<string, string>>
  /** The query, parsed by the operation's schema. */
  readonly query: unknown
  /** The body, parsed by the operation's schema; `undefined` if it takes none. */
  readonly body: unknown
  /** The caller: the API key, its scopes, and the member it acts for. */
  readonly principal: Principal
  /** The transaction of the operation, bound to the network of the request. */
  readonly tx: ScopedTx
  /** Whether the transaction is rolled back in any case: do nothing then that a rollback can't undo. */
  readonly isPreview: boolean
}

/** The place of a fault; fields that do not apply are omitted. */
export interface FaultContext {
  /** The failed request. The client has the same `request_id`. */
  readonly request_id?: string
  /** The operation, as in `members.create`. */
  readonly operation?: string
  /** The event of the failed `hooks.after`. */
  readonly event_id?: string
  /** Work outside of a request: `hooks.after`, `last use of key 7`, … */
  readonly task?: string
}

/** Reports a fault. It never throws, and is not awaited. */
export type Report = (error: unknown, about: FaultContext) => void

/** The hooks without the types of single operations, because those are declared later in the order of imports. */
interface SettledHooks {
  before?(call: BeforeCall): void | Promise<void>
  after?(event: CommittedEvent): void | Promise<void>
}

/** Takes a sentence for a developer. */
export type Warn = (text: string) => void

/** The options with every default filled in. */
export interface Settings {
  readonly storage: Storage
  readonly basePath: string
  readonly publicUrl: string | undefined
  readonly allowHttp: boolean
  readonly trustProxy: boolean | number
  readonly ids: 'string' | 'number'
  readonly limits: Limits
  readonly rateLimiter: RateLimiter | undefined
  readonly authenticate: ((token: string) => Promise<HostPrincipal | 'expired' | undefined>) | undefined
  readonly hooks: SettledHooks
  /** Reports to `hooks.onError`, or to the console. */
  readonly report: Report
  /** Says something to a developer. */
  readonly warn: Warn
  /** The host's function; `undefined`: `defaultPermalink`. */
  readonly permalink: ((page: { kind: PermalinkKind; id: Id; subdomain: string; network_id: Id }) => string) | undefined
  readonly ports: Ports
  readonly clock: Clock
  readonly chance: Chance
  readonly newMembersConsent: boolean
  readonly keysOfFormerMembers: 'accept' | 'refuse'
  readonly encryption: KeyRing
  /** `undefined`: nothing is traced. Transactions are traced by `storage`. */
  readonly tracing: Tracing | undefined
  /** Records what the work changes, in a preview and in an act that follows one. */
  readonly recorder?: Recorder
}
