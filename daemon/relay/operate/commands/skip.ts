/** `folkmoot-relay skip`: waiting deliveries are set aside. */
import { jsonLines } from '../../../json.ts'
import { openOperatorStore } from '../../backing.ts'
import { systemClock } from '../../clock.ts'
import { outboxOf } from '../config.ts'
import { skipIn } from '../on-endpoint.ts'
import { skipOf } from '../selection.ts'

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

/** Works beside a running relay, which notices within a second, and without one. @throws UsageError */
export async function skip({ outbox, json, ...flags }: SkipFlags): Promise<string> {
  const chosen = skipOf(flags, '--')
  const store = await openOperatorStore(outboxOf(outbox))
  try {
    const skipped = await skipIn(store, chosen, systemClock.now())
    if (json) return jsonLines([{ skipped }])
    return `${skipped} ${skipped === 1 ? 'delivery is' : 'deliveries are'} skipped; replay --status skipped makes them due again\n`
  } finally {
    await store.close()
  }
}
