import { expect, test } from 'vitest'
import { createTestCommunity, nobody } from '../../support/community.ts'
import { idsOf, neighbour, newComment, newPoll, newPost, newSpace, now, typesOf } from '../../support/records.ts'

const later = '2026-11-20T10:00:01.000Z'

test('a poll shows its maker, its space and its choices', async () => {
  const test = await createTestCommunity()
  const space = await newSpace(test)
  const created = await test.send('polls.create', {
    body: {
      space_id: space.id,
      title: 'Which?',
      description: 'One only',
      poll_type: 'multiple_choice',
      choices: ['Red', 'Blue'],
    },
  })
  expect(created.status).toBe(201)
  const { id, choices } = created.body
  expect(created.body).toEqual({
    id: expect.stringMatching(/^\d+$/),
    created_at: now,
    updated_at: now,
    post_type: 'poll',
    poll_type: 'multiple_choice_poll',
    title: 'Which?',
    description: 'One only',
    creator: {
      id: test.owner.id,
      created_at: now,
      updated_at: now,
      name: 'Ada Host',
      email: '',
      short_bio: '',
      admin: true,
      last_visited_at: null,
    },
    space,
    images: [],
    choices: [
      { id: expect.stringMatching(/^\d+$/), text: 'Red' },
      { id: expect.stringMatching(/^\d+$/), text: 'Blue' },
    ],
    status: 'posted',
    published_at: now,
    permalink: `https://demo.example/posts/${id}`,
    comments_enabled: true,
    last_activity_at: now,
  })
  expect((await test.send('polls.show', { params: { id } })).body).toEqual(created.body)
  const { creator } = created.body
  const common = { id, created_at: now, updated_at: now, title: 'Which?', creator, space, images: [] }
  expect(test.newEvents()).toMatchObject([
    {
      event_type: 'MultipleChoicePollCreatedHook',
      payload: {
        ...common,
        post_type: 'multiple_choice_poll',
        permalink: `https://demo.example/posts/${id}`,
        choices,
        choice_1: choices[0],
        choice_2: choices[1],
        choice_3: null,
        choice_4: null,
        choice_5: null,
      },
    },
  ])
})

test.each([
  ['multiple_choice', 'MultipleChoicePoll'],
  ['hot_cold', 'HotColdPoll'],
  ['percentage', 'PercentagePoll'],
])('a %s poll has its own events', async (poll_type, name) => {
  const test = await createTestCommunity()
  const poll = await newPoll(test, (await newSpace(test)).id, { poll_type })
  expect(poll).toMatchObject({ post_type: 'poll', poll_type: `${poll_type}_poll` })
  const { body } = await test.send('polls.update', { params: { id: poll.id }, body: { title: 'Changed' } })
  expect(test.newEvents()).toMatchObject([
    { event_type: `${name}CreatedHook`, payload: { id: poll.id, post_type: `${poll_type}_poll`, title: 'Which?' } },
    { event_type: `${name}UpdatedHook`, payload: { id: poll.id, post_type: `${poll_type}_poll`, title: body.title } },
  ])
})

test('a question has no choices, and the events of a question', async () => {
  const test = await createTestCommunity()
  const space = await newSpace(test)
  const created = await test.send('polls.create', {
    body: { space_id: space.id, title: 'What have you learnt?', poll_type: 'question', choices: ['Ignored', 'Too'] },
  })
  expect(created).toMatchObject({
    status: 201,
    body: { post_type: 'question', poll_type: null, description: null, choices: [], status: 'posted' },
  })
  const { id } = created.body
  await test.send('polls.update', { params: { id }, body: { description: 'In a year' } })
  const payload = { id, creator_id: test.owner.id, space_id: space.id, post_type: 'question', author: { id: test.owner.id } }
  expect(test.newEvents()).toMatchObject([
    { event_type: 'QuestionCreatedHook', payload: { ...payload, description: '', summary: '' } },
    { event_type: 'QuestionUpdatedHook', payload: { ...payload, description: 'In a year', summary: 'In a year' } },
  ])
})

test('notify is in the body', async () => {
  const test = await createTestCommunity()
  const space = await newSpace(test)
  await newPoll(test, space.id)
  const { id } = await newPoll(test, space.id, { notify: true })
  expect(test.events('host')).toMatchObject([
    { event_type: 'PostNotificationRequestedHook', payload: { post_id: id, space_id: space.id, title: 'Which?' } },
  ])
})

