import { expect, test } from 'vitest'
import { scoped } from '../../../lib/storage/scoped.ts'
import { comments, posts, reactions } from '../../../lib/storage/tables/content.ts'
import { createTestCommunity, nobody } from '../../support/community.ts'
import { idsOf, neighbour, newComment, newPoll, newPost, newSpace, now } from '../../support/records.ts'

async function commentable() {
  const test = await createTestCommunity()
  const space = await newSpace(test)
  const post = await newPost(test, space.id)
  test.newEvents()
  const comment = (text: unknown, fields: object = {}, post_id: string = post.id) =>
    test.send('comments.create', { params: { post_id }, body: { text, ...fields } })
  return { test, space, post, comment }
}

test('a comment is made by the owner of the token, and is an activity on its post', async () => {
  const { test, space, post, comment } = await commentable()
  test.clock.advance(1000)
  const later = '2026-11-20T10:00:01.000Z'
  const created = await comment('Well said')
  expect(created.status).toBe(201)
  expect(created.body).toEqual({
    id: expect.stringMatching(/^\d+$/),
    created_at: later,
    updated_at: later,
    targetable_id: post.id,
    targetable_type: 'Post',
    text: 'Well said',
    replyable: true,
    depth: 1,
    cheer_count: 0,
    reply_count: 0,
    reply_to_id: null,
    author_id: test.owner.id,
    space_id: space.id,
    files: [],
    embedded_link: null,
    permalink: `https://demo.example/comments/${created.body.id}`,
  })
  const params = { post_id: post.id, id: created.body.id }
  expect((await test.send('comments.show', { params })).body).toEqual(created.body)
  expect((await test.send('posts.show', { params: { id: post.id } })).body).toEqual({ ...post, last_activity_at: later })
  expect(test.newEvents()).toMatchObject([{ event_type: 'CommentCreatedHook', payload: created.body }])
})

test('plain text comes out as HTML: addresses as links, line breaks as elements', async () => {
  const { comment } = await commentable()
  const created = await comment('See https://example.org/a?b=1&c=2.\n1 < 2 & "3" > 2')
  expect(created.body.text).toBe(
    'See <a href="https://example.org/a?b=1&amp;c=2" target="_blank" rel="nofollow noopener">https://example.org/a?b=1&amp;c=2</a>.' +
      '<br>1 &lt; 2 &amp; "3" &gt; 2',
  )
})

test('HTML stays what it is in comments, replies and events, without what could run', async () => {
  const { test, post, comment } = await commentable()
  const first = await comment('Hello')
  test.newEvents()
  const kept = '<p dir="auto">Hi <a class="mighty-mention" data-user-id="7">Mia</a>,<br><strong>all</strong> <em>well</em></p>'
  const reply = await comment(`${kept}<script>alert(1)</script><img src=x onerror=alert(1)>`, { reply_to_id: first.body.id })
  expect([reply.status, reply.body.text]).toEqual([201, kept])
  expect((await test.send('comments.show', { params: { post_id: post.id, id: reply.body.id } })).body.text).toBe(kept)
  expect(test.newEvents()).toMatchObject([{ event_type: 'CommentCreatedHook', payload: { text: kept } }])
})

test.each(['<p> </p>', '<script>alert(1)</script>', '<img src="https://e.org/x.png">', '&nbsp;<br>&#8203;', '<!-- x -->'])(
  'a comment of %j is blank',
  async (text) => {
    const { comment } = await commentable()
    expect(await comment(text)).toMatchObject({ status: 422, body: { error: "text can't be blank" } })
  },
)

test('replies count their depth from 1, and their parent counts them', async () => {
  const { test, post } = await commentable()
  const first = await newComment(test, post.id)
  const reply = await newComment(test, post.id, 'Indeed', { reply_to_id: Number(first.id) })
  const second = await newComment(test, post.id, 'Quite', { reply_to_id: first.id })
  const deeper = await newComment(test, post.id, 'No', { reply_to_id: reply.id })
  expect([first, reply, second, deeper].map(({ depth, reply_to_id }) => [depth, reply_to_id])).toEqual([
    [1, null],
    [2, first.id],
    [2, first.id],
    [3, reply.id],
  ])
  const listed = await test.send('comments.list', { params: { post_id: post.id } })
  expect(listed.body.items).toEqual([{ ...first, reply_count: 2 }, { ...reply, reply_count: 1 }, second, deeper])
})

test('replies at the same time are all counted', async () => {
  const { test, post, comment } = await commentable()
  const first = await newComment(test, post.id)
  await Promise.all(Array.from({ length: 8 }, () => comment('Me too', { reply_to_id: first.id })))
  const shown = await test.send('comments.show', { params: { post_id: post.id, id: first.id } })
  expect(shown.body.reply_count).toBe(8)
})

test.each([
  ['a poll', 'multiple_choice'],
  ['a question', 'question'],
])('%s can be commented on', async (_, poll_type) => {
  const { test, space, comment } = await commentable()
  const { id } = await newPoll(test, space.id, { poll_type })
  const created = await comment('Red', {}, id)
  expect(created).toMatchObject({ status: 201, body: { targetable_id: id } })
  expect((await test.send('comments.list', { params: { post_id: id } })).body.items).toEqual([created.body])
})

