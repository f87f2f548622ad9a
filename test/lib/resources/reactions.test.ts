import { expect, test } from 'vitest'
import { createTestCommunity, nobody } from '../../support/community.ts'
import { idsOf, neighbour, newComment, newMember, newPost, newSpace, now, typesOf } from '../../support/records.ts'

/** A post or a comment to react to, and short ways to do it. */
async function target(kind: 'Post' | 'Comment') {
  const test = await createTestCommunity()
  const space = await newSpace(test)
  const post = await newPost(test, space.id)
  const comment = await newComment(test, post.id)
  const id: string = kind === 'Post' ? post.id : comment.id
  const group = kind === 'Post' ? 'post_reactions' : 'comment_reactions'
  const param = kind === 'Post' ? 'post_id' : 'comment_id'
  const params = { [param]: id }
  test.newEvents()
  return {
    test,
    space,
    id,
    react: (emoji: unknown) => test.send(`${group}.create`, { params, body: { emoji } }),
    reactAs: (member_id: string, emoji: string) => {
      const input = { network: test.network.id, as: member_id, body: { emoji } }
      return kind === 'Post'
        ? test.community.call('post_reactions.create', { ...input, params: { post_id: id } })
        : test.community.call('comment_reactions.create', { ...input, params: { comment_id: id } })
    },
    list: () => test.send(`${group}.list`, { params }),
    takeBack: () => test.send(`${group}.delete`, { params }),
    ask: (verb: string, other: string) =>
      test.send(`${group}.${verb}`, { params: { [param]: other }, ...(verb === 'create' ? { body: { emoji: '👍' } } : {}) }),
    cheers: async () => (await test.send('comments.show', { params: { post_id: post.id, id: comment.id } })).body.cheer_count,
    neighbours: async () => {
      const { network, space: place } = await neighbour(test)
      const theirs = await test.community.call('posts.create', {
        network: network.id,
        body: { space_id: place.id, title: 'Theirs' },
      })
      if (kind === 'Post') return theirs.id
      const call = { network: network.id, params: { post_id: theirs.id }, body: { text: 'Hello' } }
      return (await test.community.call('comments.create', call)).id
    },
  }
}

const kinds = ['Post', 'Comment'] as const

test.each(kinds)('a reaction to a %s is that of the owner of the token', async (kind) => {
  const { test, space, id, react, list } = await target(kind)
  const created = await react('👍🏽')
  expect(created.status).toBe(201)
  expect(created.body).toEqual({
    id: expect.stringMatching(/^\d+$/),
    created_at: now,
    updated_at: now,
    space_id: space.id,
    network_id: '1',
    targetable_id: id,
    targetable_type: kind,
    targetable_space_id: space.id,
    emoji: '👍🏽',
    base_emoji: '👍',
    member_id: test.owner.id,
  })
  expect((await list()).body.items).toEqual([created.body])
  expect(test.newEvents()).toMatchObject([{ event_type: 'ReactionCreatedHook', payload: created.body }])
})

test.each(kinds)('another emoji replaces the reaction to a %s, the same one changes nothing', async (kind) => {
  const { test, react, list } = await target(kind)
  const first = await react('👍')
  test.newEvents()
  const again = await react('👍')
  expect(again).toMatchObject({ status: 201, body: first.body })
  expect(test.newEvents()).toEqual([])
  const second = await react('🎨')
  expect((await list()).body.items).toEqual([second.body])
  expect(test.newEvents().map(({ event_type, payload }) => [event_type, payload])).toEqual([
    ['ReactionDeletedHook', first.body],
    ['ReactionCreatedHook', second.body],
  ])
})

test.each(kinds)('each member has a separate reaction to a %s', async (kind) => {
  const { test, react, reactAs, list, takeBack } = await target(kind)
  const member = await newMember(test, 'grace')
  const own = await react('👍')
  const theirs = await reactAs(member.id, '👍')
  expect(idsOf(await list())).toEqual([own.body.id, theirs.id])
  await takeBack()
  expect((await list()).body.items).toEqual([theirs])
})

