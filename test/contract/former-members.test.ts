/** Once someone has left, however they left, nothing shows their address: no response, no event and no mail. */
import { expect, test } from 'vitest'
import { networks } from '../../lib/storage/tables/administration.ts'
import { invites } from '../../lib/storage/tables/plans.ts'
import type { RequestParts } from '../support/community.ts'
import { createSeededCommunity, seeded } from '../support/seed.ts'
import { exampleOf, routeIds, sendExample } from './support.ts'

const earlier = seeded.memberEmail
const latest = 'rear.admiral@example.org'
const addresses = [earlier, latest]

const member = { params: { id: seeded.member } }
const ways: Readonly<Record<string, readonly [id: string, parts: RequestParts]>> = {
  deleted: ['members.delete', member],
  removed: ['members.remove_from_network', member],
  banned: ['space_members.ban', { params: { space_id: seeded.space, user_id: seeded.member }, body: {} }],
}
const waysToGo = Object.keys(ways)

/** A network that shows addresses, and a member who wrote, paid, was invited in every way, and then left. */
async function createWorld(way: string) {
  const t = await createSeededCommunity()
  const { send, storage, community } = t
  await storage.transaction(async (tx) => {
    await tx.update(networks, '1', { member_email_visibility: true })
    const at = '2026-11-01T10:00:00.000Z'
    const accepted = { id: '829', created_at: at, updated_at: at, sent_at: at, accepted_at: at, open_key: null }
    const rest = { recipient_id: null, recipient_first_name: '', recipient_last_name: '', message: null, plan_id: null }
    const address = { recipient_email: earlier, email_key: earlier }
    await tx.insert(invites, { ...accepted, ...rest, ...address, network_id: '1', sender_id: t.owner.id })
  })
  const inviteTo = async (name: string, query: RequestParts['query'] & {}) => {
    const params = { plan_id: (await community.notify.plan({ network: '1', name })).id }
    const { body } = await send('plan_invites.create', { params, query })
    return { params: { ...params, id: body.id } }
  }
  const made = [await inviteTo('House', { email: earlier }), await inviteTo('Garden', { user_id: seeded.member })]
  await send('members.update', { ...member, body: { email: latest } })
  made.push(await inviteTo('Cellar', { email: latest }))
  const { token: key } = await community.keys.create({ network: '1', name: 'hers', scopes: ['*'], member_id: seeded.member })
  const [id, parts] = ways[way] ?? ['', {}]
  const left = await send(id, parts)
  expect(left.status).toBeLessThan(300)
  const before = { integration: t.events().length, host: t.events('host').length }
  /** The events since they left. */
  const told = () => [...t.events().slice(before.integration), ...t.events('host').slice(before.host)]
  return { ...t, made, key, told }
}

const shownIn = (value: unknown): readonly string[] => {
  const text = JSON.stringify(value).toLowerCase()
  return addresses.filter((email) => text.includes(email))
}

const reads = routeIds.filter((id) => exampleOf(id).route.method === 'GET')
const writes = routeIds.filter((id) => !reads.includes(id))

test.each(waysToGo)('no read shows the address of a member who was %s', async (way) => {
  const t = await createWorld(way)
  const more: readonly (readonly [id: string, parts: RequestParts])[] = [
    ['subscriptions.list', { query: { status: 'canceled' } }],
    ...t.made.flatMap(({ params }) => [
      ['plan_invites.show', { params }] as const,
      ['plan_invites.list', { params: { plan_id: params.plan_id } }] as const,
    ]),
  ]
  const found: string[] = []
  for (const id of reads) if (shownIn((await sendExample(t, id)).body ?? '').length > 0) found.push(id)
  for (const [id, parts] of more) if (shownIn((await t.send(id, parts)).body).length > 0) found.push(id)
  const me = await t.sendAs(t.key)('me.show')
  if (shownIn(me.body).length > 0) found.push('me.show')
  expect(me.status).toBe(200)
  expect(found).toEqual([])
})

test.each(waysToGo.flatMap((way) => writes.map((id) => ({ way, id }))))(
  '$id shows the address of a member who was $way in no response and no event',
  async ({ way, id }) => {
    const t = await createWorld(way)
    const response = await sendExample(t, id)
    expect(shownIn([response.body ?? '', t.told()])).toEqual([])
  },
)

test.each(waysToGo)('an invite of a member who was %s is not sent again', async (way) => {
  const t = await createWorld(way)
  const error =
    way === 'banned'
      ? 'recipient_email belongs to a member who is banned from this network'
      : 'recipient_email is that of a member who has left this network. Delete the invite, and send their address a new invite if they should come back'
  for (const { params } of t.made) {
    for (const id of ['plan_invites.resend_patch', 'plan_invites.resend_put'])
      expect(await t.send(id, { params })).toMatchObject({ status: 422, body: { error } })
    const change = await t.send('invites.update', { params: { id: params.id }, body: { recipient_email: latest } })
    expect(change).toMatchObject({ status: 422, body: { error } })
    expect((await t.send('plan_invites.delete', { params })).status).toBe(204)
  }
  expect(t.told()).toEqual([])
})

test.each(waysToGo)('what the host reports of a member who was %s shows no address', async (way) => {
  const t = await createWorld(way)
  const { notify } = t.community
  const renewed = { network: '1', subscription_id: seeded.subscription, current_period_end: '2027-01-01T00:00:00.000Z' }
  const responses = await Promise.allSettled([
    notify.subscriptionRenewed(renewed),
    notify.memberVisited({ network: '1', member_id: seeded.member }),
    notify.emailConsent({ network: '1', member_id: seeded.member, consent: true }),
    notify.joinRequest({ network: '1', member_id: seeded.member }),
  ])
  await t.send('subscriptions.cancel', { params: { id: seeded.subscription } })
  t.clock.advance(365 * 24 * 60 * 60 * 1000)
  const ended = await notify.subscriptionsEnded({ network: '1' })
  expect(shownIn([responses, ended, t.told()])).toEqual([])
})

test.each(waysToGo)('what a member who was %s wrote and bought still names them', async (way) => {
  const { send } = await createWorld(way)
  const names = {
    creator: { id: seeded.member, name: 'Grace Hopper', email: '' },
    author: { id: seeded.member, email: '', first_name: 'Grace' },
  }
  expect((await send('polls.show', { params: { id: seeded.poll } })).body).toMatchObject({ creator: names.creator })
  expect((await send('events.show', { params: { id: seeded.event } })).body).toMatchObject({ creator: names.creator })
  const receipt = { member_id: seeded.member, member_first_name: 'Grace', member_last_name: 'Hopper', member_email: '' }
  expect((await send('purchases.show', { params: { id: seeded.purchase } })).body).toMatchObject({
    ...receipt,
    plan: { name: 'Supporter', amount: 500, currency: 'usd' },
    purchase: { tax_percent: 19, payment_platform: 'stripe' },
  })
  const subscription = { member_id: seeded.member, first_name: 'Grace', last_name: 'Hopper', email: '' }
  expect((await send('subscriptions.show', { params: { id: seeded.subscription } })).body).toMatchObject(subscription)
})
