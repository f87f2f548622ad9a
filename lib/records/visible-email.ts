import type { NetworkRow } from '../storage/tables/administration.ts'
import type { MemberRow } from '../storage/tables/members.ts'

/** The mask of an address that the network's plan hides. */
export const maskedEmail = 'a***@***.***'

/**
 * A member's address as all others see it (interface.md, 7.2 and 7.3). It is empty without consent to
 * commercial e-mail, and masked unless the network shows addresses. Consent ends with the membership: the address of a person
 * who has left is empty.
 */
export function visibleEmail(
  member: Pick<MemberRow, 'email' | 'commercial_email_consent' | 'state'>,
  network: Pick<NetworkRow, 'member_email_visibility'>,
): string {
  if (member.state !== 'active' || member.commercial_email_consent !== true) return ''
  return network.member_email_visibility ? member.email : maskedEmail
}
