import { isoTime } from '../../base/clock.ts'
import { fail, found, invalid } from '../../errors.ts'
import { IdInput } from '../../fields.ts'
import { Empty } from '../../records/empty.ts'
import { fullName } from '../../records/member.ts'
import { deleteAccount } from '../../rules/leaving.ts'
import { isBanned } from '../../rules/members.ts'
import type { Settings } from '../../settings.ts'
import type { ScopedTx } from '../../storage/scoped.ts'
import { erasedColumns, type Id } from '../../storage/table.ts'
import { type MemberRow, members } from '../../storage/tables/members.ts'
import { checkArgument, idOf } from '../arguments.ts'
import type { Changes } from '../audit/changes.ts'
import { type Erasing, eraseTraces, revokeKeys } from '../erasure.ts'
import { type PersonExports, personExports } from '../export/person.ts'
import type { Networks } from '../networks.ts'
import type { MakeNotification } from '../notifications/define.ts'
import { type MemberActs, memberActs } from './acts.ts'
import type { Bulk } from './bulk.ts'
import type { ImportMembers } from './import.ts'
import { listings, type MemberListing } from './listing.ts'
import { type MemberProfile, profileOf } from './profile.ts'
import { type MemberPage, type MemberQuery, MemberQueryInput, searchMembers } from './search.ts'

/** The calls about members for which the interface has no operation. A network is named by its id or its subdomain. */
export interface Members extends MemberActs, PersonExports {
  /**
   * A page of the members of a network, former ones included, the newest first. With `q` a page looks at 2,000 members at most. The
   * member whose whole address or id is `q` is found by an index, and comes first unless the list is sorted.
   * @throws ApiError 404 when there is no such network, 422 when a value is refused
   */
  list(network: Id | number, query?: MemberQuery): Promise<MemberPage>
  /**
   * One member or former member, with everything that the network keeps about them.
   * @throws ApiError 404 when there is no such member
   */
  get(network: Id | number, id: Id | number): Promise<MemberProfile>
  /**
   * Imports members, a hundred rows a transaction, through the operations, hooks and events of any other member. What was committed
   * stays: repeat it after a fault, and an address that is there is left alone.
   * @param rows one object a person, such as lines of a CSV file: `email`, `first_name`, `last_name` or `name`, further fields of
   * members, `tags`, and custom fields by their titles. Only `email` and a first name are required
   * @throws ApiError 404 when there is no such network, 422 when an option is refused, 503 when the storage is in trouble
   */
  readonly import: ImportMembers
  /**
   * Does one act for many members, fifty in a transaction: tag, untag, badge, unbadge, add to a space or plan, remove, ban. By the
   * operations, with their hooks and events. A member who is refused stops no other.
   * @param selection a filter, or a list of ids or addresses
   * @throws ApiError 404 when there is no such network, 422 when an argument is refused, 503 when the storage is in trouble
   */
  readonly bulk: Bulk
  /**
   * Lifts a ban. The member is then `removed`: they may join again, and are the same member. A deleted account stays deleted, and
   * its address is free.
   * @throws ApiError 404 when there is no such member, 422 when they are not banned
   */
  unban(network: Id | number, id: Id | number): Promise<MemberListing>
  /**
   * Erases a person for good. A member who is there, removed or banned is deleted first, with the same events. What they wrote and
   * bought stays, without a name. Keys that act as them are revoked. A second time it erases what has come back, such as by a
   * restored backup of the relay.
   * @throws ApiError 404 when there is no such member, 422 when it is the last host, 503 when the storage or the store of uploads
   * fails: repeat it then
   */
  erase(network: Id | number, id: Id | number): Promise<MemberListing>
}

/** @param notification makes the call that deletes an account with its events */
export function membersOf(
  settings: Settings,
  changes: Changes,
  networks: Networks,
  notification: MakeNotification,
  { import: importMembers, bulk }: { readonly import: ImportMembers; readonly bulk: Bulk },
): Members {
  const { clock, limits, ports } = settings
  const now = () => isoTime(clock.now())
  const leave = notification({ member_id: IdInput }, Empty, async (call, { member_id }) => {
    // Another erasure may have been faster.
    if ((await call.tx.get(members, member_id))?.state !== 'deleted') await deleteAccount(call, member_id)
    return {}
  })

  const one = async (tx: ScopedTx, row: MemberRow): Promise<MemberListing> => found((await listings(tx, [row]))[0], 'Member')

  return {
    ...memberActs(settings, changes, networks, one),
    ...personExports(settings, changes, networks),
    import: importMembers,
    bulk,
    async list(name, given = {}) {
      const query = checkArgument('members.list', MemberQueryInput, given, limits)
      const network = await networks.show(name)
      return changes.read(network.id, (tx) => searchMembers(tx, network, query))
    },
    async get(name, given) {
      const id = idOf(given)
      return changes.read((await networks.show(name)).id, async (tx) => {
        const row = found(await tx.get(members, id), 'Member')
        return profileOf(tx, row, await one(tx, row))
      })
    },
    async unban(name, given) {
      const id = idOf(given)
      const { id: network } = await networks.show(name)
      const updated_at = now()
      return changes.change(network, updated_at, async (tx) => {
        const row = found(await tx.lock(members, id, 'update'), 'Member')
        if (!isBanned(row)) fail(invalid('id'), 'The member is not banned')
        const freed = row.state === 'banned' ? ({ state: 'removed' } as const) : { email_key: null }
        const after = found(await tx.update(members, id, { ...freed, ban_reason: null, updated_at }), 'Member')
        const subject = { type: 'member', id, name: fullName(row) || null } as const
        const details = { ban_reason: row.ban_reason, banned_at: row.left_at }
        return { result: await one(tx, after), audit: [{ action: 'member.unbanned', subject, details }] }
      })
    },
    async erase(name, given) {
      const id = idOf(given)
      const { id: network } = await networks.show(name)
      const known = async (tx: ScopedTx) => found(await tx.get(members, id), 'Member')
      const { state } = await changes.read(network, known)
      if (state !== 'deleted') await leave({ network, member_id: id })
      const erasing: Erasing = {
        read: (work) => changes.read(network, work),
        async write(work) {
          await changes.change(network, now(), async (tx) => {
            await work(tx)
            return { result: undefined, audit: [] }
          })
        },
        assets: ports.assets,
      }
      await eraseTraces(erasing, await changes.read(network, known))
      const erased_at = now()
      return changes.change(network, erased_at, async (tx) => {
        const row = found(await tx.lock(members, id, 'update'), 'Member')
        await tx.append([{ kind: 'erasure', network_id: network, ids: [id] }])
        const keys = (await revokeKeys(tx, id, erased_at)).map(
          (key) => ({ action: 'key.revoked', subject: { type: 'key', id: key, name: null } }) as const,
        )
        if (row.erased_at !== null) return { result: await one(tx, row), audit: keys }
        const after = found(await tx.update(members, id, { ...erasedProfile, erased_at, updated_at: erased_at }), 'Member')
        const subject = { type: 'member', id, name: null } as const
        return { result: await one(tx, after), audit: [...keys, { action: 'member.erased', subject, details: { state } }] }
      })
    },
  }
}

/** Of a banned member the hash of the address stays as the key. */
const erasedProfile = erasedColumns(members)
