import { expect, test } from 'vitest'
import { scoped } from '../../../lib/storage/scoped.ts'
import { memberSegments, segments } from '../../../lib/storage/tables/custom-fields.ts'
import { members } from '../../../lib/storage/tables/members.ts'
import { planMemberships, planSpaces, plans, purchases, subscriptions } from '../../../lib/storage/tables/plans.ts'
import { createTestCommunity, nobody, request, type TestCommunity } from '../../support/community.ts'
import { idsOf, neighbour, newComment, newMember, newPost, newSpace, now, typesOf } from '../../support/records.ts'

const grace = { email: 'Grace@Example.org', first_name: 'Grace', last_name: 'Hopper' }

test('creating a member shows the address as supplied, once', async () => {
  const { send, newEvents, events } = await createTestCommunity()
  const created = await send('members.create', { body: grace })
  expect(created.status).toBe(201)
  const { id } = created.body
  const record = {
    id: expect.stringMatching(/^\d+$/),
    created_at: now,
    updated_at: now,
    email: 'Grace@Example.org',
    member_type: 'full',
    permalink: `https://demo.example/members/${id}`,
    first_name: 'Grace',
    last_name: 'Hopper',
    time_zone: null,
    location: null,
    bio: null,
    referral_count: 0,
    avatar: null,
    categories: [],
    ambassador_level: null,
    last_visited_at: null,
  }
  expect(created.body).toEqual(record)
  const hidden = { ...record, email: '' }
  expect((await send('members.show', { params: { id } })).body).toEqual(hidden)
  expect(newEvents()).toMatchObject([
    { event_type: 'MemberJoinedHook', payload: { member: { id, email: '' }, space_id: '1', network_id: '1' } },
  ])
  expect(events('host')).toMatchObject([
    { event_type: 'WelcomeEmailRequestedHook', payload: { member: { id }, email: 'Grace@Example.org', network_id: '1' } },
  ])
})

test('no welcome mail is requested when send_welcome_email is false', async () => {
  const { send, events } = await createTestCommunity()
  await send('members.create', { body: { ...grace, send_welcome_email: false } })
  expect(events('host')).toEqual([])
})

test('a limited member joins the named spaces only, each once', async () => {
  const test = await createTestCommunity()
  const [first, second] = [await newSpace(test, 'First'), await newSpace(test, 'Second')]
  const created = await test.send('members.create', {
    body: { ...grace, member_type: 'limited', space_ids: [second.id, Number(first.id), second.id] },
  })
  expect(created).toMatchObject({ status: 201, body: { member_type: 'limited' } })
  expect(test.newEvents().map(({ event_type, payload }) => [event_type, payload.space_id])).toEqual([
    ['MemberJoinedHook', first.id],
    ['MemberJoinedHook', second.id],
  ])
  expect(idsOf(await test.send('member_spaces.list', { params: { member_id: created.body.id } }))).toEqual([first.id, second.id])
})

test.each([
  ['no email', { email: undefined }, 'email is required'],
  ['no address', { email: 'grace' }, 'email must be an e-mail address'],
  ['a blank name', { first_name: ' ' }, "first_name can't be blank"],
  ['a name of another type', { last_name: 7 }, 'last_name must be a text'],
  ['an unknown role', { role: 'owner' }, 'role must be one of host, moderator, contributor'],
  ['an unknown member_type', { member_type: 'half' }, 'member_type must be one of full, limited'],
  ['limited to nothing', { member_type: 'limited' }, 'space_ids must name at least one space when member_type is limited'],
  [
    'limited to an unknown space',
    { member_type: 'limited', space_ids: [nobody] },
    `space_ids: there is no space ${nobody} in this network`,
  ],
  ['an address that is a member', { email: 'HOST@example.org' }, 'email is already a member of this network'],
])('creating a member with %s is refused', async (_, fields, error) => {
  const { send, newEvents } = await createTestCommunity()
  const refused = await send('members.create', { body: { ...grace, ...fields } })
  expect(refused).toMatchObject({ status: 422, body: { error } })
  expect(newEvents()).toEqual([])
})

