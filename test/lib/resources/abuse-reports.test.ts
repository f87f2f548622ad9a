import { expect, test } from 'vitest'
import { createTestCommunity } from '../../support/community.ts'
import { createMembers, createSpaces } from '../../support/members.ts'

test('what members have reported is listed, in the order of the reports', async () => {
  const { send, community, network, ...t } = await createTestCommunity()
  const [grace, alan] = await createMembers({ send, ...t }, 'Grace', 'Alan')
  const [space] = await createSpaces({ send }, 'Garden')
  const { body: post } = await send('posts.create', { body: { space_id: space.id, title: 'Cheap shoes' } })
  const report = { network: '1', member_id: grace.id } as const
  await community.notify.abuseReport({
    ...report,
    targetable_type: 'Post',
    targetable_id: post.id,
    report_type: 'spam',
    reason: 'Shoes again.',
    context_id: space.id,
    context_type: 'Space',
  })
  const second = await community.notify.abuseReport({
    ...report,
    targetable_type: 'User',
    targetable_id: alan.id,
    report_type: 'impersonation',
  })
  const listed = await send('abuse_reports.list')
  expect([listed.status, listed.body.items]).toEqual([
    200,
    [
      {
        id: expect.any(String),
        created_at: '2026-11-20T10:00:00.000Z',
        updated_at: '2026-11-20T10:00:00.000Z',
        member_id: grace.id,
        targetable_id: post.id,
        targetable_type: 'Post',
        report_type: 'spam',
        reason: 'Shoes again.',
        context_id: space.id,
        context_type: 'Space',
        space_id: space.id,
        network_id: network.id,
        ignored_at: null,
        ignored_by_id: null,
      },
      second,
    ],
  ])
})

test('a report stays when its reporter leaves, as what they wrote does', async () => {
  const test = await createTestCommunity()
  const reporters = await createMembers(test, 'Grace', 'Alan', 'Edsger')
  const [space] = await createSpaces(test, 'Garden')
  const about = { targetable_type: 'Space', targetable_id: space.id, report_type: 'spam' } as const
  for (const { id } of reporters) await test.community.notify.abuseReport({ network: '1', member_id: id, ...about })
  const before = await test.send('abuse_reports.list')
  expect(before.body.items).toHaveLength(3)
  const [grace, alan, edsger] = reporters.map(({ id }) => id)
  await test.send('members.delete', { params: { id: grace } })
  await test.send('members.remove_from_network', { params: { id: alan } })
  await test.send('space_members.ban', { params: { space_id: space.id, user_id: edsger }, body: {} })
  expect((await test.send('abuse_reports.list')).body).toEqual(before.body)
})

test('the reports of another network are its own', async () => {
  const { send, community } = await createTestCommunity()
  const { network, owner } = await community.networks.create({
    subdomain: 'other',
    title: 'Other',
    owner: { email: 'olga@example.org', first_name: 'Olga', last_name: 'Other' },
  })
  const about = { targetable_type: 'User', targetable_id: owner.id, report_type: 'other' } as const
  await community.notify.abuseReport({ network: network.id, member_id: owner.id, ...about })
  expect((await send('abuse_reports.list')).body.items).toEqual([])
})
