import { expect, test } from 'vitest'
import { maskedEmail, visibleEmail } from '../../../lib/records/visible-email.ts'
import { scoped } from '../../../lib/storage/scoped.ts'
import { networks } from '../../../lib/storage/tables/administration.ts'
import { members } from '../../../lib/storage/tables/members.ts'
import type { Json } from '../../support/json.ts'
import { createSeededCommunity, seeded } from '../../support/seed.ts'

const email = seeded.memberEmail
const combinations = [
  { commercial_email_consent: false, member_email_visibility: false, shown: '' },
  { commercial_email_consent: false, member_email_visibility: true, shown: '' },
  { commercial_email_consent: true, member_email_visibility: false, shown: maskedEmail },
  { commercial_email_consent: true, member_email_visibility: true, shown: email },
]

test.each(combinations)(
  'an address is shown as $shown with consent $commercial_email_consent and visibility $member_email_visibility',
  (combination) => {
    const { shown, ...facts } = combination
    expect(visibleEmail({ email, state: 'active', ...facts }, facts)).toBe(shown)
    for (const state of ['removed', 'banned', 'deleted'] as const)
      expect(visibleEmail({ email, state, ...facts }, facts)).toBe('')
  },
)

/** Every value of a field called `email` or ending in it, at any depth. */
const addresses = (value: Json): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, inner]) =>
        typeof inner === 'string' ? (/(?:^|_)email$/.test(key) ? [inner] : []) : addresses(inner as Json),
      )

test.each(combinations)(
  'records and payloads show $shown with consent $commercial_email_consent and visibility $member_email_visibility',
  async (combination) => {
    const { shown, member_email_visibility, commercial_email_consent } = combination
    const { storage, send, newEvents, community } = await createSeededCommunity()
    await storage.transaction(async (tx) => {
      await tx.update(networks, '1', { member_email_visibility })
      await scoped(tx, '1').update(members, seeded.member, { commercial_email_consent })
    })
    const params = { id: seeded.member }
    expect((await send('members.show', { params })).body.email).toBe(shown)
    expect((await send('members.by_email', { query: { email } })).body.email).toBe(shown)
    expect((await send('members.list')).body.items.find((item: Json) => item.id === seeded.member).email).toBe(shown)
    expect((await send('polls.show', { params: { id: seeded.poll } })).body.creator.email).toBe(shown)
    expect((await send('members.update', { params, body: { first_name: 'Amazing' } })).body.email).toBe(shown)
    const direct = await community.call('members.show', { network: '1', params })
    expect(direct.email).toBe(shown)
    await send('member_badges.create', { params: { member_id: seeded.member }, body: { badge_id: seeded.spareBadge } })
    await send('posts.update', { params: { id: seeded.post }, body: { title: 'Again' } })
    const events = newEvents()
    expect(events.map(({ event_type }) => event_type)).toEqual(['MemberUpdatedHook', 'MemberBadgeAddedHook', 'PostUpdatedHook'])
    expect(events.flatMap(({ payload }) => addresses(payload))).toEqual([shown, shown, shown])
  },
)

test('only the response that creates a member shows the address as supplied', async () => {
  const { send, newEvents, events } = await createSeededCommunity()
  const supplied = 'New.Member@Example.ORG'
  const body = { email: supplied, first_name: 'New', last_name: 'Member' }
  const created = await send('members.create', { body })
  expect(created.body.email).toBe(supplied)
  expect((await send('members.show', { params: { id: created.body.id } })).body.email).toBe('')
  expect(newEvents().flatMap(({ payload }) => addresses(payload))).toEqual([''])
  // The host has the mailer, so the mail to send carries the address itself.
  expect(events('host').map(({ payload }) => payload.email)).toEqual([supplied])
})
