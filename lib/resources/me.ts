import { found, notFound } from '../errors.ts'
import { describe, Id, oneOf, record, Text, Timestamp } from '../fields.ts'
import { operation } from '../operation.ts'
import { FullName, fullName, presentUser, User } from '../records/member.ts'
import { Network } from '../records/network.ts'
import { visibleEmail } from '../records/visible-email.ts'
import { members } from '../storage/tables/members.ts'

/** The flat form and the nested one in one record: clients read either. */
const Me = record('MeResponse', {
  id: describe(Id, 'The member whom the token acts as.'),
  name: FullName,
  email: describe(Text, 'The address, empty or masked by the same rules as for everybody else.'),
  network_id: describe(Id, 'The network that the token belongs to.'),
  role: describe(
    oneOf('host', 'moderator', 'contributor'),
    'What the member may do in the network. What the token may do is up to its scopes.',
  ),
  created_at: describe(Timestamp, "When the member's record was created, in UTC."),
  user: describe(User, 'The same member in the form that other records have for a creator.'),
  network: describe(Network, 'The network as a record.'),
})

export const showMe = operation({
  id: 'me.show',
  method: 'GET',
  path: '/me',
  scope: 'me:read',
  summary: 'Show who the token belongs to.',
  description: 'Use it to check a token. It responds for a member who has left, too, as long as their key works.',
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
