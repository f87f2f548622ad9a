/** `folkmoot-relay skip`: waiting deliveries are set aside. */
import { jsonLines } from '../../../json.ts'
import { commandActor } from '../../../user.ts'
import { systemClock } from '../../clock.ts'
import { openOperatorStore } from '../../open-store.ts'
import { outboxOf } from '../settings/read-settings.ts'
import { skipOf } from '../tasks/delivery-selection.ts'
import { skip as skipAudited } from '../tasks/operator-tasks.ts'

export interface SkipFlags {
  readonly outbox?: string
  readonly json?: boolean
  readonly endpoint?: string
  readonly network?: string
  readonly event?: string
  readonly type?: string
  /** Of events ingested before this time. */
  readonly before?: string
  readonly limit?: string
}

/** Works with a running relay, which notices within a second, and without one. @throws UsageError */
export async function skip({ outbox, json, ...flags }: SkipFlags): Promise<string> {
  const chosen = skipOf(flags, '--')
  const address = outboxOf(outbox)
  const store = await openOperatorStore(address)
  try {
    const asked = { store, now: systemClock.now(), outbox: address, actor: commandActor() }
    const skipped = await skipAudited(asked, chosen)
    if (json) return jsonLines([{ skipped }])
    if (skipped === 0) return '0 deliveries are skipped: none of the chosen deliveries is pending\n'
    const [whose, which] = skipped === 1 ? ['delivery is', 'it'] : ['deliveries are', 'them']
    const undoing = `replay --endpoint ${chosen.endpoint} --status skipped`
    return `${skipped} ${whose} skipped; ${undoing} makes ${which} due again\n`
  } finally {
    await store.close()
  }
}
