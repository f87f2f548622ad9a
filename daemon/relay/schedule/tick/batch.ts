/** The changes of a tick, gathered before they are recorded, and the reports to people afterwards. */

import type { EndpointState } from '../../store/endpoint/relay-endpoint.ts'
import type { Notice } from '../../store/notice.ts'
import type { Disabling, Result } from '../../store/store.ts'
import type { EndpointRun } from '../endpoint/endpoint-run.ts'

export interface Batch {
  readonly results: Result[]
  readonly states: Map<number, EndpointState>
  readonly disable: Map<number, Disabling>
  readonly notices: Notice[]
  /** Deliveries among the results whose endpoints keep the order of subjects. */
  readonly ordered: number[]
  /** Called when the batch is recorded. */
  readonly notifications: (() => void)[]
}

/** An empty one; `disable` holds the endpoints to disable for a reason from outside of the tick. */
export const newBatch = (disable: Map<number, Disabling> = new Map()): Batch => ({
  results: [],
  states: new Map(),
  disable,
  notices: [],
  ordered: [],
  notifications: [],
})

export const noticeOf = (
  { endpoint: { network_id, id } }: EndpointRun,
  kind: Notice['kind'],
  text: string,
  event_id: string | null = null,
): Notice => ({ kind, network_id, endpoint_id: id, event_id, text })

/** A notice for the log, the metrics and the panel that the host is not notified of. */
export const unannounced = (notice: Notice): Notice => ({ ...notice, announced: false })
