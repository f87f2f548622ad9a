/** `folkmoot-relay close-circuit`: resumes sending to an endpoint immediately. */
import { jsonLines } from '../../../json.ts'
import { UsageError } from '../../../usage.ts'
import { commandActor } from '../../../user.ts'
import { systemClock } from '../../clock.ts'
import { openOperatorStore } from '../../open-store.ts'
import { outboxOf } from '../settings/read-settings.ts'
import { closeCircuit as closeAudited } from '../tasks/operator-tasks.ts'

export interface CircuitFlags {
  readonly outbox?: string
  readonly network?: string
  readonly endpoint?: string
  readonly json?: boolean
}

/**
 * Works with a running relay, which notices within a second, and without one.
 * @throws UsageError when there is no such endpoint
 */
export async function closeCircuit(flags: CircuitFlags): Promise<string> {
  const outbox = outboxOf(flags.outbox)
  const { endpoint: id, network } = flags
  if (id === undefined) throw new UsageError('close-circuit needs --endpoint')
  const store = await openOperatorStore(outbox)
  try {
    const asked = { store, now: systemClock.now(), outbox, actor: commandActor() }
    const closed = await closeAudited(asked, id, network)
    if (flags.json) return jsonLines([closed])
    return closed.was === 'open' ? 'the circuit is closed now; sending begins slowly\n' : 'the circuit was not open\n'
  } finally {
    await store.close()
  }
}
