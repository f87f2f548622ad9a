/**
 * What becomes of an open invite when its recipient joins, takes another address or leaves.
 *
 * A request that makes an invite locks the network with `update`; one that joins or takes another address locks it with `share`.
 * So no one is invited while they join.
 */
import type { Context } from '../context.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import { networks } from '../storage/tables/administration.ts'
import type { MemberRow } from '../storage/tables/members.ts'
import { type InviteRow, invites } from '../storage/tables/plans.ts'
import { emailKey } from './members.ts'

/** The unique key of an open invite: an address, and the plan if it is invited to one. */
export function openKey({ recipient_email, plan_id }: Pick<InviteRow, 'recipient_email' | 'plan_id'>): string {
  const email = emailKey(recipient_email)
  return plan_id === null ? email : `${email} ${plan_id}`
}

/** Holds off new invites until the transaction ends. A request that joins or takes another address takes it first. */
export async function holdInvites(tx: ScopedTx): Promise<void> {
  await tx.lock(networks, tx.network_id, 'share')
}

/**
 * Closes the open invite to a member's address, now that they have what it offers: no one need accept it, and another one may
 * follow when they have lost that again. The caller has locked the member.
 * @param plan_id the plan that they got; null for the network
 */
export async function closeInvite(
  { tx, now, touch }: Context,
  { email }: Pick<MemberRow, 'email'>,
  plan_id: Id | null,
): Promise<void> {
  const open = await tx.first(invites, { open_key: openKey({ recipient_email: email, plan_id }) })
  if (open) await tx.update(invites, open.id, { accepted_at: now, open_key: null, ...touch() }, { accepted_at: null })
}

/**
 * Moves the invites of a member to the address that they have from now on. The former one is no longer theirs: another person may
 * be invited to it.
 */
export async function moveInvites({ tx, touch }: Context, member: MemberRow, recipient_email: string): Promise<void> {
  for (const { id, plan_id, open_key } of await invitesOf(tx, member)) {
    const key = openKey({ recipient_email, plan_id })
    const isFree = open_key !== null && !(await tx.first(invites, { open_key: key }))
    await tx.update(invites, id, {
      recipient_id: member.id,
      recipient_email,
      email_key: emailKey(recipient_email),
      open_key: isFree ? key : null,
      ...touch(),
    })
  }
}

/**
 * Links a leaving member's invites to them, and releases the address. From then on the invites show no address, and they
 * are neither sent nor accepted.
 */
export async function releaseInvites({ tx, touch }: Context, member: MemberRow): Promise<void> {
  for (const { id } of await invitesOf(tx, member))
    await tx.update(invites, id, { recipient_id: member.id, open_key: null, ...touch() })
}

/** The invites to a member's address, without those of a person who had it before. */
async function invitesOf(tx: ScopedTx, { id, email_key }: MemberRow): Promise<InviteRow[]> {
  const held = email_key === null ? [] : await tx.find(invites, { where: { email_key } })
  return held.filter(({ recipient_id }) => recipient_id === null || recipient_id === id)
}