test('a limited member leaves the spaces, and not the network, to which they never belonged', async () => {
  const test = await createTestCommunity()
  const [first, second] = [await newSpace(test, 'First'), await newSpace(test, 'Second')]
  const { body } = await test.send('members.create', {
    body: { ...grace, member_type: 'limited', space_ids: [first.id, second.id] },
  })
  test.newEvents()
  await test.send('members.delete', { params: { id: body.id } })
  expect(test.newEvents().map(({ event_type, payload }) => [event_type, payload.space_id])).toEqual([
    ['MemberLeftHook', first.id],
    ['MemberLeftHook', second.id],
  ])
})

test('a limited member cannot be put into a space of another network', async () => {
  const test = await createTestCommunity()
  const { space } = await neighbour(test)
  const refused = await test.send('members.create', { body: { ...grace, member_type: 'limited', space_ids: [space.id] } })
  expect(refused).toMatchObject({ status: 422, body: { error: `space_ids: there is no space ${space.id} in this network` } })
})

test('members are listed in ascending order of id, without those of other networks', async () => {
  const test = await createTestCommunity()
  const { owner } = await neighbour(test)
  const [first, second] = [await newMember(test, 'first'), await newMember(test, 'second')]
  const listed = idsOf(await test.send('members.list'))
  expect(listed).toEqual([test.owner.id, first.id, second.id])
  expect(listed).not.toContain(owner.id)
  expect((await test.send('members.show', { params: { id: owner.id } })).status).toBe(404)
})

test('a member is found by their address, whatever its case', async () => {
  const test = await createTestCommunity()
  const member = await newMember(test, 'grace')
  const found = await test.send('members.by_email', { query: { email: 'GRACE@example.org' } })
  expect(found).toMatchObject({ status: 200, body: { ...member, email: '' } })
  expect(await test.send('members.by_email', { query: { email: 'nobody@example.org' } })).toMatchObject({
    status: 404,
    body: { error: 'Member not found' },
  })
  expect(await test.send('members.by_email')).toMatchObject({ status: 422, body: { error: 'email is required' } })
})

test('the list is filtered by address: one member or none, never everybody', async () => {
  const test = await createTestCommunity()
  const member = await newMember(test, 'grace')
  const found = async (email: string) => idsOf(await test.send('members.list', { query: { email } }))
  expect(await found('GRACE@example.org')).toEqual([member.id])
  for (const email of ['nobody@example.org', 'grace', '']) expect(await found(email)).toEqual([])
  await test.send('members.remove_from_network', { params: { id: member.id } })
  expect(await found('grace@example.org')).toEqual([])
})

test('a plus in an address that was not percent-encoded is a plus', async () => {
  const test = await createTestCommunity()
  const member = await newMember(test, 'grace+navy')
  const ask = (path: string) =>
    request(test.community, 'GET', `/admin/v1/networks/1${path}?email=grace+navy@example.org`, {
      headers: { authorization: `Bearer ${test.token}` },
    })
  expect((await ask('/members')).body.items).toMatchObject([{ id: member.id }])
  expect((await ask('/members/by_email')).body.id).toBe(member.id)
})

test('addresses are masked without the plan for it, and empty without consent', async () => {
  const test = await createTestCommunity()
  const member = await newMember(test, 'grace')
  const { network } = test
  await test.storage.transaction((tx) => scoped(tx, network.id).update(members, member.id, { commercial_email_consent: true }))
  expect((await test.send('members.show', { params: { id: member.id } })).body.email).toBe('grace@example.org')
  const other = await neighbour(test)
  const theirs = await test.community.call('members.create', { network: other.network.id, body: grace })
  expect(theirs.email).toBe('Grace@Example.org')
  await test.storage.transaction((tx) =>
    scoped(tx, other.network.id).update(members, theirs.id, { commercial_email_consent: true }),
  )
  const shown = await test.community.call('members.show', { network: other.network.id, params: { id: theirs.id } })
  expect(shown.email).toBe('a***@***.***')
})

