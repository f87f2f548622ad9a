import type * as v from 'valibot'
import { describe, Id, orNull, record, Text, Timestamp } from '../fields.ts'
import type { InviteRow } from '../storage/tables.ts'

export const Invite = record('InviteResponse', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  recipient_email: Text,
  recipient_first_name: Text,
  recipient_last_name: Text,
  sender_id: Id,
  user_id: orNull(describe(Id, 'Deprecated: the old name of sender_id.')),
})
export type InviteRecord = v.InferOutput<typeof Invite>

/** An invite's record. The address is the host's own, as supplied: whoever it belongs to need not be a member. */
export const presentInvite = (row: InviteRow): InviteRecord => ({ ...row, user_id: row.sender_id })
