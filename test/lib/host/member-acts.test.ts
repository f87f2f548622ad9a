/** What an admin does to one member by host calls, and the page that shows everything about them. */
import { describe, expect, test } from 'vitest'
import { createTestCommunity, type TestCommunity } from '../../support/community.ts'
import { createMembers } from '../../support/members.ts'
import { newMember, newPost, newSpace, now, typesOf } from '../../support/records.ts'

const linesOf = async ({ community }: TestCommunity) =>
  (await community.audit.list({ network: '1' })).items.flatMap(({ action, subject, details, actor }) =>
    subject.type === 'member' ? [{ action, details, actor, id: subject.id, name: subject.name }] : [],
  )

describe('a ban', () => {
  test('takes the member out with the events of the operation, and is audited', async () => {
    const run = await createTestCommunity()
    const [grace] = await createMembers(run, 'Grace')
    const banned = await run.community.by({ actor: 'ada' }).members.ban('demo', grace.id, { reason: 'Sold watches' })
    expect(banned).toMatchObject({ id: grace.id, state: 'banned', is_banned: true, ban_reason: 'Sold watches', left_at: now })
    expect(banned.left_by).toEqual({ id: run.owner.id, name: 'Ada Host' })
    expect(typesOf(run.newEvents())).toEqual(['MemberLeftHook'])
    expect(await linesOf(run)).toMatchObject([
      {
        ...{ action: 'member.banned', actor: 'ada', id: grace.id, name: 'Grace Example' },
        details: { reason: 'Sold watches', cancel_plans: true },
      },
    ])
    const again = run.community.members.ban('demo', grace.id)
    await expect(again).rejects.toMatchObject({ status: 422, message: 'The member is banned already' })
    const back = await run.send('members.create', { body: { email: 'grace@example.org', first_name: 'G', last_name: '' } })
    expect(back.status).toBe(422)
  })

  test('of a member who was removed keeps them out, without an event', async () => {
    const run = await createTestCommunity()
    const [grace] = await createMembers(run, 'Grace')
    await run.community.members.remove('1', grace.id)
    run.newEvents()
    expect(await run.community.members.ban('1', grace.id)).toMatchObject({ state: 'banned', ban_reason: null })
    expect(run.newEvents()).toEqual([])
  })

  test.each(['ban', 'remove'] as const)('the last host is refused a %s, and someone who is not there is a 404', async (act) => {
    const run = await createTestCommunity()
    await expect(run.community.members[act]('1', run.owner.id)).rejects.toMatchObject({ status: 422 })
    await expect(run.community.members[act]('1', '77')).rejects.toMatchObject({ status: 404 })
    expect(await linesOf(run)).toEqual([])
    expect(run.newEvents()).toEqual([])
  })
})

test.each(['remove', 'changeRole'] as const)('a former member is refused a %s in a sentence that says so', async (act) => {
  const run = await createTestCommunity()
  const [grace] = await createMembers(run, 'Grace')
  await run.community.members.remove('1', grace.id)
  const refused =
    act === 'remove' ? run.community.members.remove('1', grace.id) : run.community.members.changeRole('1', grace.id, 'host')
  await expect(refused).rejects.toMatchObject({ status: 422, message: 'The member has left the network: they are removed' })
})

test('a member who is removed may join again', async () => {
  const run = await createTestCommunity()
  const [grace] = await createMembers(run, 'Grace')
  expect(await run.community.members.remove('1', grace.id)).toMatchObject({ state: 'removed' })
  expect(typesOf(run.newEvents())).toEqual(['MemberLeftHook'])
  expect(await newMember(run, 'grace')).toMatchObject({ id: grace.id })
  expect(await linesOf(run)).toMatchObject([{ action: 'member.removed', id: grace.id, details: { cancel_plans: false } }])
})

test('a role changes with its event and its line, and the last host keeps theirs', async () => {
  const run = await createTestCommunity()
  const [grace] = await createMembers(run, 'Grace')
  expect(await run.community.members.changeRole('1', grace.id, 'moderator')).toMatchObject({ role: 'moderator' })
  expect(typesOf(run.newEvents())).toEqual(['MemberUpdatedHook'])
  await run.community.members.changeRole('1', grace.id, 'moderator')
  expect(run.newEvents()).toEqual([])
  expect(await linesOf(run)).toMatchObject([
    { action: 'member.role_changed', details: { role: { from: 'contributor', to: 'moderator' } } },
  ])
  await expect(run.community.members.changeRole('1', run.owner.id, 'contributor')).rejects.toMatchObject({ status: 422 })
  await expect(run.community.members.changeRole('1', grace.id, 'queen' as never)).rejects.toMatchObject({ status: 422 })
})

test('the page of a member has what belongs to them, counted, the newest first', async () => {
  const run = await createTestCommunity()
  const [grace] = await createMembers(run, 'Grace')
  const space = await newSpace(run)
  const body = { email: 'grace@example.org' }
  await run.send('space_members.create', { params: { space_id: space.id }, query: body, body })
  const { community } = run
  const tag = await community.call('tags.create', { network: '1', body: { title: 'Founder', color: '#00AA00' } })
  await community.call('member_tags.create', { network: '1', params: { member_id: grace.id }, body: { tag_id: tag.id } })
  const as = grace.id
  for (let n = 0; n < 12; n++)
    await community.call('posts.create', { network: '1', as, body: { space_id: space.id, title: `Post ${n}`, description: 'x' } })
  await newPost(run, space.id)
  await community.members.changeRole('1', grace.id, 'moderator')
  const page = await community.members.get('demo', grace.id)
  expect(page).toMatchObject({ id: grace.id, email: 'grace@example.org', role: 'moderator', state: 'active', bio: null })
  expect(page.tags).toEqual({ total: 1, items: [{ id: tag.id, name: 'Founder', since: now, color: '#00AA00' }] })
  expect(page.posts.total).toBe(12)
  expect(page.posts.items.map(({ title }) => title)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map((n) => `Post ${n}`))
  expect(page.timeline.items).toMatchObject([
    { action: 'member.role_changed', actor: 'host', key_id: null },
    { action: 'MemberTagAdded', actor: 'host', about: ['Founder'] },
    { action: 'MemberJoined', actor: 'test', about: ['the network'] },
  ])
  expect(page.comments).toEqual({ total: 0, items: [] })
  await expect(community.members.get('demo', '77')).rejects.toMatchObject({ status: 404 })
})
