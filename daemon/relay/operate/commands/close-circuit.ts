/** `folkmoot-relay close-circuit`: resumes sending to an endpoint at once. */
import { jsonLines } from '../../../json.ts'
import { UsageError } from '../../../usage.ts'
import { openOperatorStore } from '../../backing.ts'
import { systemClock } from '../../clock.ts'
import type { OperatorStore } from '../../store/operator-store.ts'
import { outboxOf } from '../config.ts'
import { findEndpoint } from './find-endpoint.ts'

export interface CircuitFlags {
  readonly outbox?: string
  readonly network?: string
  readonly endpoint?: string
  readonly json?: boolean
}

/** The result. */
export interface CircuitClosed {
  readonly endpoint_id: string
  readonly network_id: string
  /** How the circuit was before. */
  readonly was: 'closed' | 'open'
}

/** Closes the circuit of an endpoint and records that. */
export async function closeCircuitOf(
  store: OperatorStore,
  id: string,
  network: string | undefined,
  now: number,
): Promise<CircuitClosed> {
  const { endpoint, circuit } = await findEndpoint(store, id, network)
  const about = { endpoint_id: id, network_id: endpoint.network_id }
  await store.startAfresh(endpoint.ref, now, {
    ...about,
    kind: 'operator.closed_circuit',
    event_id: null,
    text: `an operator closed the circuit; it was ${circuit}`,
  })
  return { ...about, was: circuit }
}

/**
 * Works beside a running relay, which notices within a second, and without one.
 * @throws UsageError when there is no such endpoint
 */
export async function closeCircuit(flags: CircuitFlags): Promise<string> {
  const outbox = outboxOf(flags.outbox)
  if (flags.endpoint === undefined) throw new UsageError('close-circuit needs --endpoint')
  const store = await openOperatorStore(outbox)
  try {
    const closed = await closeCircuitOf(store, flags.endpoint, flags.network, systemClock.now())
    return flags.json ? jsonLines([closed]) : `the circuit is closed (it was ${closed.was}); sending begins slowly\n`
  } finally {
    await store.close()
  }
}
