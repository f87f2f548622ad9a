/** The difference between views of deliveries that a store keeps: who sends them, and how that is asked. */
import type { RelayView, TestAnswer } from '../../../../lib/relay/relay-view.ts'
import type { Endpoint } from '../../store/endpoint/relay-endpoint.ts'
import type { OperatorStore } from '../../store/operator/operator-store.ts'

/** The view, and the end of its connections. */
export interface OpenRelayView extends RelayView {
  close(): Promise<void>
}

/** The relay that runs on a store. */
export interface Side {
  openStore(): Promise<OperatorStore>
  /** The relay's timeline, in milliseconds since 1970. */
  now(): number
  isRunning(store: OperatorStore): Promise<boolean>
  /** The refs of endpoints whose open circuit sends a probe now. */
  probing(): ReadonlySet<number>
  /** Called after deliveries became due. */
  onDue(): void
  /** @throws ApiError whose sentence is for the person */
  test(store: OperatorStore, endpoint: Endpoint): Promise<TestAnswer>
  enable(store: OperatorStore, endpoint: Endpoint): Promise<void>
  disable(store: OperatorStore, endpoint: Endpoint): Promise<void>
}
