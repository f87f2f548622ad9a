/** `folkmoot-relay close-circuit`: resumes sending to an endpoint at once. */
import { jsonLines } from '../../../json.ts'
import { UsageError } from '../../../usage.ts'
import { openOperatorStore } from '../../backing.ts'
import { systemClock } from '../../clock.ts'
import { outboxOf } from '../config.ts'
import { closeCircuitOf, findEndpoint } from '../on-endpoint.ts'
import { audited, subjectOf } from '../trail.ts'

export interface CircuitFlags {
  readonly outbox?: string
  readonly network?: string
  readonly endpoint?: string
  readonly json?: boolean
}

/**
 * Works beside a running relay, which notices within a second, and without one.
 * @throws UsageError when there is no such endpoint
 */
export async function closeCircuit(flags: CircuitFlags): Promise<string> {
  const outbox = outboxOf(flags.outbox)
  const { endpoint: id, network } = flags
  if (id === undefined) throw new UsageError('close-circuit needs --endpoint')
  const store = await openOperatorStore(outbox)
  try {
    const { endpoint } = await findEndpoint(store, id, network)
    const work = { network: endpoint.network_id, action: 'endpoint.circuit_closed', subject: subjectOf(endpoint) } as const
    const closed = await audited(outbox, [work], {
      run: () => closeCircuitOf(store, id, network, systemClock.now()),
      done: ({ was }) => ({ was }),
    })
    return flags.json ? jsonLines([closed]) : `the circuit is closed (it was ${closed.was}); sending begins slowly\n`
  } finally {
    await store.close()
  }
}
