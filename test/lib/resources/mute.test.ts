import { expect, test } from 'vitest'
import { scoped } from '../../../lib/storage/scoped.ts'
import { mutes } from '../../../lib/storage/tables/content.ts'
import { createTestCommunity, nobody, type TestCommunity } from '../../support/community.ts'
import { neighbour, newMember, newPoll, newPost, newSpace } from '../../support/records.ts'

async function mutable() {
  const test = await createTestCommunity()
  const space = await newSpace(test)
  const post = await newPost(test, space.id)
  const member = await newMember(test, 'grace')
  test.newEvents()
  return { test, space, params: { post_id: post.id }, user_id: member.id }
}

const muted = ({ storage, network }: TestCommunity) =>
  storage.transaction(async (tx) =>
    (await scoped(tx, network.id).find(mutes, {})).map(({ post_id, member_id }) => ({ post_id, user_id: member_id })),
  )

test.each(['query', 'body'])('a post is muted for a member named in the %s, and heard again', async (where) => {
  const { test, params, user_id } = await mutable()
  expect(await test.send('mute.create', { params, [where]: { user_id } })).toMatchObject({ status: 204, body: undefined })
  expect(await muted(test)).toEqual([{ ...params, user_id }])
  expect(await test.send('mute.delete', { params, [where]: { user_id } })).toMatchObject({ status: 204, body: undefined })
  expect(await muted(test)).toEqual([])
  expect(test.newEvents()).toEqual([])
})

test('muting twice, and unmuting what is not muted, are no errors', async () => {
  const { test, params, user_id } = await mutable()
  expect((await test.send('mute.delete', { params, query: { user_id } })).status).toBe(204)
  for (const _ of [1, 2]) expect((await test.send('mute.create', { params, query: { user_id } })).status).toBe(204)
  expect(await muted(test)).toEqual([{ ...params, user_id }])
})

test('a mute is that of one member and one post', async () => {
  const { test, space, params, user_id } = await mutable()
  const poll = await newPoll(test, space.id)
  await test.send('mute.create', { params, query: { user_id } })
  await test.send('mute.create', { params, query: { user_id: test.owner.id } })
  await test.send('mute.create', { params: { post_id: poll.id }, query: { user_id } })
  await test.send('mute.delete', { params, query: { user_id } })
  expect(await muted(test)).toEqual([
    { ...params, user_id: test.owner.id },
    { post_id: poll.id, user_id },
  ])
})

test.each(['mute.create', 'mute.delete'])('%s names what is missing', async (operation) => {
  const { test, params, user_id } = await mutable()
  const { network, owner, space } = await neighbour(test)
  const theirs = await test.community.call('posts.create', { network: network.id, body: { space_id: space.id, title: 'Theirs' } })
  const ask = (post_id: string, query: Record<string, string>) => test.send(operation, { params: { post_id }, query })
  expect(await ask(params.post_id, {})).toMatchObject({ status: 422, body: { error: 'user_id is required' } })
  expect(await ask(params.post_id, { user_id: 'me' })).toMatchObject({ status: 422, body: { error: 'user_id must be an id' } })
  for (const post_id of [nobody, theirs.id])
    expect(await ask(post_id, { user_id })).toMatchObject({ status: 404, body: { error: 'Post not found' } })
  for (const other of [nobody, owner.id])
    expect(await ask(params.post_id, { user_id: other })).toMatchObject({ status: 404, body: { error: 'Member not found' } })
})
