import type { MemberRow, NetworkRow } from '../storage/tables.ts'

/** The mask of an address that the network's plan hides. */
export const maskedEmail = 'a***@***.***'

/**
 * A member's address as all others see it (specification, section 2, e-mail rules 2 and 3). It is empty without consent to
 * commercial e-mail, and masked unless the network shows addresses.
 */
export function visibleEmail(
  member: Pick<MemberRow, 'email' | 'commercial_email_consent'>,
  network: Pick<NetworkRow, 'member_email_visibility'>,
): string {
  if (!member.commercial_email_consent) return ''
  return network.member_email_visibility ? member.email : maskedEmail
}
