/** `folkmoot-relay skip`: waiting deliveries are set aside. */
import { jsonLines } from '../../../json.ts'
import { openOperatorStore } from '../../backing.ts'
import { systemClock } from '../../clock.ts'
import { outboxOf } from '../config.ts'
import { findEndpoint, skipIn } from '../on-endpoint.ts'
import { checkKnown, skipOf } from '../selection.ts'
import { audited, selectionDetails, subjectOf } from '../trail.ts'

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
  const address = outboxOf(outbox)
  const store = await openOperatorStore(address)
  try {
    const { endpoint } = await findEndpoint(store, chosen.endpoint, chosen.network)
    await checkKnown(store, chosen.selection)
    const { endpoint: _, network: __, ...filter } = selectionDetails(chosen.selection)
    const { network_id: network } = endpoint
    const work = { network, action: 'deliveries.skipped', subject: subjectOf(endpoint), details: { filter } } as const
    const skipped = await audited(address, [work], {
      run: () => skipIn(store, chosen, systemClock.now()),
      done: (count) => ({ skipped: count }),
    })
    if (json) return jsonLines([{ skipped }])
    return `${skipped} ${skipped === 1 ? 'delivery is' : 'deliveries are'} skipped; replay --status skipped makes them due again\n`
  } finally {
    await store.close()
  }
}
