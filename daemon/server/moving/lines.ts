/** The audit of a storage that a command has opened to move a network. */
import { systemChance } from '../../../lib/base/chance.ts'
import type { WorkParts } from '../../../lib/host/audit/audited-work.ts'
import { createCommunity } from '../../../lib/index.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { commandActor } from '../../user.ts'

/** The way of lines into the audit, in the name of the user of the command. */
export function linesIn(storage: Storage): Pick<WorkParts<unknown>, 'record' | 'chance'> {
  const { audit } = createCommunity({ storage }).by({ actor: commandActor() })
  return { record: (entry) => audit.record(entry), chance: systemChance }
}
