/** The visibility of a member's address: how consent to commercial e-mail is recorded. */
import { expect, test } from 'vitest'
import { createTestCommunity } from '../../support/community.ts'

const bela = { email: 'bela@example.org', first_name: 'Bela', last_name: 'Birch' }

test('consent shows the address from then on, taking it back hides it, and both send an event', async () => {
  const { community, send, newEvents } = await createTestCommunity()
  const { id } = (await send('members.create', { body: bela })).body
  const address = async () => (await send('members.show', { params: { id } })).body.email
  expect(await address()).toBe('')
  newEvents()
  await community.notify.emailConsent({ network: 'demo', member_id: id, consent: true })
  expect(await address()).toBe('bela@example.org')
  await community.notify.emailConsent({ network: 'demo', member_id: id, consent: true })
  await community.notify.emailConsent({ network: 'demo', member_id: id, consent: false })
  expect(await address()).toBe('')
  expect(newEvents().map(({ event_type, payload }) => [event_type, payload.member.email])).toEqual([
    ['MemberUpdatedHook', 'bela@example.org'],
    ['MemberUpdatedHook', ''],
  ])
})

test.each([true, false])(
  'newMembersConsent %o holds for everyone who is new, unless it is said for one',
  async (newMembersConsent) => {
    const { community, send, owner } = await createTestCommunity({ newMembersConsent })
    const shown = newMembersConsent ? (email: string) => email : () => ''
    expect((await send('me.show')).body.email).toBe(shown(owner.email))
    await send('members.create', { body: bela })
    const invited = async (name: string, more: object = {}) => {
      const body = { recipient_email: `${name}@example.org`, recipient_first_name: name }
      const invite = (await send('invites.create', { body })).body
      return community.acceptInvite({ network: '1', invite: invite.id, ...more })
    }
    expect(await invited('cleo')).toMatchObject({ email: shown('cleo@example.org') })
    expect(await invited('dara', { commercial_email_consent: true })).toMatchObject({ email: 'dara@example.org' })
    expect(await invited('edda', { commercial_email_consent: false })).toMatchObject({ email: '' })
    const { items } = (await send('members.list')).body
    expect(items.map(({ email }: { email: string }) => email)).toContain(shown(bela.email))
    const other = await community.networks.create({
      subdomain: 'other',
      title: 'Other',
      owner: { ...bela, commercial_email_consent: !newMembersConsent },
    })
    expect(other.owner.commercial_email_consent).toBe(!newMembersConsent)
  },
)

test('a member who comes back keeps the consent that they gave, or did not give', async () => {
  const { community, send } = await createTestCommunity({ newMembersConsent: true })
  const { id } = (await send('members.create', { body: bela })).body
  await community.notify.emailConsent({ network: '1', member_id: id, consent: false })
  await send('members.remove_from_network', { params: { id } })
  const { body } = await send('members.create', { body: bela })
  expect(body.id).toBe(id)
  expect((await send('members.show', { params: { id } })).body.email).toBe('')
})
