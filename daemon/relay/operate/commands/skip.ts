/** `folkmoot-relay skip`: waiting deliveries are set aside. */
import { jsonLines } from '../../../json.ts'
import { openOperatorStore } from '../../backing.ts'
import { systemClock } from '../../clock.ts'
import type { OperatorStore } from '../../store/operator-store.ts'
import { outboxOf } from '../config.ts'
import { findEndpoint } from './find-endpoint.ts'
import { checkKnown, type Skip, skipOf } from './selection.ts'

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

/**
 * Skips the selected deliveries, and returns their number.
 * @throws UsageError when there is no such endpoint or event type
 */
export async function skipIn(store: OperatorStore, { endpoint: id, network, selection }: Skip, now: number): Promise<number> {
  const { endpoint } = await findEndpoint(store, id, network)
  await checkKnown(store, selection)
  return store.skip(endpoint, selection, now)
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
