import { counted } from '../../../lib/base/counted.ts'
import { withoutPassword } from '../../../lib/base/without-password.ts'
import { createCommunity } from '../../../lib/index.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { type NetworkRow, networks } from '../../../lib/storage/tables/administration.ts'
import type { Output } from '../../output.ts'
import { UsageError } from '../../usage.ts'
import { commandActor } from '../../user.ts'
import { bar, progressLine } from '../commands/progress-line.ts'
import { type CopyProgress, copyTables, endCopy } from './copy-tables.ts'
import { openStorage } from './open.ts'

export interface CopyFlags {
  readonly from: string
  readonly to: string
  readonly network?: string
  readonly json?: boolean
}

/**
 * `folkmoot copy`: everything of one storage into another, empty one, or one network into any. Resumes after an interruption.
 *
 * @param draw shows how far it is, over and over in one line; left out where no one looks
 * @throws UsageError, StorageError
 */
export async function copy(
  { from, to, network: name, json = false }: CopyFlags,
  out: Output,
  draw?: (line: string) => void,
): Promise<void> {
  for (const address of [from, to])
    if (address.startsWith('memory:')) throw new UsageError('memory: begins and ends empty: there is nothing to copy')
  if (from === to) throw new UsageError('--from and --to are the same storage')
  const source = await openStorage(from, undefined, out.warn, 'refuse', '--from')
  try {
    const network = name === undefined ? undefined : await standing(source.storage, from, name)
    const target = await openStorage(to, undefined, out.warn, 'create', '--to')
    try {
      const line = progressLine({ out, draw })
      const place = withoutPassword(from)
      // A network that has changed in between is another source.
      const sourceName = network ? `${place} network ${network.id}, read-only since ${network.updated_at}` : place
      const onProgress = (now: CopyProgress) => line.show(now.table, lineOf(now))
      const counts = await copyTables(source.storage, target.storage, sourceName, onProgress, network)
      await tellEndpoints(target.storage, network, sourceName)
      await endCopy(target.storage, network)
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

/** @throws UsageError if the network takes writes, which a copy of it would lack */
async function standing(storage: Storage, from: string, name: string): Promise<NetworkRow> {
  const network = await createCommunity({ storage }).networks.find(name)
  if (!network) throw new UsageError(`there is no network ${name} in --from`)
  if (network.read_only) return network
  const command = `folkmoot networks update ${name} --storage ${withoutPassword(from)} --read-only`
  throw new UsageError(`network ${name} takes writes, which a copy would lack: first run \`${command}\``)
}

/** The relay of the target reads endpoints from its outbox, which nothing of this came through. */
async function tellEndpoints(storage: Storage, network: NetworkRow | undefined, from: string): Promise<void> {
  const community = createCommunity({ storage })
  const all = network ? [network] : await storage.transaction((tx) => tx.find(networks, {}), { readOnly: true })
  const { endpoints, audit } = community.by({ actor: commandActor() })
  for (const { id } of all) await endpoints.republish(id)
  if (!network) return
  const subject = { type: 'network', id: network.id, name: network.title } as const
  await audit.record({ network: network.id, action: 'network.pulled', subject, details: { from } })
}

function report(counts: Readonly<Record<string, number>>, json: boolean, out: Output): void {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  out.line(
    json ? JSON.stringify({ rows: total, tables: counts }) : `${counted(total, 'row')} copied, and counted again in the target.`,
  )
  out.warn('Events that still wait in the outbox of the source stay there: let its relay deliver them before you end it.')
}
