import { found, notFound } from '../errors.ts'
import { Id, oneOf, record, Text, Timestamp } from '../fields.ts'
import { operation } from '../operation.ts'
import { fullName, presentUser, User } from '../records/member.ts'
import { Network } from '../records/network.ts'
import { visibleEmail } from '../records/visible-email.ts'
import { members } from '../storage/tables/members.ts'

/** The flat form and the nested one in one record: clients read either. */
const Me = record('MeResponse', {
  id: Id,
  name: Text,
  email: Text,
  network_id: Id,
  role: oneOf('host', 'moderator', 'contributor'),
  created_at: Timestamp,
  user: User,
  network: Network,
})

export const showMe = operation({
  id: 'me.show',
  method: 'GET',
  path: '/me',
  scope: 'me:read',
  summary: 'Show who the token belongs to.',
  returns: Me,
  errors: [notFound('Member')],
  async handle({ tx, principal, network }) {
    const member = found(await tx.get(members, principal.member_id), 'Member')
    return {
      ...member,
      name: fullName(member),
      email: visibleEmail(member, network),
      network_id: network.id,
      user: presentUser({ network }, member),
      network,
    }
  },
})