test.each(kinds)('taking back a reaction to a %s announces it; without one it is a 404', async (kind) => {
  const { test, react, list, takeBack } = await target(kind)
  const created = await react('👍')
  test.newEvents()
  expect(await takeBack()).toMatchObject({ status: 204, body: undefined })
  expect(test.newEvents()).toMatchObject([{ event_type: 'ReactionDeletedHook', payload: created.body }])
  expect((await list()).body.items).toEqual([])
  expect(await takeBack()).toMatchObject({ status: 404, body: { error: 'Reaction not found' } })
  expect(test.newEvents()).toEqual([])
})

test.each(kinds)('the key of a member who has left reacts to no %s', async (kind) => {
  const { test, reactAs, list, cheers } = await target(kind)
  const member = await newMember(test, 'grace')
  const mine = await newMember(test, 'ida')
  await reactAs(member.id, '👍')
  await test.send('members.delete', { params: { id: member.id } })
  test.newEvents()
  await expect(reactAs(member.id, '👍')).rejects.toMatchObject({ status: 404, body: { error: 'Member not found' } })
  expect((await list()).body.items).toEqual([])
  expect(await cheers()).toBe(0)
  expect(test.newEvents()).toEqual([])
  await reactAs(mine.id, '👍')
  expect((await list()).body.items).toMatchObject([{ member_id: mine.id }])
})

test.each(kinds)('requests at the same time leave one reaction to a %s', async (kind) => {
  const { react, list, cheers } = await target(kind)
  await Promise.all(['👍', '🎨', '👍', '❤️', '🎨'].map(react))
  expect(idsOf(await list())).toHaveLength(1)
  expect(await cheers()).toBe(kind === 'Comment' ? 1 : 0)
})

test('a comment counts who cheers it', async () => {
  const { test, react, reactAs, takeBack, cheers } = await target('Comment')
  const member = await newMember(test, 'grace')
  await react('👍')
  expect(await cheers()).toBe(1)
  await react('🎨')
  await react('🎨')
  expect(await cheers()).toBe(1)
  await reactAs(member.id, '👍')
  expect(await cheers()).toBe(2)
  await takeBack()
  expect(await cheers()).toBe(1)
})

test('reactions to a post are not those to its comments', async () => {
  const { react, cheers, list, test, id } = await target('Post')
  await react('👍')
  expect(await cheers()).toBe(0)
  const comment = await newComment(test, id)
  await test.send('comment_reactions.create', { params: { comment_id: comment.id }, body: { emoji: '🎨' } })
  expect((await list()).body.items.map(({ emoji }: { emoji: string }) => emoji)).toEqual(['👍'])
})

test.each(['👍', '❤', '❤️', '👩‍🚀', '👩🏿‍🚀', '🏳️‍🌈', '🇨🇭', '1️⃣', '👨‍👩‍👧‍👦'])('%s is an emoji', async (emoji) => {
  const { react } = await target('Post')
  expect(await react(emoji)).toMatchObject({ status: 201, body: { emoji } })
})

test.each([undefined, '', 'x', 'thumbsup', '👍👍', '👍!', ' 👍', 5, null])('%o is no emoji', async (emoji) => {
  const { test, react, list } = await target('Comment')
  const refused = await react(emoji)
  const error = emoji === undefined ? 'emoji is required' : 'emoji must be one emoji'
  expect(refused).toMatchObject({ status: 422, body: { error } })
  expect((await list()).body.items).toEqual([])
  expect(typesOf(test.newEvents())).toEqual([])
})

test.each(kinds)('a %s that is not there, or is another network’s, is a 404', async (kind) => {
  const { ask, neighbours } = await target(kind)
  for (const other of [nobody, await neighbours()])
    for (const verb of ['list', 'create', 'delete'])
      expect(await ask(verb, other)).toMatchObject({ status: 404, body: { error: `${kind} not found` } })
})
