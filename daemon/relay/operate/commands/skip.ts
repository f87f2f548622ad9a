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
    const undoing = `replay --endpoint ${chosen.endpoint} --status skipped`
    return `${skipped} ${skipped === 1 ? 'delivery is' : 'deliveries are'} skipped; ${undoing} makes them due again\n`
  } finally {
    await store.close()
  }
}
