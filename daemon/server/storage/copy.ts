import { counted } from '../../../lib/base/counted.ts'
import { withoutPassword } from '../../../lib/base/without-password.ts'
import { createCommunity } from '../../../lib/index.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { networks } from '../../../lib/storage/tables/administration.ts'
import type { Output } from '../../output.ts'
import { UsageError } from '../../usage.ts'
import { commandActor } from '../../user.ts'
import { bar, progressLine } from '../commands/progress-line.ts'
import { type CopyProgress, copyTables, endCopy } from './copy-tables.ts'
import { openStorage } from './open.ts'

export interface CopyFlags {
  readonly from: string
  readonly to: string
  readonly json?: boolean
}

/**
 * `folkmoot copy`: everything of one storage into another, empty one. Resumes after an interruption.
 *
 * @param draw shows how far it is, over and over in one line; left out where no one looks
 * @throws UsageError, StorageError
 */
export async function copy({ from, to, json = false }: CopyFlags, out: Output, draw?: (line: string) => void): Promise<void> {
  for (const address of [from, to])
    if (address.startsWith('memory:')) throw new UsageError('memory: begins and ends empty: there is nothing to copy')
  if (from === to) throw new UsageError('--from and --to are the same storage')
  const source = await openStorage(from, undefined, out.warn, 'refuse', '--from')
  try {
    const target = await openStorage(to, undefined, out.warn, 'create', '--to')
    try {
      const line = progressLine({ out, draw })
      const counts = await copyTables(source.storage, target.storage, withoutPassword(from), (now) =>
        line.show(now.table, lineOf(now)),
      )
      await tellEndpoints(target.storage)
      await endCopy(target.storage)
      line.clear()
      report(counts, json, out)
    } finally {
      await target.storage.close()
    }
  } finally {
    await source.storage.close()
  }
}

function lineOf({ table, copied, total }: CopyProgress): string {
  const part = total === 0 ? 1 : Math.min(1, copied / total)
  return `${bar(part)} ${Math.floor(part * 100)} %, ${copied} of ${total} rows, ${table}`
}

/** The relay of the target reads endpoints from its outbox, which nothing of this came through. */
async function tellEndpoints(storage: Storage): Promise<void> {
  const community = createCommunity({ storage })
  const all = await storage.transaction((tx) => tx.find(networks, {}), { readOnly: true })
  const { endpoints } = community.by({ actor: commandActor() })
  for (const { id } of all) await endpoints.republish(id)
}

function report(counts: Readonly<Record<string, number>>, json: boolean, out: Output): void {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  out.line(
    json ? JSON.stringify({ rows: total, tables: counts }) : `${counted(total, 'row')} copied, and counted again in the target.`,
  )
  out.warn('Events that still wait in the outbox of the source stay there: let its relay deliver them before you end it.')
}
