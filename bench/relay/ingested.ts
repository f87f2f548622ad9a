/** A backlog in the store of a relay, before anything of it is sent. */
import { startRelay } from '../../daemon/relay/relay.ts'

/**
 * Ingests all that waits in an outbox, while its endpoints are disabled.
 * @param outbox its address
 * @param count the number of its events
 */
export async function ingestAll(outbox: string, count: number): Promise<void> {
  const relay = await startRelay({ outbox })
  // Not more often: of a million deliveries, counting takes its time too.
  while ((await relay.store.counts()).pending < count) await new Promise((next) => void setTimeout(next, 1000))
  await relay.close()
}
