/** Changes of members for which the API has no operation. */

import type { Emitter } from '../../call.ts'
import { fail, found, invalid } from '../../errors.ts'
import { catalogue } from '../../events/catalogue.ts'
import { BoolInput, IdInput, integerBetween, listUpTo, oneOf, optional, request, TimestampInput, Title } from '../../fields.ts'
import { Member, type MemberRecord, presentMember } from '../../records/member.ts'
import { emitMemberUpdated } from '../../rules/change-member.ts'
import { activeMember, lockMember } from '../../rules/members.ts'
import { differs } from '../../storage/changes.ts'
import type { Patch } from '../../storage/contract.ts'
import { orConflict } from '../../storage/lock.ts'
import type { Id } from '../../storage/table.ts'
import { type MemberRow, members } from '../../storage/tables/members.ts'
import { profile } from '../members/profile-fields.ts'
import type { MakeNotification } from './define.ts'

const levels = { 1: 'Bronze', 2: 'Silver', 3: 'Gold' } as const
const counted = integerBetween(0, Number.MAX_SAFE_INTEGER)

export const memberNotifications = (notification: MakeNotification) => ({
  /**
   * A member has consented to commercial e-mail, or taken it back (interface.md, 7.2): `MemberUpdated`, if
   * that is different now. With consent others see the address as the network shows addresses, without it they see `""`.
   * @throws ApiError 404, 422
   */
  emailConsent: notification({ member_id: IdInput, consent: BoolInput }, Member, (call, { member_id, consent }) =>
    changeProfile(call, member_id, { commercial_email_consent: consent }),
  ),

  /**
   * A member has changed their profile, or their consent to commercial e-mail (interface.md, 7.2). Sends
   * `MemberUpdated` if anything is different.
   * @throws ApiError 404, 422
   */
  memberProfile: notification({ member_id: IdInput, ...profile }, Member, (call, { member_id, ...given }) =>
    changeProfile(call, member_id, given),
  ),

  /**
   * A member has visited the network. Nothing is said of it.
   * @throws ApiError 404
   */
  memberVisited: notification({ member_id: IdInput, visited_at: optional(TimestampInput) }, Member, async (call, given) => {
    const { id } = await activeMember(call, given.member_id)
    const visited = await call.tx.update(members, id, { last_visited_at: given.visited_at ?? call.now }, { state: 'active' })
    return presentMember(call, found(visited, 'Member'))
  }),

  /**
   * A member has reached an ambassador level, 1 Bronze, 2 Silver or 3 Gold: `MemberAmbassadorLeveledUp`.
   * @throws ApiError 404, 422 when they have reached it before
   */
  ambassadorLevel: notification(
    { member_id: IdInput, level: integerBetween(1, 3), referral_count: optional(counted) },
    catalogue.MemberAmbassadorLeveledUp,
    async (call, { member_id, level, referral_count }) => {
      const before = await activeMember(call, member_id)
      const names: readonly (string | null)[] = [null, ...Object.values(levels)]
      const name = names[level] ?? ''
      if (names.indexOf(before.ambassador_level) >= level)
        fail(invalid('level'), `The member has reached the level ${name} before`)
      const changes = { ambassador_level: name, referral_count, ...call.touch() }
      const guard = { ambassador_level: before.ambassador_level, state: 'active' } as const
      const member = orConflict(await call.tx.update(members, before.id, changes, guard), `members ${before.id}`)
      const record = {
        member: presentMember(call, member),
        network_id: call.network.id,
        ambassador_level_id: String(level),
        ambassador_level_name: name,
        referral_count: member.referral_count,
      }
      call.emit('MemberAmbassadorLeveledUp', record)
      return record
    },
  ),

  /**
   * A leaderboard of gifts was worked out again: `GiftLeaderboardUpdated`. Ranks are made here, from 1, and equal counts share one.
   * @throws ApiError 404 for a member
   */
  giftLeaderboard: notification(
    {
      type: oneOf('received', 'sent'),
      gift_definition: optional(request('GiftDefinition', { id: IdInput, name: Title })),
      recalculated_at: optional(TimestampInput),
      entries: listUpTo(request('GiftCount', { member_id: IdInput, count: counted }), 1000, 'entries'),
    },
    catalogue.GiftLeaderboardUpdated,
    async (call, { type, gift_definition, recalculated_at = call.now, entries }) => {
      const ranked = entries.toSorted((a, b) => b.count - a.count)
      const all_time = []
      for (const { member_id, count } of ranked) {
        const member = presentMember(call, await activeMember(call, member_id))
        all_time.push({ rank: ranked.findIndex((entry) => entry.count === count) + 1, member, count })
      }
      const board = {
        network_id: call.network.id,
        recalculated_at,
        type,
        gift_definition: gift_definition ?? null,
        entries: { all_time },
      }
      call.emit('GiftLeaderboardUpdated', board)
      return board
    },
  ),
})

async function changeProfile(call: Emitter<'MemberUpdated'>, member_id: Id, given: Patch<MemberRow>): Promise<MemberRecord> {
  const before = await lockMember(call, member_id)
  if (!differs(before, given)) return presentMember(call, before)
  const after = found(await call.tx.touch(members, before.id, { ...given, ...call.touch() }), 'Member')
  return emitMemberUpdated(call, before, after)
}
