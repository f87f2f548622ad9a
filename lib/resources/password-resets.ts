import { notFound } from '../errors.ts'
import { operation } from '../operation.ts'
import { presentMember } from '../records/member.ts'
import { activeMember } from '../rules/members.ts'

export const requestPasswordReset = operation({
  id: 'password_resets.create',
  method: 'POST',
  path: '/members/:member_id/password_resets',
  scope: 'password_resets:write',
  summary: 'Have the host mail a password reset to a member.',
  description:
    "It sends `PasswordResetEmailRequestedHook` to the host's own endpoint, with the full address. The API knows no passwords, so nothing else happens.",
  errors: [notFound('Member')],
  emits: ['PasswordResetEmailRequested'],
  async handle(call) {
    const member = await activeMember(call, call.params.member_id)
    // The host's mailer needs the full address, even if the network hides it.
    call.emit('PasswordResetEmailRequested', {
      member: presentMember(call, member),
      email: member.email,
      network_id: call.network.id,
    })
  },
})