test.each(['members.update', 'members.replace'])('%s changes only what it names, and emits the change', async (operation) => {
  const test = await createTestCommunity()
  const { id } = await newMember(test, 'grace')
  const { body: before } = await test.send('members.show', { params: { id } })
  test.newEvents()
  test.clock.advance(1000)
  const changed = await test.send(operation, { params: { id }, body: { first_name: 'Rear Admiral', role: null } })
  const after = { ...before, first_name: 'Rear Admiral', updated_at: '2026-11-20T10:00:01.000Z' }
  expect(changed).toMatchObject({ status: 200, body: after })
  expect(changed.body).toEqual(after)
  expect(test.newEvents()).toMatchObject([
    { event_type: 'MemberUpdatedHook', payload: { member: after, space_id: null, network_id: '1' } },
  ])
})

test('null clears the last name', async () => {
  const test = await createTestCommunity()
  const { id } = await newMember(test, 'grace')
  const cleared = await test.send('members.update', { params: { id }, body: { last_name: null } })
  expect(cleared.body.last_name).toBe('')
})

test('a member who changes address is found by the new one only', async () => {
  const test = await createTestCommunity()
  const { id } = await newMember(test, 'grace')
  await test.send('members.update', { params: { id }, body: { email: 'hopper@example.org' } })
  expect((await test.send('members.by_email', { query: { email: 'hopper@example.org' } })).body.id).toBe(id)
  expect((await test.send('members.by_email', { query: { email: 'grace@example.org' } })).status).toBe(404)
})

test.each([
  [{ role: 'king' }, 'role must be one of host, moderator, contributor'],
  [{ email: 'host@example.org' }, 'email is already a member of this network'],
  [{ first_name: '' }, "first_name can't be blank"],
  [{ first_name: ['Grace'] }, 'first_name must be a text'],
])('a change to %o is refused and announces nothing', async (body, error) => {
  const test = await createTestCommunity()
  const { id } = await newMember(test, 'grace')
  test.newEvents()
  expect(await test.send('members.update', { params: { id }, body })).toMatchObject({ status: 422, body: { error } })
  expect(test.newEvents()).toEqual([])
})

test('the last host stays a host of the network and in it', async () => {
  const test = await createTestCommunity()
  const params = { id: test.owner.id }
  const error = 'This is the last host of the network. Make another member a host first'
  expect(await test.send('members.update', { params, body: { role: 'moderator' } })).toMatchObject({
    status: 422,
    body: { error },
  })
  expect(await test.send('members.delete', { params })).toMatchObject({ status: 422, body: { error } })
  expect(await test.send('members.remove_from_network', { params })).toMatchObject({ status: 422, body: { error } })
  await newMember(test, 'grace', { role: 'host' })
  expect((await test.send('members.update', { params, body: { role: 'moderator' } })).status).toBe(200)
})

test('two hosts who go at the same moment leave one behind', async () => {
  const test = await createTestCommunity()
  const { id } = await newMember(test, 'grace', { role: 'host' })
  const responses = await Promise.all([id, test.owner.id].map((host) => test.send('members.delete', { params: { id: host } })))
  expect(responses.map(({ status }) => status).sort()).toEqual([204, 422])
})

test('concurrent removals emit one MemberLeft', async () => {
  const test = await createTestCommunity()
  const { id } = await newMember(test, 'grace')
  test.newEvents()
  const operations = ['members.delete', 'members.remove_from_network', 'members.delete']
  const responses = await Promise.all(operations.map((operation) => test.send(operation, { params: { id } })))
  const [first, removal, second] = responses.map(({ status }) => status)
  expect([first, second].toSorted()).toEqual([204, 404])
  // A removed member is deleted, too, but not the other way round.
  expect([204, 404]).toContain(removal)
  expect(typesOf(test.newEvents())).toEqual(['MemberLeftHook'])
})

