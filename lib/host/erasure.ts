/**
 * What identifies a person, outside of their row: invites, uploads, words that they added to a field, responses that are stored
 * for repeated requests, and lines of the audit. Each part goes some rows at a time, so that no caller waits for long, and a part
 * that is done already costs a look. An erasure that breaks off is finished by the next one.
 */
import { ApiError } from '../errors.ts'
import { mostErasedIds } from '../outbox/record.ts'
import type { AssetStore } from '../ports.ts'
import { removeWithDependents } from '../storage/cascade.ts'
import type { Where } from '../storage/contract.ts'
import { batchesOf } from '../storage/rows-of.ts'
import type { HostTx, ScopedTx } from '../storage/scoped.ts'
import type { Id, Row, Table } from '../storage/table.ts'
import { type AuditRow, apiKeys, audit, idempotencyKeys } from '../storage/tables/administration.ts'
import { type AssetRow, assets } from '../storage/tables/content.ts'
import { segments } from '../storage/tables/custom-fields.ts'
import { type MemberRow, memberHistory, members } from '../storage/tables/members.ts'
import { type InviteRow, invites } from '../storage/tables/plans.ts'
import type { Details } from './audit/details.ts'
import { actionsWithAddresses, filesOf, hasAddress, isNamedIn, type PersonKeys, personKeys } from './export/personal-tables.ts'

/** The transactions of an erasure. */
export interface Erasing {
  read<T>(work: (tx: ScopedTx) => Promise<T>): Promise<T>
  write(work: (tx: HostTx) => Promise<void>): Promise<void>
  readonly assets: AssetStore | undefined
}

/** Erases what identifies a deleted member, but for their row. */
export async function eraseTraces(erasing: Erasing, member: MemberRow): Promise<void> {
  await eraseInvites(erasing, { recipient_id: member.id })
  const person = await erasing.read((tx) => personKeys(tx, member))
  const { address, keys } = person
  if (address !== undefined) await eraseInvites(erasing, { email_key: address })
  await eraseUploads(erasing, member)
  await eraseWords(erasing, member.id)
  await eraseStoredResponses(erasing, person)
  for await (const rows of batchesIn(erasing, memberHistory, { member_id: member.id }))
    await erasing.write(async (tx) => {
      for (const { id } of rows) await tx.remove(memberHistory, id)
    })
  await eraseLines(
    erasing,
    { subject_type: 'key', subject_id: keys },
    () => true,
    (details) => details,
  )
  await eraseLines(erasing, { subject_type: 'member', subject_id: member.id }, ({ action }) => action !== 'member.erased')
  if (address !== undefined)
    await eraseLines(erasing, { action: actionsWithAddresses }, ({ details }) => hasAddress(details, person))
}

/**
 * Revokes the keys that act as the person, and takes their names: what the list shows of the token stays.
 * @returns the keys that worked until now
 */
export async function revokeKeys(tx: ScopedTx, member_id: Id, updated_at: string): Promise<readonly Id[]> {
  const revoked: Id[] = []
  for (const { id, redacted } of await tx.find(apiKeys, { where: { member_id } })) {
    const gone = await tx.update(apiKeys, id, { revoked_at: updated_at, updated_at }, { revoked_at: null })
    if (gone) revoked.push(id)
    await tx.update(apiKeys, id, { name: redacted, updated_at })
  }
  return revoked
}

/** The rows that match, in batches, each read by itself. */
const batchesIn = <R extends Row, N>({ read }: Erasing, table: Table<R, N>, where: Where<R>): AsyncGenerator<R[], void> =>
  batchesOf({ find: (each, query) => read((tx) => tx.find(each, query)) }, table, where, { size: mostErasedIds })

/** Removes invites to the person; the relay erases the mails that it was to send. */
async function eraseInvites(erasing: Erasing, where: Where<InviteRow>): Promise<void> {
  for await (const rows of batchesIn(erasing, invites, where))
    await erasing.write(async (tx) => {
      const ids: Id[] = []
      for (const { id } of rows) if (await tx.remove(invites, id)) ids.push(id)
      if (ids.length > 0) await tx.append([{ kind: 'erasure', network_id: tx.network_id, ids }])
    })
}

/** Removes the avatar and what was uploaded in the name of the member. What a host uploads is the network's: its pages show it. */
async function eraseUploads(erasing: Erasing, { id, role, avatar }: MemberRow): Promise<void> {
  if (role !== 'host') for await (const rows of batchesIn(erasing, assets, { creator_id: id })) await removeUploads(erasing, rows)
  if (avatar === null) return
  const isShared = await erasing.read(async (tx) => {
    const owners = await tx.find(members, { where: { avatar }, limit: 2 })
    return owners.some((owner) => owner.id !== id)
  })
  if (isShared) return
  for await (const rows of batchesIn(erasing, assets, { url: filesOf(avatar) })) await removeUploads(erasing, rows)
}

const storeFailed =
  'The store of uploads has failed. The account is deleted, and not everything is erased: erase the member again'

/** The file first: without its row it could not be found again. */
async function removeUploads({ write, assets: store }: Erasing, rows: readonly AssetRow[]): Promise<void> {
  for (const { file_id, extension, name, content_type } of rows) {
    try {
      if (file_id !== null && extension !== null) await store?.remove({ id: file_id, extension, name, content_type })
    } catch (error) {
      throw Object.assign(new ApiError(503, { error: storeFailed }), { cause: error })
    }
  }
  await write(async (tx) => {
    for (const { id } of rows) await tx.remove(assets, id)
  })
}

/** Removes options that the member added to a field by an answer, if no other member has chosen them. */
async function eraseWords(erasing: Erasing, creator_id: Id): Promise<void> {
  const where = { kind: 'option', creator_id, is_ad_hoc: true, member_count: 0 } as const
  for await (const rows of batchesIn(erasing, segments, where))
    await erasing.write(async (tx) => {
      for (const { id } of rows) {
        const now = await tx.lock(segments, id, 'update')
        if (now?.member_count === 0) await removeWithDependents(tx, segments, id)
      }
    })
}

const erasedResponse = {
  status: 422,
  body: JSON.stringify({
    error: 'Idempotency-Key was used for a request whose response is erased. Use a new key for a new request',
  }),
}

/** Replaces stored responses that name the member: a repeated request is refused, and does nothing twice. */
async function eraseStoredResponses(erasing: Erasing, person: PersonKeys): Promise<void> {
  for await (const rows of batchesIn(erasing, idempotencyKeys, {})) {
    const found = rows.filter(({ body }) => isNamedIn(body, person))
    if (found.length > 0)
      await erasing.write(async (tx) => {
        for (const row of found) await tx.update(idempotencyKeys, row.id, erasedResponse)
      })
  }
}

/** Of the details of a line what cannot be a name or an address: numbers, and which work it was. */
const plainDetails = (details: Details): Details =>
  Object.fromEntries(
    Object.entries(details).filter(
      ([name, value]) => typeof value === 'boolean' || typeof value === 'number' || name === 'work' || name === 'work_id',
    ),
  )

/**
 * Takes names and texts out of lines of the audit. That something was done, by whom and when, stays.
 * @param keep the details that stay
 */
async function eraseLines(
  erasing: Erasing,
  where: Where<AuditRow>,
  isMeant: (row: AuditRow) => boolean,
  keep = plainDetails,
): Promise<void> {
  for await (const rows of batchesIn(erasing, audit, where)) {
    const found = rows.filter(isMeant)
    if (found.length > 0)
      await erasing.write(async (tx) => {
        for (const { id, details } of found) await tx.redact(audit, id, { subject_name: null, details: keep(details) })
      })
  }
}
