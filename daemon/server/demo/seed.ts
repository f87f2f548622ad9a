import { systemChance } from '../../../lib/base/chance.ts'
import { isoTime, systemClock } from '../../../lib/base/clock.ts'
import { lineIds } from '../../../lib/host/audit/changes.ts'
import { addLine } from '../../../lib/host/audit/line.ts'
import type { Community } from '../../../lib/index.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { hostScoped } from '../../../lib/storage/scoped.ts'
import { seedContent } from './content.ts'
import { seedFields } from './fields.ts'
import { demoNetwork, ownerId } from './made.ts'
import { seedPayments } from './payments.ts'
import { seedPeople } from './people.ts'

/** By this name the key of an earlier start is found again. It is the actor for the audit, too. */
const keyName = 'folkmoot serve --demo'

/**
 * Makes the demo network, always the same, unless the store holds it already. Makes a fresh token with every scope, which
 * replaces the token of the previous start.
 * @param storage the community's own storage: the records are laid down as they are, without events
 * @returns the token
 */
export async function seedDemo(community: Pick<Community, 'networks' | 'keys'>, storage: Storage): Promise<string> {
  if (!(await community.networks.find(demoNetwork.id)))
    await storage.transaction(async (storageTx) => {
      const tx = hostScoped(storageTx, demoNetwork.id)
      await seedPeople(tx)
      await seedFields(tx)
      await seedContent(tx)
      await seedPayments(tx)
      const subject = { type: 'network', id: demoNetwork.id, name: demoNetwork.subdomain } as const
      const line = { action: 'network.created', subject, details: { subdomain: demoNetwork.subdomain, seeded: true } } as const
      const id = lineIds(systemClock, systemChance)()
      await addLine(tx, id, isoTime(systemClock.now()), { actor: keyName }, line)
    })
  // One that works at a time: a key for everything is not left behind at each start.
  for (const { id, name, status } of await community.keys.list(demoNetwork.id))
    if (name === keyName && status === 'Active') await community.keys.revoke(demoNetwork.id, id)
  const { token } = await community.keys.create({ network: demoNetwork.id, name: keyName, scopes: ['*'], member_id: ownerId })
  return token
}
