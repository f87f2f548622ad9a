import type * as v from 'valibot'
import type { Context } from '../context.ts'
import { describe, Id, orNull, record, Text, Timestamp } from '../fields.ts'
import { rowsNamed } from '../storage/rows-of.ts'
import { type MemberRow, members } from '../storage/tables/members.ts'
import type { InviteRow } from '../storage/tables/plans.ts'
import { stamps } from './stamps.ts'
import { visibleEmail } from './visible-email.ts'

export const Invite = record('InviteResponse', {
  ...stamps,
  recipient_email: describe(
    Text,
    'The invited address as it was supplied. If a member was named, it is empty, masked or full as in their own record.',
  ),
  recipient_first_name: describe(Text, 'The first name of the recipient; empty if it was not given.'),
  recipient_last_name: describe(Text, 'The last name of the recipient; empty if it was not given.'),
  sender_id: describe(Id, 'The member who invites. When the recipient joins, it counts as their referral.'),
  user_id: describe(orNull(Id), 'Deprecated: the old name of `sender_id`.'),
  accepted_at: describe(
    orNull(Timestamp),
    'When the recipient joined the network or got the plan, by this invite or without it; null while it is open.',
  ),
})
export type InviteRecord = v.InferOutput<typeof Invite>

/**
 * An invite's record. An address that was supplied is shown as supplied. That of a member whom the invite names is shown as
 * their own record shows it.
 * @param recipient the member whom `recipient_id` names
 */
function recordOf({ network }: Pick<Context, 'network'>, row: InviteRow, recipient: MemberRow | undefined): InviteRecord {
  const taken = recipient ? visibleEmail(recipient, network) : ''
  const recipient_email = row.recipient_id === null ? row.recipient_email : taken
  return {
    ...row,
    recipient_email,
    user_id: row.sender_id,
  }
}

/** The records of some invites, with the members whose addresses they took looked up together. */
export async function presentInvites(
  context: Pick<Context, 'tx' | 'network'>,
  rows: readonly InviteRow[],
): Promise<InviteRecord[]> {
  const recipients = await rowsNamed(context.tx, members, 'recipient_id', rows)
  return rows.map((row) => recordOf(context, row, recipients.get(row.recipient_id ?? '')))
}

export async function presentInvite(context: Pick<Context, 'tx' | 'network'>, row: InviteRow): Promise<InviteRecord> {
  const { recipient_id } = row
  return recordOf(context, row, recipient_id === null ? undefined : await context.tx.get(members, recipient_id))
}
