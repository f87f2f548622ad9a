import { expect, test } from 'vitest'
import { scoped } from '../../../lib/storage/scoped.ts'
import { comments, mutes, reactions } from '../../../lib/storage/tables/content.ts'
import { members } from '../../../lib/storage/tables/members.ts'
import { createTestCommunity, nobody } from '../../support/community.ts'
import { idsOf, neighbour, newComment, newMember, newPoll, newPost, newSpace, now, typesOf } from '../../support/records.ts'

const later = '2026-11-20T10:00:01.000Z'

test('a post is created by the owner of the token, and its author gets a webhook', async () => {
  const test = await createTestCommunity()
  const space = await newSpace(test)
  await test.storage.transaction((tx) =>
    scoped(tx, test.network.id).update(members, test.owner.id, { commercial_email_consent: true }),
  )
  const body = { space_id: Number(space.id), title: 'Hello', description: '<p>Good   morning</p><b>all</b>' }
  const created = await test.send('posts.create', { body })
  expect(created.status).toBe(201)
  expect(created.body).toEqual({
    id: expect.stringMatching(/^\d+$/),
    created_at: now,
    updated_at: now,
    creator_id: test.owner.id,
    space_id: space.id,
    summary: 'Good morning all',
    description: '<p>Good   morning</p><b>all</b>',
    post_type: 'post',
    images: [],
    title: 'Hello',
    status: 'posted',
    published_at: now,
    last_activity_at: now,
    content_type: 'text',
    comments_enabled: true,
    permalink: `https://demo.example/posts/${created.body.id}`,
  })
  expect((await test.send('posts.show', { params: { id: created.body.id } })).body).toEqual(created.body)
  const author = { id: test.owner.id, email: 'host@example.org', first_name: 'Ada' }
  expect(test.newEvents()).toEqual([
    {
      event_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      event_timestamp: now,
      event_type: 'PostCreatedHook',
      payload: { ...created.body, author },
    },
  ])
  expect(test.events('host')).toEqual([])
})

test('a post that is written back as it was read is the same, and sends nothing', async () => {
  const test = await createTestCommunity()
  const space = await newSpace(test)
  for (const description of [undefined, '', 'Ultramarine']) {
    const post = await newPost(test, space.id, { description })
    test.newEvents()
    test.clock.advance(1000)
    const { status, body } = await test.send('posts.replace', { params: { id: post.id }, body: post })
    expect([status, body]).toEqual([200, post])
    expect(test.newEvents()).toEqual([])
  }
})

test.each([
  ['article', 'ArticleCreatedHook', 'ArticleUpdatedHook'],
  ['announcement', 'PostCreatedHook', 'PostUpdatedHook'],
])('an %s has its own events', async (post_type, createdHook, updatedHook) => {
  const test = await createTestCommunity()
  const post = await newPost(test, (await newSpace(test)).id, { post_type })
  await test.send('posts.update', { params: { id: post.id }, body: { title: 'New' } })
  expect(typesOf(test.newEvents())).toEqual([createdHook, updatedHook])
  expect(post.post_type).toBe(post_type)
})

test('notify has the host notify the members, but for those who have muted the post', async () => {
  const test = await createTestCommunity()
  const space = await newSpace(test)
  const { body: post } = await test.send('posts.create', {
    query: { notify: true },
    body: { space_id: space.id, title: 'Hello' },
  })
  const muted = await newMember(test, 'grace', { send_welcome_email: false })
  await test.send('mute.create', { params: { post_id: post.id }, query: { user_id: muted.id } })
  await test.send('posts.update', { params: { id: post.id }, query: { notify: 'false' }, body: { title: 'Quiet' } })
  await test.send('posts.update', { params: { id: post.id }, query: { notify: '1' }, body: { title: 'Loud' } })
  const notice = { post_id: post.id, space_id: space.id, network_id: '1' }
  expect(test.events('host').map(({ event_type, payload }) => [event_type, payload])).toEqual([
    ['PostNotificationRequestedHook', { ...notice, title: 'Hello', muted_member_ids: [] }],
    ['PostNotificationRequestedHook', { ...notice, title: 'Loud', muted_member_ids: [muted.id] }],
  ])
})

test('notify has the host notify the members even if the update changes nothing', async () => {
  const test = await createTestCommunity()
  const post = await newPost(test, (await newSpace(test)).id)
  test.newEvents()
  for (const body of [{}, { title: post.title }])
    expect((await test.send('posts.update', { params: { id: post.id }, query: { notify: true }, body })).body).toEqual(post)
  expect(typesOf(test.events('host'))).toEqual(['PostNotificationRequestedHook', 'PostNotificationRequestedHook'])
  expect(test.newEvents()).toEqual([])
})

test.each([
  [{ title: undefined }, 422, 'title is required'],
  [{ title: '' }, 422, "title can't be blank"],
  [{ space_id: undefined }, 422, 'space_id is required'],
  [{ space_id: {} }, 422, 'space_id must be an id'],
  [{ description: 5 }, 422, 'description must be a text'],
  [{ post_type: 'rant' }, 422, 'post_type must be one of post, article, announcement, introduction'],
  [{ space_id: nobody }, 404, 'Space not found'],
])('a post with %o is refused', async (fields, status, error) => {
  const test = await createTestCommunity()
  const space = await newSpace(test)
  const refused = await test.send('posts.create', { body: { space_id: space.id, title: 'Hello', ...fields } })
  expect(refused).toMatchObject({ status, body: { error } })
  expect(test.newEvents()).toEqual([])
})