test('a deleted account is gone, its address is free, and what it wrote stays', async () => {
  const test = await createTestCommunity()
  const space = await newSpace(test)
  const { id } = await newMember(test, 'grace')
  await test.send('space_members.create', { params: { space_id: space.id }, query: { user_id: id } })
  const { network } = test
  const post = await test.community.call('posts.create', {
    network: network.id,
    as: id,
    body: { space_id: space.id, title: 'Mine' },
  })
  test.newEvents()

  expect(await test.send('members.delete', { params: { id } })).toMatchObject({ status: 204, body: undefined })
  expect(test.newEvents().map(({ event_type, payload }) => [event_type, payload.member.id, payload.space_id])).toEqual([
    ['MemberLeftHook', id, space.id],
    ['MemberLeftHook', id, '1'],
  ])
  expect(idsOf(await test.send('members.list'))).toEqual([test.owner.id])
  expect(idsOf(await test.send('space_members.list', { params: { space_id: space.id } }))).toEqual([])
  expect((await test.send('posts.show', { params: { id: post.id } })).body.creator_id).toBe(id)
  expect((await test.send('members.delete', { params: { id } })).status).toBe(404)
  expect((await newMember(test, 'grace')).id).not.toBe(id)
})

test('removing a member updates tag, badge and reaction counts', async () => {
  const test = await createTestCommunity()
  const { network } = test
  const { id } = await newMember(test, 'grace')
  const post = await newPost(test, (await newSpace(test)).id)
  const comment = await newComment(test, post.id)
  const { body: tag } = await test.send('tags.create', { body: { title: 'Gardener' } })
  const call = { network: network.id, as: id }
  await test.community.call('comment_reactions.create', { ...call, params: { comment_id: comment.id }, body: { emoji: '👍' } })
  await test.community.call('post_reactions.create', { ...call, params: { post_id: post.id }, body: { emoji: '👍' } })
  await test.storage.transaction(async (storage) => {
    const tx = scoped(storage, network.id)
    await tx.update(segments, tag.id, { member_count: 1 })
    const stamp = { id: '77', created_at: now, updated_at: now }
    await tx.insert(memberSegments, {
      ...stamp,
      member_id: id,
      segment_id: tag.id,
      custom_field_id: tag.custom_field_id,
      kind: 'tag',
    })
  })

  await test.send('members.remove_from_network', { params: { id } })

  const shown = await test.send('comments.show', { params: { post_id: post.id, id: comment.id } })
  expect(shown.body.cheer_count).toBe(0)
  expect(idsOf(await test.send('post_reactions.list', { params: { post_id: post.id } }))).toEqual([])
  const segment = await test.storage.transaction((tx) => scoped(tx, network.id).get(segments, tag.id))
  expect(segment?.member_count).toBe(0)
})

test('who was taken out of the network may join again and is the same member', async () => {
  const test = await createTestCommunity()
  const { id } = await newMember(test, 'grace')
  test.newEvents()
  expect(await test.send('members.remove_from_network', { params: { id } })).toMatchObject({ status: 204, body: undefined })
  expect(typesOf(test.newEvents())).toEqual(['MemberLeftHook'])
  expect((await test.send('members.show', { params: { id } })).status).toBe(404)
  expect((await test.send('members.remove_from_network', { params: { id } })).body).toEqual({ error: 'Member not found' })
  const again = await newMember(test, 'grace', { first_name: 'Amazing' })
  expect(again).toMatchObject({ id, first_name: 'Amazing', email: 'grace@example.org' })
  expect(typesOf(test.newEvents())).toEqual(['MemberJoinedHook'])
})

test('taking a member out of the network leaves what they pay for running, and open again when they come back', async () => {
  const test = await createTestCommunity()
  const { member, space } = await payingMember(test)
  await test.send('members.remove_from_network', { params: { id: member.id } })
  expect(await payments(test)).toEqual({ subscription: 'active', revoked_at: null, plans: [] })
  expect(idsOf(await test.send('space_members.list', { params: { space_id: space.id } }))).toEqual([])
  test.newEvents()
  await newMember(test, 'grace')
  expect(test.newEvents().map(({ payload }) => payload.space_id)).toEqual(['1', space.id])
  expect(await payments(test)).toEqual({ subscription: 'active', revoked_at: null, plans: ['501', '502'] })
})

