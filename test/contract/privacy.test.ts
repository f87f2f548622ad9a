/**
 * No response and no integration event shows the address of a member who has not consented, or whom the network does not show.
 */
import { expect, test } from 'vitest'
import type { Tx } from '../../lib/storage/contract.ts'
import { scoped } from '../../lib/storage/scoped.ts'
import { networks } from '../../lib/storage/tables/administration.ts'
import { members } from '../../lib/storage/tables/members.ts'
import { createSeededCommunity, seeded } from '../support/seed.ts'
import { exampleOf, routeIds, sendExample } from './support.ts'

const worlds = [
  { world: 'nobody consents, and the network shows addresses', consents: false, member_email_visibility: true },
  { world: 'everybody consents, and the network shows no addresses', consents: true, member_email_visibility: false },
]

const addressesIn = async (tx: Tx) => (await tx.find(members, { where: { network_id: '1' } })).map(({ email }) => email)

async function createWorld({ consents, member_email_visibility }: (typeof worlds)[number]) {
  const t = await createSeededCommunity()
  const before = await t.storage.transaction(async (tx) => {
    await tx.update(networks, '1', { member_email_visibility })
    for (const { id } of await tx.find(members, { where: { network_id: '1' } }))
      await scoped(tx, '1').update(members, id, { commercial_email_consent: consents })
    return addressesIn(tx)
  })
  /** The addresses of members, former ones too, in a text. */
  const shownIn = async (text: string) => {
    const now = await t.storage.transaction(addressesIn, { readOnly: true })
    return [...new Set([...before, ...now])].filter((email) => text.toLowerCase().includes(email.toLowerCase()))
  }
  return { ...t, shownIn }
}

const everywhere = worlds.flatMap((world) => routeIds.map((id) => ({ id, ...world })))

test.each(everywhere)('$id shows no address of a member where $world', async ({ id, ...world }) => {
  const t = await createWorld(world)
  const response = await sendExample(t, id)
  expect(response.status).toBeLessThan(300)
  const supplied = id === 'members.create' ? [String(exampleOf(id).body?.['email'])] : []
  const found = await t.shownIn(JSON.stringify([response.body ?? '', [...response.headers]]))
  expect(found).toEqual(supplied)
  expect(await t.shownIn(JSON.stringify(t.events()))).toEqual([])
})

test.each(worlds)('an invite of a member to a plan shows no address anywhere where $world', async (world) => {
  const { send, shownIn, events, community } = await createWorld(world)
  const params = { plan_id: seeded.plan }
  const made = await send('plan_invites.create', { params, query: { user_id: seeded.loner } })
  const one = { params: { ...params, id: made.body.id } }
  const responses = [
    made,
    await send('plan_invites.show', one),
    await send('plan_invites.list', { params }),
    await send('plan_invites.resend_put', one),
    await send('invites.update', { params: { id: made.body.id }, body: { recipient_first_name: 'Lone' } }),
  ]
  const accepted = await community.acceptInvite({ network: '1', invite: made.body.id })
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
  expect(await shownIn(JSON.stringify([responses.map(({ body }) => body), accepted, events()]))).toEqual([])
  // The mailer of the host needs the address itself.
  expect((await shownIn(JSON.stringify(events('host')))).length).toBe(1)
})

test.each(worlds)('a request of a member who gives their address shows none where $world', async (world) => {
  const { community, shownIn, events } = await createWorld(world)
  const asked = { network: '1', email: seeded.memberEmail.toUpperCase() }
  const told = [
    await community.notify.joinRequest(asked),
    await community.notify.inviteRequest(asked),
    await community.notify.purchaseRequested({ ...asked, plan_id: seeded.plan }),
  ]
  expect(events()).toHaveLength(3)
  expect(await shownIn(JSON.stringify([told, events()]))).toEqual([])
})