test('no one posts into a space of another network', async () => {
  const test = await createTestCommunity()
  const { space } = await neighbour(test)
  const refused = await test.send('posts.create', { body: { space_id: space.id, title: 'Hello' } })
  expect(refused).toMatchObject({ status: 404, body: { error: 'Space not found' } })
})

test('posts and polls are listed newest first, all or those of a space', async () => {
  const test = await createTestCommunity()
  const [garden, kitchen] = [await newSpace(test, 'Garden'), await newSpace(test, 'Kitchen')]
  const first = await newPost(test, garden.id)
  const second = await newPoll(test, kitchen.id)
  const third = await newPost(test, garden.id)
  const list = async (query = {}) => idsOf(await test.send('posts.list', { query }))
  expect(await list()).toEqual([third.id, second.id, first.id])
  expect(await list({ space_id: garden.id })).toEqual([third.id, first.id])
  expect(await list({ space_id: nobody })).toEqual([])
  const page = await test.send('posts.list', { query: { per_page: 2 } })
  const next = Object.fromEntries(new URL(page.body.links.next).searchParams)
  expect(await list(next)).toEqual([first.id])
})

test.each(['posts.update', 'posts.replace'])('%s with one field leaves the other', async (operation) => {
  const test = await createTestCommunity()
  const post = await newPost(test, (await newSpace(test)).id)
  test.newEvents()
  test.clock.advance(1000)
  const params = { id: post.id }
  const changed = await test.send(operation, { params, body: { title: 'Good evening' } })
  expect(changed.status).toBe(200)
  expect(changed.body).toEqual({ ...post, title: 'Good evening', updated_at: later, last_activity_at: later })
  expect(test.newEvents()).toMatchObject([{ event_type: 'PostUpdatedHook', payload: changed.body }])
  const cleared = await test.send(operation, { params, body: { description: null } })
  expect(cleared.body).toEqual({ ...changed.body, description: '', summary: '' })
})

test.each([
  [{ title: ' ' }, "title can't be blank"],
  [{ description: [] }, 'description must be a text'],
])('a change to %o is refused', async (body, error) => {
  const test = await createTestCommunity()
  const { id } = await newPost(test, (await newSpace(test)).id)
  test.newEvents()
  expect(await test.send('posts.update', { params: { id }, body })).toMatchObject({ status: 422, body: { error } })
  expect(test.newEvents()).toEqual([])
})

test('a post is deleted with its comments, its reactions, those to its comments, and its mutes', async () => {
  const test = await createTestCommunity()
  const space = await newSpace(test)
  const [post, other] = [await newPost(test, space.id), await newPost(test, space.id)]
  for (const { id } of [post, other]) {
    const comment = await newComment(test, id)
    await newComment(test, id, 'Indeed', { reply_to_id: comment.id })
    await test.send('comment_reactions.create', { params: { comment_id: comment.id }, body: { emoji: '👍' } })
    await test.send('post_reactions.create', { params: { post_id: id }, body: { emoji: '👍' } })
    await test.send('mute.create', { params: { post_id: id }, query: { user_id: test.owner.id } })
  }
  test.newEvents()
  expect(await test.send('posts.delete', { params: { id: post.id } })).toMatchObject({ status: 204, body: undefined })
  expect(test.newEvents()).toEqual([])
  expect(idsOf(await test.send('posts.list'))).toEqual([other.id])
  const left = await test.storage.transaction(async (storage) => {
    const tx = scoped(storage, test.network.id)
    return [await tx.count(comments, {}), await tx.count(reactions, {}), await tx.count(mutes, {})]
  })
  expect(left).toEqual([2, 2, 1])
  expect((await test.send('posts.delete', { params: { id: post.id } })).body).toEqual({ error: 'Post not found' })
})

test.each([
  ['posts.update', { body: { title: 'New' } }],
  ['posts.replace', { body: { title: 'New' } }],
  ['posts.delete', {}],
])('%s leaves polls alone', async (operation, parts) => {
  const test = await createTestCommunity()
  const poll = await newPoll(test, (await newSpace(test)).id)
  const refused = await test.send(operation, { params: { id: poll.id }, ...parts })
  expect(refused).toMatchObject({ status: 404, body: { error: 'Post not found' } })
  expect((await test.send('polls.show', { params: { id: poll.id } })).body).toEqual(poll)
})

test.each([
  ['posts.show', {}],
  ['posts.update', { body: {} }],
  ['posts.replace', { body: {} }],
  ['posts.delete', {}],
])('%s of a post that is not there, or is another network’s, is a 404', async (operation, parts) => {
  const test = await createTestCommunity()
  const { network, space } = await neighbour(test)
  const theirs = await test.community.call('posts.create', { network: network.id, body: { space_id: space.id, title: 'Theirs' } })
  test.newEvents()
  for (const id of [nobody, theirs.id])
    expect(await test.send(operation, { params: { id }, ...parts })).toMatchObject({
      status: 404,
      body: { error: 'Post not found' },
    })
  expect(test.newEvents()).toEqual([])
})
