/** The last step of a pull: values that follow from all records together. */
import type { Tx } from '../../../../lib/storage/contract.ts'
import { rowsOf } from '../../../../lib/storage/rows-of.ts'
import { type ScopedTx, scoped } from '../../../../lib/storage/scoped.ts'
import { networks } from '../../../../lib/storage/tables/administration.ts'
import { customFields, memberSegments, segments } from '../../../../lib/storage/tables/custom-fields.ts'
import { collections, members, spaces } from '../../../../lib/storage/tables/members.ts'
import { type ApiRecord, textOf } from '../api-record.ts'
import { derivedId } from './ids.ts'
import type { Pulling } from './pulling.ts'
import type { Facts } from './stage.ts'

export async function finish(tx: Tx, { network_id, ids, state }: Pulling, me: ApiRecord | undefined): Promise<void> {
  const here = scoped(tx, network_id)
  await showAddresses(here, state.facts)
  await ownFields(here)
  await countHolders(here)
  await placeSpaces(here)
  await findPrimary(here)
  const role = (['host', 'moderator', 'contributor'] as const).find((name) => name === me?.['role'])
  if (me && role) await here.update(members, ids.here(me['id'] ?? ''), { role })
}

/** Whether the network shows addresses, as far as any was shown. */
async function showAddresses(tx: ScopedTx, { addressShown, addressMasked }: Facts): Promise<void> {
  if (addressShown || addressMasked) await tx.update(networks, tx.network_id, { member_email_visibility: !addressMasked })
}

/** Every network has a field that its tags belong to, and one of its badges. */
async function ownFields(tx: ScopedTx): Promise<void> {
  for (const [response_type, title] of [
    ['tag', 'Tags'],
    ['badge', 'Badges'],
  ] as const) {
    if (await tx.first(customFields, { response_type })) continue
    const segment = await tx.first(segments, { kind: response_type })
    const network = await tx.get(networks, tx.network_id)
    const at = network?.created_at ?? new Date(0).toISOString()
    const id = segment?.custom_field_id ?? derivedId('custom_fields', tx.network_id, response_type)
    await tx.insert(customFields, { id, created_at: at, updated_at: at, title, response_type, response_by: 'hosts_only' })
  }
}

/** Counts the holders of tags and badges whose count no list has shown. */
async function countHolders(tx: ScopedTx): Promise<void> {
  for (const { id } of await tx.find(segments, { where: { member_count: -1 } }))
    await tx.update(segments, id, { member_count: await tx.count(memberSegments, { where: { segment_id: id } }) })
}

/** The API shows the collection of a space, and not its position in it: new ones come last. */
async function placeSpaces(tx: ScopedTx): Promise<void> {
  for await (const { id: collection_id } of rowsOf(tx, collections, {})) {
    const held = await tx.find(spaces, { where: { collection_id } })
    held.sort((a, b) => (a.position ?? Number.MAX_SAFE_INTEGER) - (b.position ?? Number.MAX_SAFE_INTEGER))
    for (const [index, { id, position }] of held.entries())
      if (position !== index + 1) await tx.update(spaces, id, { position: index + 1 })
  }
  for (const { id, position } of await tx.find(spaces, { where: { collection_id: null } }))
    if (position !== null) await tx.update(spaces, id, { position: null })
}

/** The categories of members are options of the primary field. */
async function findPrimary(tx: ScopedTx): Promise<void> {
  for await (const { categories } of rowsOf(tx, members, { state: 'active' })) {
    const option = await tx.get(segments, textOf(categories[0]?.id))
    if (!option) continue
    for (const { id } of await tx.find(customFields, { where: { primary: true } }))
      if (id !== option.custom_field_id) await tx.update(customFields, id, { primary: false })
    await tx.update(customFields, option.custom_field_id, { primary: true })
    return
  }
}
