import type { Community } from '../../../lib/index.ts'
import { doRegularly } from '../../relay/regular-work.ts'
import type { AuditInbox } from './audit-inbox.ts'
import type { Log } from './log.ts'

/**
 * Regular maintenance outside of requests. Subscriptions whose last period is over end. Replaced tokens and secrets of endpoints
 * are removed when their overlap is over. Lines that the relay's commands have left come into the audit.
 */
export function startMaintenance(
  community: Pick<Community, 'endpoints' | 'networks' | 'notify'>,
  inbox: Pick<AuditInbox, 'take'>,
  log: Log,
): () => void {
  const work = async () => {
    await inbox.take()
    for (const { id } of await community.networks.list()) {
      await community.notify.subscriptionsEnded({ network: id })
      await community.endpoints.forgetOld(id)
    }
  }
  return doRegularly('*/15 * * * *', work, (error) => log.fault('in maintenance', error))
}
