/** The first step of a pull: the network itself, and whose token it is. */
import { isSubdomain } from '../../../../lib/host/networks.ts'
import type { Storage, Tx } from '../../../../lib/storage/contract.ts'
import { scoped } from '../../../../lib/storage/scoped.ts'
import type { Id } from '../../../../lib/storage/table.ts'
import { type NetworkRow, networks } from '../../../../lib/storage/tables/administration.ts'
import { UsageError } from '../../../usage.ts'
import { type ApiRecord, isApiRecord, textOf } from '../api-record.ts'
import { fewRetries, memberOfToken } from '../first-requests.ts'
import type { Paced } from '../paced-client.ts'
import { type Ids, idsFrom } from './ids.ts'
import { noteOf, notesAbout, putNote } from './notes.ts'
import { columnValue } from './values.ts'

export interface Begun {
  readonly network: Pick<NetworkRow, 'id' | 'subdomain' | 'title'>
  readonly ids: Ids
  /** The token's member, if the server shows it. */
  readonly me: ApiRecord | undefined
}

/** The plan of a new network, by the limit that the responses of its source show. */
function planOf(headers: Headers): NetworkRow['service_plan'] {
  const limit = headers.get('ratelimit-limit') ?? headers.get('x-ratelimit-limit')
  if (limit === null) return 'unlimited'
  return limit === '300' ? 'premium' : 'standard'
}

/**
 * Requests the network, and writes its row.
 * @throws UsageError if the target holds this network from elsewhere, or another one of the same name
 */
export async function begin(source: Paced, storage: Storage, from: string): Promise<Begun> {
  const response = await source.run(() => source.client.network.show(fewRetries).withResponse())
  const record: unknown = response.data
  if (!isApiRecord(record) || textOf(record['id']) === '')
    throw new UsageError(`${from} shows no network: is --from the address of its API?`)
  const ids = idsFrom(await idPairs(storage, idsFrom(new Map()).here(record['id'])))
  const id = ids.here(record['id'])
  const service_plan = planOf(response.headers)
  const me = await memberOfToken(source)
  const columns: Record<string, unknown> = {}
  for (const [name, column] of Object.entries(networks.columns))
    if (name !== 'id' && name !== 'network_id' && record[name] !== undefined)
      columns[name] = columnValue(column, record[name], ids)
  const network = await storage.transaction((tx) => writeNetwork(tx, id, columns, service_plan, from))
  return { network, ids, me }
}

async function idPairs(storage: Storage, network_id: Id): Promise<ReadonlyMap<Id, string>> {
  const notes = await storage.transaction((tx) => notesAbout(tx, 'id', network_id), { readOnly: true })
  return new Map(
    notes.map(({ body }) => {
      const space = body.indexOf(' ')
      return [body.slice(0, space), body.slice(space + 1)]
    }),
  )
}

async function writeNetwork(
  tx: Tx,
  id: Id,
  columns: Record<string, unknown>,
  service_plan: NetworkRow['service_plan'],
  from: string,
): Promise<NetworkRow> {
  const here = scoped(tx, id)
  const mark = await noteOf(tx, 'source', id)
  const known = await here.get(networks, id)
  const name = textOf(columns['subdomain'])
  if (!isSubdomain(name))
    throw new UsageError(`the subdomain of the network, ${JSON.stringify(name)}, cannot be one: look at the address in --from`)
  if (known && mark?.about !== from)
    throw new UsageError(
      mark
        ? `the target holds network ${id} (${known.subdomain}) from ${mark.about}: give that one as --from, or another target`
        : `the target holds network ${id} (${known.subdomain}), which was not pulled: give another target`,
    )
  const namesakes = await tx.find(networks, { where: { subdomain: name } })
  if (namesakes.some((other) => other.id !== id))
    throw new UsageError(`the target holds another network ${name}: give another target`)
  if (!mark) await putNote(tx, 'source', { key: id, about: from, body: '' })
  if (known) return (await here.touch(networks, id, columns)) ?? known
  const at = new Date().toISOString()
  const titles = { subdomain: name, title: textOf(columns['title']) }
  return here.insert(networks, { created_at: at, updated_at: at, ...columns, ...titles, service_plan, id })
}
