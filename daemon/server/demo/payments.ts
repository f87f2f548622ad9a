import { openKey } from '../../../lib/rules/open-invites.ts'
import type { ScopedTx } from '../../../lib/storage/scoped.ts'
import { invites, planMemberships, planSpaces, plans, purchases, subscriptions } from '../../../lib/storage/tables/plans.ts'
import { at, memberIds, ownerId, range, stamp } from './made.ts'

const offers = [
  { name: 'Open door', pricing_type: 'free', amount: 0, interval: 'month' },
  { name: 'Guests', pricing_type: 'nonpaid', amount: 0, interval: 'month' },
  { name: 'Studio pass', pricing_type: 'subscription', amount: 1900, interval: 'month', has_free_trial: true },
  { name: 'Course: Light', pricing_type: 'one_time', amount: 4900, interval: 'one_time' },
] as const

/** Plans with the spaces that they open, who holds them and by what; invites. */
export async function seedPayments(tx: ScopedTx): Promise<void> {
  for (const [place, offer] of offers.entries()) {
    await tx.insert(plans, { ...stamp(5001 + place, 5), ...offer, description: `The plan ${offer.name}` })
    await tx.insert(planSpaces, { ...stamp(5051 + place, 5), plan_id: String(5001 + place), space_id: String(2002 + place) })
  }
  let membership = 5101
  const hold = (plan_id: string, member_id: string, source: 'direct' | 'subscription' | 'purchase') =>
    tx.insert(planMemberships, { ...stamp(membership++, 40), plan_id, member_id, source })
  for (const member_id of memberIds.slice(0, 30)) await hold('5001', member_id, 'direct')
  for (const [place, member_id] of memberIds.slice(10, 16).entries()) {
    const canceled = place >= 4
    await tx.insert(subscriptions, {
      ...stamp(5201 + place, 50),
      member_id,
      plan_id: '5003',
      plan: {
        id: '5003',
        name: 'Studio pass',
        amount: 1900,
        currency: 'usd',
        interval: 'month',
        type: 'subscription',
        has_free_trial: true,
      },
      status: canceled ? 'canceled' : 'active',
      current_period_start: at(320),
      current_period_end: at(350),
      payment_platform: 'stripe',
      canceled_at: canceled ? at(330) : null,
      purchased_at: at(50),
    })
    if (!canceled) await hold('5003', member_id, 'subscription')
  }
  for (const [place, member_id] of memberIds.slice(20, 24).entries()) {
    await tx.insert(purchases, {
      ...stamp(5301 + place, 60),
      member_id,
      plan_id: '5004',
      plan: {
        id: '5004',
        name: 'Course: Light',
        amount: 4900,
        currency: 'usd',
        interval: 'one_time',
        type: 'one-time-payment',
        has_free_trial: false,
      },
      tax_percent: 8,
      payment_platform: place === 3 ? 'apple' : 'stripe',
      purchased_at: at(60),
    })
    await hold('5004', member_id, 'purchase')
  }
  for (const place of range(6)) {
    const plan_id = place < 3 ? null : '5002'
    const recipient_email = `guest.${place + 1}@example.org`
    const accepted = place % 3 === 2
    await tx.insert(invites, {
      ...stamp(5401 + place, 65),
      recipient_email,
      email_key: recipient_email,
      recipient_first_name: `Guest ${place + 1}`,
      sender_id: ownerId,
      plan_id,
      sent_at: at(65),
      accepted_at: accepted ? at(66) : null,
      open_key: accepted ? null : openKey({ recipient_email, plan_id }),
    })
  }
}