test.each(['true', '1', 'True', 'TRUE'])('cancel_plans=%s also ends what the member pays for', async (cancel_plans) => {
  const test = await createTestCommunity()
  const { member } = await payingMember(test)
  await test.send('members.remove_from_network', { params: { id: member.id }, query: { cancel_plans } })
  expect(await payments(test)).toEqual({ subscription: 'canceled', revoked_at: now, plans: [] })
  await newMember(test, 'grace')
  expect(await payments(test)).toMatchObject({ plans: [] })
})

test('cancel_plans that is no boolean is refused', async () => {
  const test = await createTestCommunity()
  const { id } = await newMember(test, 'grace')
  const refused = await test.send('members.remove_from_network', { params: { id }, query: { cancel_plans: 'perhaps' } })
  expect(refused).toMatchObject({ status: 422, body: { error: 'cancel_plans must be true or false' } })
})

test.each([
  ['members.show', {}],
  ['members.update', { body: {} }],
  ['members.replace', { body: {} }],
  ['members.delete', {}],
  ['members.remove_from_network', {}],
])('%s of nobody is a 404', async (operation, parts) => {
  const { send } = await createTestCommunity()
  const missing = { status: 404, body: { error: 'Member not found' } }
  expect(await send(operation, { params: { id: nobody }, ...parts })).toMatchObject(missing)
  expect(await send(operation, { params: { id: '18446744073709551615' }, ...parts })).toMatchObject(missing)
})

/** A member with a subscription of one plan, which opens a space, and a purchase of another. */
async function payingMember(test: TestCommunity) {
  const member = await newMember(test, 'grace')
  const space = await newSpace(test)
  await test.storage.transaction(async (storage) => {
    const tx = scoped(storage, test.network.id)
    const stamp = (id: string) => ({ id, created_at: now, updated_at: now })
    const plan = { id: null, name: null, amount: 500, currency: 'usd', interval: 'month', has_free_trial: false }
    await tx.insert(plans, { ...stamp('501'), name: 'Studio', pricing_type: 'subscription' })
    await tx.insert(plans, { ...stamp('502'), name: 'Course', pricing_type: 'one_time' })
    await tx.insert(planSpaces, { ...stamp('503'), plan_id: '501', space_id: space.id })
    const paid = { member_id: member.id, purchased_at: now }
    await tx.insert(subscriptions, { ...stamp('504'), ...paid, plan_id: '501', plan: { ...plan, type: 'subscription' } })
    await tx.insert(purchases, { ...stamp('505'), ...paid, plan_id: '502', plan: { ...plan, type: 'one-time-payment' } })
    await tx.insert(planMemberships, { ...stamp('506'), plan_id: '501', member_id: member.id, source: 'subscription' })
    await tx.insert(planMemberships, { ...stamp('507'), plan_id: '502', member_id: member.id, source: 'purchase' })
  })
  return { member, space }
}

async function payments({ storage, network }: TestCommunity) {
  return storage.transaction(async (storageTx) => {
    const tx = scoped(storageTx, network.id)
    const held = await tx.find(planMemberships, { order: { by: 'plan_id', direction: 'asc' } })
    return {
      subscription: (await tx.get(subscriptions, '504'))?.status,
      revoked_at: (await tx.get(purchases, '505'))?.revoked_at,
      plans: held.map((row) => row.plan_id),
    }
  })
}

test('a host with its own permalinks sees them in lists', async () => {
  const { send } = await createTestCommunity({ permalink: ({ kind, id }) => `https://own.example/${kind}?n=${Number(id) + 1}` })
  const { body } = await send('members.list', { query: { per_page: 1 } })
  expect(body.items[0].permalink).toBe(`https://own.example/members?n=${Number(body.items[0].id) + 1}`)
})
