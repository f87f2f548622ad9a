/** The timeline of a member: what operations did to them, and by which key, together with what the host did. */
import { expect, test } from 'vitest'
import { memberHistory } from '../../../lib/storage/tables/members.ts'
import { createTestCommunity, type TestCommunity } from '../../support/community.ts'
import { createMembers, createSpaces } from '../../support/members.ts'

const timelineOf = async ({ community }: TestCommunity, id: string) => {
  const { items } = (await community.members.get('1', id)).timeline
  return items.map(({ action, actor, about, details }) => [action, about.join(), actor, details] as const)
}

const roleTo = (from: string, to: string) => ({ role: { from, to } })

test('a changed role is in the timeline with the key that changed it', async () => {
  const run = await createTestCommunity()
  const [grace] = await createMembers(run, 'Grace')
  const key = { network: '1', name: 'CRM', scopes: ['*'], member_id: run.owner.id }
  const send = run.sendAs((await run.community.keys.create(key)).token)
  run.clock.advance(1000)
  await send('members.update', { params: { id: grace.id }, body: { role: 'moderator' } })
  run.clock.advance(1000)
  await send('members.update', { params: { id: grace.id }, body: { role: 'moderator', first_name: 'Gracie' } })
  await run.community.members.changeRole('1', grace.id, 'contributor')
  expect(await timelineOf(run, grace.id)).toEqual([
    ['member.role_changed', '', 'host', roleTo('moderator', 'contributor')],
    ['MemberUpdated', '', 'CRM', roleTo('contributor', 'moderator')],
    ['MemberJoined', 'the network', 'test', {}],
  ])
  expect((await run.community.members.get('1', grace.id)).timeline.total).toBe(3)
})

test('spaces, tags, plans and a ban are named, and events of one kind are one entry', async () => {
  const run = await createTestCommunity()
  const [grace] = await createMembers(run, 'Grace')
  const [garden] = await createSpaces(run, 'Garden', 'Kitchen')
  const [id, space_id] = [grace.id, garden.id]
  const step = async (operation: string, parts: object) => {
    run.clock.advance(1000)
    expect((await run.send(operation, parts)).status).toBeLessThan(300)
  }
  const { id: plan_id } = await run.community.notify.plan({ network: '1', name: 'Friends', space_ids: [garden.id] })
  const { body: tag } = await run.send('tags.create', { body: { title: 'Founder' } })
  await step('plan_members.create', { params: { plan_id }, query: { user_id: id } })
  await step('space_members.update', { params: { space_id, user_id: id }, body: { role: 'host' } })
  await step('member_tags.create', { params: { member_id: id }, body: { tag_id: tag.id } })
  await step('member_tags.delete', { params: { member_id: id, tag_id: tag.id } })
  await step('space_members.ban', { params: { space_id, user_id: id }, body: {} })
  expect(await timelineOf(run, id)).toEqual([
    ['MemberLeft', 'Garden,the network', 'test', { state: { from: 'active', to: 'banned' } }],
    ['MemberTagRemoved', 'Founder', 'test', {}],
    ['MemberTagAdded', 'Founder', 'test', {}],
    ['MemberUpdated', 'Garden', 'test', { role: { from: null, to: 'host' } }],
    expect.arrayContaining(['test']),
    expect.arrayContaining(['test']),
    ['MemberJoined', 'the network', 'test', {}],
  ])
})

test('the history of a member stays when they leave, and goes when they are erased', async () => {
  const run = await createTestCommunity()
  const [grace] = await createMembers(run, 'Grace')
  await run.send('members.remove_from_network', { params: { id: grace.id } })
  const rows = () => run.storage.transaction((tx) => tx.find(memberHistory, { where: { member_id: grace.id } }))
  expect((await rows()).map(({ event }) => event).toSorted()).toEqual(['MemberJoined', 'MemberLeft'])
  await run.community.members.erase('1', grace.id)
  expect(await rows()).toEqual([])
})

test('a change that is none, and a profile, leave no history', async () => {
  const run = await createTestCommunity()
  await run.send('members.update', { params: { id: run.owner.id }, body: { role: 'host' } })
  await run.send('members.update', { params: { id: run.owner.id }, body: { first_name: 'Augusta' } })
  expect(await timelineOf(run, run.owner.id)).toEqual([])
})
