import { type JsonSource, shownValue } from '../storage/json.ts'
import type { NetworkRow } from '../storage/tables/administration.ts'
import type { MemberRow } from '../storage/tables/members.ts'

/** The mask of an address that the network's plan hides. */
export const maskedEmail = 'a***@***.***'

const hidden = { from: 'text', text: '' } as const
const masked = { from: 'text', text: maskedEmail } as const
const shown = { from: 'column', column: 'email' } as const

/** The visible address of an active member, as data. */
export const emailSource = ({ member_email_visibility }: Pick<NetworkRow, 'member_email_visibility'>): JsonSource => ({
  from: 'choice',
  column: 'commercial_email_consent',
  yes: member_email_visibility ? shown : masked,
  no: hidden,
})

/**
 * A member's address as all others see it (specification, section 2, e-mail rules 2 and 3). It is empty without consent to
 * commercial e-mail, and masked unless the network shows addresses. Consent ends with the membership: the address of somebody
 * who has left is empty.
 */
export function visibleEmail(
  member: Pick<MemberRow, 'email' | 'commercial_email_consent' | 'state'>,
  network: Pick<NetworkRow, 'member_email_visibility'>,
): string {
  return member.state === 'active' ? String(shownValue(emailSource(network), member)) : ''
}