test('an event can be commented on', async () => {
  const { test, space, comment } = await commentable()
  await test.storage.transaction((tx) =>
    scoped(tx, test.network.id).insert(posts, {
      id: '77',
      created_at: now,
      updated_at: now,
      family: 'event',
      post_type: 'event',
      space_id: space.id,
      creator_id: test.owner.id,
      title: 'Planting day',
      content_type: 'text',
      published_at: now,
      last_activity_at: now,
    }),
  )
  expect(await comment('I am coming', {}, '77')).toMatchObject({ status: 201, body: { targetable_id: '77' } })
})

test.each([
  [undefined, {}, 'text is required'],
  ['', {}, "text can't be blank"],
  [' \n', {}, "text can't be blank"],
  [5, {}, 'text must be a text'],
  ['x'.repeat(100_001), {}, 'text must have at most 100000 characters'],
  ['Hello', { reply_to_id: 'first' }, 'reply_to_id must be an id'],
  ['Hello', { reply_to_id: nobody }, 'reply_to_id: there is no such comment on this post'],
])('a comment of %o is refused', async (text, fields, error) => {
  const { test, comment } = await commentable()
  expect(await comment(text, fields)).toMatchObject({ status: 422, body: { error } })
  expect(test.newEvents()).toEqual([])
})

test('a reply belongs to the post of the comment that it replies to', async () => {
  const { test, space, post, comment } = await commentable()
  const elsewhere = await newComment(test, (await newPost(test, space.id)).id)
  const refused = await comment('Hello', { reply_to_id: elsewhere.id })
  expect(refused).toMatchObject({ status: 422, body: { error: 'reply_to_id: there is no such comment on this post' } })
  expect(idsOf(await test.send('comments.list', { params: { post_id: post.id } }))).toEqual([])
})

test('a post whose comments are switched off takes none', async () => {
  const { test, post, comment } = await commentable()
  await test.storage.transaction((tx) => scoped(tx, test.network.id).update(posts, post.id, { comments_enabled: false }))
  expect(await comment('Hello')).toMatchObject({ status: 422, body: { error: 'Comments on this post are switched off' } })
})

test('deleting a comment takes its replies and all their reactions along', async () => {
  const { test, post } = await commentable()
  const first = await newComment(test, post.id)
  const reply = await newComment(test, post.id, 'Indeed', { reply_to_id: first.id })
  const deeper = await newComment(test, post.id, 'No', { reply_to_id: reply.id })
  const kept = await newComment(test, post.id, 'Else', { reply_to_id: first.id })
  for (const { id } of [reply, deeper, kept])
    await test.send('comment_reactions.create', { params: { comment_id: id }, body: { emoji: '👍' } })
  test.newEvents()
  const remove = (id: string) => test.send('comments.delete', { params: { post_id: post.id, id } })

  expect(await remove(reply.id)).toMatchObject({ status: 204, body: undefined })

  expect(test.newEvents()).toEqual([])
  const listed = await test.send('comments.list', { params: { post_id: post.id } })
  expect(listed.body.items).toEqual([
    { ...first, reply_count: 1 },
    { ...kept, cheer_count: 1 },
  ])
  const left = () =>
    test.storage.transaction(async (storage) => {
      const tx = scoped(storage, test.network.id)
      return [await tx.count(comments, {}), await tx.count(reactions, {})]
    })
  expect(await left()).toEqual([2, 1])
  expect((await remove(reply.id)).body).toEqual({ error: 'Comment not found' })
  await remove(first.id)
  expect(await left()).toEqual([0, 0])
})

test.each(['show', 'delete'])('%s finds a comment under its own post only', async (verb) => {
  const { test, space, post } = await commentable()
  const other = await newPost(test, space.id)
  const { id } = await newComment(test, post.id)
  const ask = (post_id: string, comment: string) => test.send(`comments.${verb}`, { params: { post_id, id: comment } })
  expect(await ask(other.id, id)).toMatchObject({ status: 404, body: { error: 'Comment not found' } })
  expect(await ask(post.id, nobody)).toMatchObject({ status: 404, body: { error: 'Comment not found' } })
  expect(await ask(nobody, id)).toMatchObject({ status: 404, body: { error: 'Post not found' } })
  expect(idsOf(await test.send('comments.list', { params: { post_id: post.id } }))).toEqual([id])
})

test.each([
  ['list', {}],
  ['create', { body: { text: 'Hello' } }],
])('%s on a post that is not there, or is another network’s, is a 404', async (verb, parts) => {
  const { test } = await commentable()
  const { network, space } = await neighbour(test)
  const theirs = await test.community.call('posts.create', { network: network.id, body: { space_id: space.id, title: 'Theirs' } })
  for (const post_id of [nobody, theirs.id])
    expect(await test.send(`comments.${verb}`, { params: { post_id }, ...parts })).toMatchObject({
      status: 404,
      body: { error: 'Post not found' },
    })
})
