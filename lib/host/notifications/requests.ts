/** Requests of people outside of a network or plan: to join, to be invited, to buy. The host decides; here it is only said. */
import type * as v from 'valibot'
import type { Context } from '../../context.ts'
import { fail, found, invalid } from '../../errors.ts'
import type { PayloadOf } from '../../events/catalogue.ts'
import { catalogue } from '../../events/catalogue.ts'
import { Email, IdInput, optional, ShortText } from '../../fields.ts'
import { presentMember } from '../../records/member.ts'
import { activeMember, memberByAddress } from '../../rules/members.ts'
import { openPlan } from '../../rules/plans.ts'
import { spaces } from '../../storage/tables/members.ts'
import type { MakeNotification } from './define.ts'

/** The person who makes the request: a member, by id, or anyone else, by address and name. */
const requester = {
  member_id: optional(IdInput),
  email: optional(Email),
  first_name: optional(ShortText),
  last_name: optional(ShortText),
}
const withLocation = {
  ...requester,
  location: optional(ShortText),
  avatar: optional(ShortText),
  referred_by_user_id: optional(IdInput),
}

export const requestNotifications = (notification: MakeNotification) => ({
  /**
   * A person requests to join a space, or the network when no space is named: `MemberJoinRequested`.
   * @throws ApiError 404 for the space or the member, 422 when neither `member_id` nor `email` is given
   */
  joinRequest: notification(
    { ...requester, space_id: optional(IdInput) },
    catalogue.MemberJoinRequested,
    async (call, { space_id, ...given }) => {
      const space = space_id === undefined ? null : found(await call.tx.get(spaces, space_id), 'Space')
      const { member_email, member_first_name, member_last_name } = await person(call, given)
      const request = {
        id: call.newId(),
        created_at: call.now,
        email: member_email,
        first_name: member_first_name,
        last_name: member_last_name,
        space,
      }
      call.emit('MemberJoinRequested', request)
      return request
    },
  ),

  /**
   * A person requests an invitation to a space, or to the network when no space is named: `InviteRequested`.
   * @throws ApiError 404 for the space or a member, 422 when neither `member_id` nor `email` is given
   */
  inviteRequest: notification(
    { ...withLocation, space_id: optional(IdInput) },
    catalogue.InviteRequested,
    async (call, { space_id, ...given }) => {
      if (space_id !== undefined) found(await call.tx.get(spaces, space_id), 'Space')
      const request = await pending(call, given, { space_id: space_id ?? null, plan_id: null })
      call.emit('InviteRequested', request)
      return request
    },
  ),

  /**
   * A person requests to buy a plan: `MemberPurchaseRequested`.
   * @throws ApiError 404 for the plan or a member, 422 when it is archived, or neither `member_id` nor `email` is given
   */
  purchaseRequested: notification(
    { ...withLocation, plan_id: IdInput },
    catalogue.MemberPurchaseRequested,
    async (call, { plan_id, ...given }) => {
      const plan = await openPlan(call, plan_id)
      const request = await pending(call, given, { space_id: null, plan_id: plan.id })
      call.emit('MemberPurchaseRequested', request)
      return request
    },
  ),
})

type Requester = v.InferOutput<v.ObjectSchema<typeof requester, undefined>>
type RequesterWithLocation = v.InferOutput<v.ObjectSchema<typeof withLocation, undefined>>

async function pending(
  call: Context,
  { referred_by_user_id, location, avatar, ...given }: RequesterWithLocation,
  target: Pick<PayloadOf<'InviteRequested'>, 'space_id' | 'plan_id'>,
): Promise<PayloadOf<'InviteRequested'>> {
  const { member_location, member_avatar, ...who } = await person(call, given)
  const referrer = referred_by_user_id === undefined ? null : await activeMember(call, referred_by_user_id)
  return {
    ...call.stamp(),
    network_id: call.network.id,
    ...target,
    ...who,
    member_location: member_location ?? location ?? null,
    member_avatar: member_avatar ?? avatar ?? null,
    status: 'pending',
    referred_by_user_id: referrer?.id ?? null,
  }
}

/** A member as their record shows them, by id or by address; anyone else as they gave themselves. */
async function person(call: Context, { member_id, email, first_name = '', last_name = '' }: Requester) {
  if (member_id === undefined && email === undefined) fail(invalid('email'), 'email is required unless member_id is given')
  const known = member_id === undefined ? await memberByAddress(call.tx, email ?? '') : await activeMember(call, member_id)
  if (known?.state !== 'active')
    return { member_id: null, member_email: email ?? '', member_first_name: first_name, member_last_name: last_name }
  const member = presentMember(call, known)
  return {
    member_id: member.id,
    member_email: member.email,
    member_first_name: member.first_name ?? '',
    member_last_name: member.last_name ?? '',
    member_location: member.location,
    member_avatar: member.avatar,
  }
}
