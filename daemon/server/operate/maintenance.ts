import cron from 'node-cron'
import type { Community } from '../../../lib/index.ts'
import type { AuditInbox } from './audit-inbox.ts'
import type { Log } from './log.ts'

/** Every quarter of an hour. */
const schedule = '*/15 * * * *'

/**
 * Regular maintenance outside of requests. Subscriptions whose last period is over end. Replaced keys and secrets of endpoints
 * are removed when their overlap is over. Lines that the relay's commands have left come into the audit.
 * @returns ends it
 */
export function startMaintenance(
  community: Pick<Community, 'endpoints' | 'networks' | 'notify'>,
  inbox: Pick<AuditInbox, 'take'>,
  log: Log,
): () => Promise<void> {
  const work = async () => {
    await inbox.take()
    for (const { id } of await community.networks.list()) {
      await community.notify.subscriptionsEnded({ network: id })
      await community.endpoints.forgetOld(id)
    }
  }
  const task = cron.schedule(schedule, () => work().catch((error: unknown) => log.fault('in maintenance', error)), {
    noOverlap: true,
  })
  return async () => {
    await task.destroy()
  }
}
