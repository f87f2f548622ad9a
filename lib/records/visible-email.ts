import type { MemberRow, NetworkRow } from '../storage/tables.ts'

/** What stands in the place of an address that the network's plan does not show. */
export const maskedEmail = 'a***@***.***'

/**
 * A member's address as everybody but the caller who created them sees it (specification, section 2, e-mail rules 2 and 3):
 * empty without consent to commercial e-mail, masked unless the network's plan shows addresses.
 */
export function visibleEmail(
  member: Pick<MemberRow, 'email' | 'commercial_email_consent'>,
  network: Pick<NetworkRow, 'member_email_visibility'>,
): string {
  if (!member.commercial_email_consent) return ''
  return network.member_email_visibility ? member.email : maskedEmail
}