test.each([
  [{ title: undefined }, 422, 'title is required'],
  [{ poll_type: undefined }, 422, 'poll_type is required'],
  [{ poll_type: 'quiz' }, 422, 'poll_type must be one of multiple_choice, hot_cold, percentage, question'],
  [{ choices: undefined }, 422, 'choices must hold at least two texts unless poll_type is question'],
  [{ choices: ['Alone'] }, 422, 'choices must hold at least two texts unless poll_type is question'],
  [{ choices: ['Red', ' '] }, 422, "choices.1 can't be blank"],
  [{ choices: 'Red' }, 422, 'choices must be a list'],
  [{ choices: Array.from({ length: 21 }, (_, index) => `Choice ${index}`) }, 422, 'choices must have at most 20 choices'],
  [{ notify: 'yes' }, 422, 'notify must be true or false'],
  [{ space_id: nobody }, 404, 'Space not found'],
])('a poll with %o is refused', async (fields, status, error) => {
  const test = await createTestCommunity()
  const { id: space_id } = await newSpace(test)
  const body = { space_id, title: 'Which?', poll_type: 'hot_cold', choices: ['Hot', 'Cold'], ...fields }
  expect(await test.send('polls.create', { body })).toMatchObject({ status, body: { error } })
  expect(test.newEvents()).toEqual([])
})

test('polls and questions are listed newest first, without posts, all or those of a space', async () => {
  const test = await createTestCommunity()
  const [garden, kitchen] = [await newSpace(test, 'Garden'), await newSpace(test, 'Kitchen')]
  const first = await newPoll(test, garden.id)
  const second = await newPoll(test, kitchen.id, { poll_type: 'question' })
  await newPost(test, garden.id)
  expect((await test.send('polls.list')).body.items).toEqual([second, first])
  expect((await test.send('polls.list', { query: { space_id: kitchen.id } })).body.items).toEqual([second])
})

test.each(['polls.update', 'polls.replace'])('%s with one field leaves the others', async (operation) => {
  const test = await createTestCommunity()
  const poll = await newPoll(test, (await newSpace(test)).id, { description: 'One only' })
  const params = { id: poll.id }
  test.clock.advance(1000)
  const changed = await test.send(operation, { params, body: { title: 'Which one?', choices: ['Other', 'Ones'] } })
  expect(changed.status).toBe(200)
  expect(changed.body).toEqual({ ...poll, title: 'Which one?', updated_at: later, last_activity_at: later })
  expect((await test.send(operation, { params, body: { description: null } })).body.description).toBeNull()
})

test.each([
  [{ title: '' }, "title can't be blank"],
  [{ title: 7 }, 'title must be a text'],
])('a change to %o is refused', async (body, error) => {
  const test = await createTestCommunity()
  const { id } = await newPoll(test, (await newSpace(test)).id)
  test.newEvents()
  expect(await test.send('polls.update', { params: { id }, body })).toMatchObject({ status: 422, body: { error } })
  expect(test.newEvents()).toEqual([])
})

test('a poll is deleted with what was said to it', async () => {
  const test = await createTestCommunity()
  const { id } = await newPoll(test, (await newSpace(test)).id)
  const comment = await newComment(test, id)
  test.newEvents()
  expect(await test.send('polls.delete', { params: { id } })).toMatchObject({ status: 204, body: undefined })
  expect(typesOf(test.newEvents())).toEqual([])
  expect(idsOf(await test.send('posts.list'))).toEqual([])
  expect((await test.send('comment_reactions.list', { params: { comment_id: comment.id } })).status).toBe(404)
})

test.each([
  ['polls.show', {}],
  ['polls.update', { body: {} }],
  ['polls.replace', { body: {} }],
  ['polls.delete', {}],
])('%s of what is no poll, or another network’s, is a 404', async (operation, parts) => {
  const test = await createTestCommunity()
  const post = await newPost(test, (await newSpace(test)).id)
  const { network, space } = await neighbour(test)
  const theirs = await test.community.call('polls.create', {
    network: network.id,
    body: { space_id: space.id, title: 'Theirs', poll_type: 'question' },
  })
  for (const id of [nobody, post.id, theirs.id])
    expect(await test.send(operation, { params: { id }, ...parts })).toMatchObject({
      status: 404,
      body: { error: 'Poll not found' },
    })
  expect((await test.send('posts.show', { params: { id: post.id } })).body).toEqual(post)
})
