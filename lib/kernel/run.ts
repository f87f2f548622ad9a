/** A request for an operation, and its run: what the steps of the pipeline hand on. */
import type { Principal } from '../context.ts'
import type { ApiError } from '../errors.ts'
import type { AnyOperation } from '../operation.ts'
import type { RecordWriter } from '../records/json/writer.ts'
import type { Recorder } from '../storage/recorder.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import type { NetworkRow } from '../storage/tables/administration.ts'
import type { Repeatable } from './idempotency.ts'
import type { Paging } from './page.ts'
import type { TxResult } from './transactions.ts'
import type { Address } from './wire.ts'

/**
 * A call that only the host can start. No hook vetoes it, it may emit every event, and its events go out even if no row
 * changes.
 */
export interface NotificationHandler extends Pick<AnyOperation, 'id' | 'status' | 'body' | 'returns' | 'handle'> {
  readonly method: 'POST'
  readonly isNotification: true
}

/** A member in whose name the host acts, by default the network's first host; with every scope. */
export interface Actor {
  readonly as: Id | undefined
}

/**
 * Starts reading the caller's rows again, in the transaction of the operation. The result throws if they may not call any more.
 * @param network its row, where the transaction reads it anyway
 */
export type StartRecheck = (tx: ScopedTx, network?: Promise<NetworkRow | undefined>) => () => Promise<void>

/** An operation to run, for any caller. Only the caller is checked so far. */
export interface OperationRequest {
  readonly operation: AnyOperation | NotificationHandler
  readonly network: NetworkRow
  readonly caller: Principal | Actor
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  /** Parameters that came in the body of a request that needs none; those of the query go before. */
  readonly queryInBody?: object
  readonly body?: unknown
  /** Where it was called: for links, and the addresses of stored files. */
  readonly address: Address
  readonly recheck?: StartRecheck | undefined
  /** The token of a preview: the operation is done only if it changes what that has named. */
  readonly if?: string | undefined
  /** Reads what a repeated request is recognised by. */
  readonly repeat?: (() => Promise<Repeatable>) | undefined
  /** Counts the bytes that the request holds; both throw ApiError 503 when too much is in flight. */
  readonly usage?: { add(bytes: number): void; requireRoom(): void }
}

/** A request whose input has been checked. */
export interface Run {
  readonly request: OperationRequest
  /** The operation, if it is one of the API's. */
  readonly api: AnyOperation | undefined
  readonly paging: Paging
  readonly query: unknown
  readonly body: unknown
  readonly repeat: Repeatable | undefined
  readonly now: string
  readonly writer: RecordWriter
  /** Records its changes, to compare them with those of a preview. */
  readonly recorder: Recorder | undefined
  /** The result of the operation's `prepare`. */
  readonly prepared: unknown
  /** The handler's refusal. A veto or a fault is none: it may be gone at the next try. */
  refusal: ApiError | undefined
  /** Whether a commit may have happened: what was prepared may then belong to it. */
  mayBeWritten: boolean
}

export interface TxCaller {
  readonly principal: Principal
  /** @throws ApiError when they may not call any more */
  recheck(): Promise<void>
}

export type Step<T> = (tx: ScopedTx, caller: TxCaller) => Promise<TxResult<T>>

/** The text of a response; `''` where there is no body. */
export interface TextResult {
  readonly status: number
  readonly body: string
  /** Whether it was given before, to a request with the same `Idempotency-Key`. */
  readonly isReplay?: boolean
}
