import { expect, test } from 'vitest'
import { ports } from '../../../adapters/ports/index.ts'
import { createTestCommunity, nobody } from '../../support/community.ts'
import { createMembers, createSpaces } from '../../support/members.ts'

const now = '2026-11-20T10:00:00.000Z'

async function setUp() {
  const t = await createTestCommunity({ ports: ports() })
  const [grace, alan] = await createMembers(t, 'Grace', 'Alan')
  const [garden] = await createSpaces(t, 'Garden')
  const { notify } = t.community
  const told = { network: '1', member_id: grace.id }
  const member = async () => (await t.send('members.show', { params: { id: grace.id } })).body
  const plans = async () => (await t.send('member_plans.list', { params: { member_id: grace.id } })).body.items
  return { ...t, notify, grace, alan, garden, told, member, plans }
}

const refusal = (status: number, error: string) => ({ status, body: { error } })

test('every notification checks the network, and whom and what it is about', async () => {
  const { notify, told } = await setUp()
  await expect(notify.memberVisited({ ...told, network: 'nowhere' })).rejects.toMatchObject(refusal(404, 'Network not found'))
  await expect(notify.memberVisited({ network: 'demo', member_id: nobody })).rejects.toMatchObject(
    refusal(404, 'Member not found'),
  )
  for (const wrong of [notify.subscription, notify.purchase, notify.purchaseRequested])
    await expect(wrong({ ...told, plan_id: nobody })).rejects.toMatchObject(refusal(404, 'Plan not found'))
  for (const wrong of [notify.joinRequest, notify.inviteRequest])
    await expect(wrong({ ...told, space_id: nobody })).rejects.toMatchObject(refusal(404, 'Space not found'))
  await expect(notify.courseProgress({ ...told, space_id: nobody, progress_percent: 1 })).rejects.toMatchObject(
    refusal(404, 'Space not found'),
  )
  await expect(notify.lessonCompleted({ ...told, coursework_id: nobody })).rejects.toMatchObject(
    refusal(404, 'Coursework not found'),
  )
  for (const wrong of [
    () => notify.planChanged({ network: '1', subscription_id: nobody, plan_id: nobody }),
    () => notify.subscriptionRenewed({ network: '1', subscription_id: nobody, current_period_end: now }),
  ])
    await expect(wrong()).rejects.toMatchObject(refusal(404, 'Subscription not found'))
  await expect(notify.courseProgress({ ...told, space_id: nobody, progress_percent: 101 })).rejects.toMatchObject(
    refusal(422, 'progress_percent must be a whole number from 0 to 100'),
  )
})

test('a plan that opens a space that does not exist is refused', async () => {
  const { send, notify } = await setUp()
  await expect(notify.plan({ network: '1', name: 'House', space_ids: [nobody] })).rejects.toMatchObject(
    refusal(422, `space_ids: there is no space ${nobody} in this network`),
  )
  expect((await send('plans.list')).body.items).toEqual([])
})

test('a subscription opens the plan and its spaces', async () => {
  const { notify, told, garden, newEvents, plans, send } = await setUp()
  const plan = await notify.plan({ network: '1', name: 'Patron', pricing_type: 'subscription', space_ids: [garden.id] })
  const made = await notify.subscription({ ...told, plan_id: plan.id, trial_length: 14, trial_end: '2026-12-04T11:00:00+01:00' })
  expect(made).toMatchObject({
    member_id: told.member_id,
    subscription: { trial_length: 14, trial_end: '2026-12-04T10:00:00.000Z', purchased_at: now },
  })
  expect(newEvents()).toMatchObject([
    {
      event_type: 'MemberPurchasedHook',
      payload: {
        member_id: told.member_id,
        plan: { ...made.plan, type: 'one-time-payment' },
        purchase: { id: made.subscription.id, tax_percent: null, purchased_at: now },
      },
    },
    { event_type: 'MemberJoinedHook', payload: { space_id: garden.id } },
  ])
  expect(await plans()).toEqual([plan])
  expect((await send('subscriptions.list')).body.items).toEqual([made])
})

test('a plan is sold by subscriptions or by single payments, not by both', async () => {
  const { notify, told, newEvents } = await setUp()
  const monthly = await notify.plan({ network: '1', name: 'Patron', pricing_type: 'subscription' })
  const single = await notify.plan({ network: '1', name: 'Workshop', pricing_type: 'one_time' })
  await expect(notify.purchase({ ...told, plan_id: monthly.id })).rejects.toMatchObject(
    refusal(422, 'The plan is sold by subscription: record a subscription'),
  )
  await expect(notify.subscription({ ...told, plan_id: single.id })).rejects.toMatchObject(
    refusal(422, 'The plan is sold by single payments: record a purchase'),
  )
  expect(newEvents()).toEqual([])
})

test('a purchase opens the plan and its spaces', async () => {
  const { notify, told, garden, newEvents, plans } = await setUp()
  const plan = await notify.plan({ network: '1', name: 'Workshop', pricing_type: 'one_time', space_ids: [garden.id] })
  const made = await notify.purchase({ ...told, plan_id: plan.id })
  expect(newEvents()).toMatchObject([
    { event_type: 'MemberPurchasedHook', payload: made },
    { event_type: 'MemberJoinedHook', payload: { space_id: garden.id } },
  ])
  expect(await plans()).toEqual([plan])
})

test('a renewed subscription continues where its period ended', async () => {
  const { send, notify, told, newEvents } = await setUp()
  const plan = await notify.plan({ network: '1', name: 'Patron', pricing_type: 'subscription' })
  const { subscription } = await notify.subscription({ ...told, plan_id: plan.id, current_period_end: '2026-12-01T00:00:00Z' })
  newEvents()
  const renew = (current_period_end: string) =>
    notify.subscriptionRenewed({ network: '1', subscription_id: subscription.id, current_period_end })
  const renewed = await renew('2027-01-01T00:00:00Z')
  expect(renewed.subscription).toEqual({
    ...subscription,
    current_period_start: '2026-12-01T00:00:00.000Z',
    current_period_end: '2027-01-01T00:00:00.000Z',
  })
  expect(newEvents()).toMatchObject([{ event_type: 'MemberSubscriptionRenewedHook', payload: renewed }])
  await expect(renew('2026-12-24T00:00:00Z')).rejects.toMatchObject(
    refusal(422, 'current_period_end must be later than the start'),
  )
  await send('subscriptions.cancel', { params: { id: subscription.id } })
  newEvents()
  await expect(renew('2027-02-01T00:00:00Z')).rejects.toMatchObject(
    refusal(422, 'The subscription is canceled to the end of its period: record a new one'),
  )
  expect(newEvents()).toEqual([])
})

test('a subscriber who moves to another plan leaves the old one', async () => {
  const { notify, told, newEvents, plans, garden } = await setUp()
  const before = await notify.plan({ network: '1', name: 'Patron', pricing_type: 'subscription' })
  const after = await notify.plan({
    network: '1',
    name: 'Founder',
    pricing_type: 'subscription',
    amount: 900,
    space_ids: [garden.id],
  })
  const { subscription } = await notify.subscription({ ...told, plan_id: before.id })
  newEvents()
  const moved = { network: '1', subscription_id: subscription.id }
  const changed = await notify.planChanged({ ...moved, plan_id: after.id })
  expect(changed.plan).toMatchObject({ id: after.id, name: 'Founder', amount: 900 })
  expect(newEvents()).toMatchObject([
    { event_type: 'MemberJoinedHook', payload: { space_id: garden.id } },
    { event_type: 'MemberPlanChangedHook', payload: changed },
  ])
  expect(await plans()).toEqual([after])
  await expect(notify.planChanged({ ...moved, plan_id: after.id })).rejects.toMatchObject(
    refusal(422, 'plan_id is already the plan of the subscription'),
  )
})

test('who asks is a member, with their address as the network shows it, or anybody with an address', async () => {
  const { notify, told, garden, network, newEvents, grace } = await setUp()
  const place = { network: '1', space_id: garden.id }
  const stranger = { email: 'dorothy@example.org', first_name: 'Dorothy', last_name: 'Vaughan' }
  const joining = await notify.joinRequest({ ...place, ...stranger })
  expect(joining).toEqual({ id: expect.any(String), created_at: now, ...stranger, space: garden })
  const asking = await notify.inviteRequest({ ...place, ...stranger, location: 'Hampton', referred_by_user_id: grace.id })
  expect(asking).toEqual({
    id: expect.any(String),
    created_at: now,
    updated_at: now,
    network_id: network.id,
    space_id: garden.id,
    plan_id: null,
    member_id: null,
    member_email: 'dorothy@example.org',
    member_first_name: 'Dorothy',
    member_last_name: 'Vaughan',
    member_location: 'Hampton',
    member_avatar: null,
    status: 'pending',
    referred_by_user_id: grace.id,
  })
  const plan = await notify.plan({ network: '1', name: 'Workshop', pricing_type: 'one_time' })
  const buying = await notify.purchaseRequested({ ...told, plan_id: plan.id })
  expect(buying).toMatchObject({
    member_id: grace.id,
    member_email: '',
    member_first_name: 'Grace',
    plan_id: plan.id,
    space_id: null,
  })
  expect(newEvents()).toMatchObject([
    { event_type: 'MemberJoinRequestedHook', payload: joining },
    { event_type: 'InviteRequestedHook', payload: asking },
    { event_type: 'MemberPurchaseRequestedHook', payload: buying },
  ])
  await expect(notify.joinRequest(place)).rejects.toMatchObject(refusal(422, 'email is required unless member_id is given'))
})

test('course progress is a start at 0 percent, a completion at 100 and an update between; it may be said outright', async () => {
  const { notify, told, garden, newEvents } = await setUp()
  const progress = (fields: Partial<Parameters<typeof notify.courseProgress>[0]>) =>
    notify.courseProgress({ ...told, space_id: garden.id, ...fields })
  for (const progress_percent of [0, 1, 99, 100]) await progress({ progress_percent })
  for (const step of ['started', 'updated', 'completed'] as const) await progress({ progress: step })
  await progress({ progress: 'started', progress_percent: 5 })
  expect(newEvents().map(({ event_type, payload }) => [event_type, payload.progress_percent])).toEqual([
    ['MemberCourseProgressStartedHook', 0],
    ['MemberCourseProgressUpdatedHook', 1],
    ['MemberCourseProgressUpdatedHook', 99],
    ['MemberCourseProgressCompletedHook', 100],
    ['MemberCourseProgressStartedHook', 0],
    ['MemberCourseProgressUpdatedHook', null],
    ['MemberCourseProgressCompletedHook', 100],
    ['MemberCourseProgressStartedHook', 5],
  ])
  await expect(progress({})).rejects.toMatchObject(refusal(422, 'progress_percent or progress is required'))
})

test('what is no lesson cannot be completed', async () => {
  const { send, notify, told, garden, newEvents } = await setUp()
  const { body: section } = await send('courseworks.create', {
    params: { space_id: garden.id },
    body: { type: 'section', title: 'Basics' },
  })
  await expect(notify.lessonCompleted({ ...told, coursework_id: section.id })).rejects.toMatchObject(
    refusal(422, 'coursework_id must name a lesson, not a section'),
  )
  expect(newEvents()).toEqual([])
})

test('reported content is listed with the abuse reports, a chat is only said', async () => {
  const { send, notify, told, garden, newEvents, network } = await setUp()
  const { body: post } = await send('posts.create', { body: { space_id: garden.id, title: 'Cheap shoes' } })
  const { body: comment } = await send('comments.create', { params: { post_id: post.id }, body: { text: 'Buy, buy!' } })
  newEvents()
  const onComment = { ...told, targetable_type: 'Comment', targetable_id: comment.id } as const
  const listed = await notify.abuseReport({ ...onComment, report_type: 'impersonation', reason: 'That is me.' })
  const said = await notify.reportedContent({ ...onComment, blacklist_type: 'not_interesting' })
  const chat = { ...told, targetable_type: 'Chat', targetable_id: '77', blacklist_type: 'spam' } as const
  const chatted = await notify.reportedContent({ ...chat, space_id: garden.id })
  expect(newEvents().map(({ payload }) => payload.reported_content)).toEqual([
    {
      id: listed.id,
      created_at: now,
      updated_at: now,
      user_id: told.member_id,
      targetable_id: comment.id,
      targetable_type: 'Comment',
      blacklist_type: 'other',
      reason: 'That is me.',
      space_id: garden.id,
      network_id: network.id,
    },
    said.reported_content,
    chatted.reported_content,
  ])
  expect(said.reported_content.blacklist_type).toBe('not_interesting')
  const reports = (await send('abuse_reports.list')).body.items
  expect(reports.map(({ report_type }: { report_type: string }) => report_type)).toEqual(['impersonation', 'other'])
  const half = { ...onComment, report_type: 'spam', context_id: nobody } as const
  await expect(notify.abuseReport(half)).rejects.toMatchObject(refusal(422, 'context_id and context_type go together'))
  await expect(notify.abuseReport({ ...half, context_type: 'Space' })).rejects.toMatchObject(refusal(404, 'Space not found'))
  await expect(notify.reportedContent(chat)).rejects.toMatchObject(refusal(404, 'Space not found'))
  for (const [targetable_type, name] of [
    ['Post', 'Post'],
    ['Comment', 'Comment'],
    ['User', 'Member'],
    ['Space', 'Space'],
  ] as const)
    await expect(
      notify.abuseReport({ ...told, targetable_type, targetable_id: nobody, report_type: 'spam' }),
    ).rejects.toMatchObject(refusal(404, `${name} not found`))
})

test('a leaderboard ranks by count; equal counts share a rank', async () => {
  const { notify, grace, alan, owner, newEvents, network } = await setUp()
  const entries = [
    { member_id: grace.id, count: 2 },
    { member_id: alan.id, count: 5 },
    { member_id: owner.id, count: 5 },
  ]
  const board = await notify.giftLeaderboard({ network: '1', type: 'received', entries })
  expect(board).toMatchObject({ network_id: network.id, recalculated_at: now, type: 'received', gift_definition: null })
  expect(board.entries.all_time.map(({ rank, member, count }) => [rank, member.id, count])).toEqual([
    [1, alan.id, 5],
    [1, owner.id, 5],
    [3, grace.id, 2],
  ])
  expect(newEvents()).toMatchObject([{ event_type: 'GiftLeaderboardUpdatedHook', payload: board }])
})

test('a member rises from ambassador level to ambassador level, and each is said once', async () => {
  const { notify, told, member, newEvents } = await setUp()
  const risen = await notify.ambassadorLevel({ ...told, level: 2, referral_count: 12 })
  expect(risen).toMatchObject({ ambassador_level_id: '2', ambassador_level_name: 'Silver', referral_count: 12 })
  expect(risen.member).toEqual(await member())
  expect(await member()).toMatchObject({ ambassador_level: 'Silver', referral_count: 12 })
  for (const [level, name] of [
    [2, 'Silver'],
    [1, 'Bronze'],
  ] as const)
    await expect(notify.ambassadorLevel({ ...told, level })).rejects.toMatchObject(
      refusal(422, `The member has reached the level ${name} before`),
    )
  await notify.ambassadorLevel({ ...told, level: 3 })
  expect(newEvents().map(({ payload }) => payload.ambassador_level_name)).toEqual(['Silver', 'Gold'])
})

test('a profile changes only in the named fields, and only a change sends an event', async () => {
  const { notify, told, member, newEvents, clock } = await setUp()
  clock.advance(1000)
  const fields = {
    commercial_email_consent: true,
    time_zone: 'America/New_York',
    location: 'New York',
    bio: 'Compilers.',
    avatar: 'https://cdn.example.org/grace.png',
  }
  const changed = await notify.memberProfile({ ...told, ...fields })
  const { commercial_email_consent: _, ...shown } = fields
  expect(changed).toMatchObject({ ...shown, email: 'grace@example.org', updated_at: '2026-11-20T10:00:01.000Z' })
  expect(await member()).toEqual(changed)
  expect(await notify.memberProfile({ ...told, bio: 'Compilers.' })).toEqual(changed)
  expect(newEvents()).toMatchObject([{ event_type: 'MemberUpdatedHook', payload: { member: changed, space_id: null } }])
  const cleared = await notify.memberProfile({ ...told, bio: null, commercial_email_consent: false })
  expect(cleared).toEqual({ ...changed, bio: null, email: '' })
  await expect(notify.memberProfile({ ...told, avatar: 'javascript:alert(1)' })).rejects.toMatchObject({ status: 422 })
})

test('a visit is kept and not said', async () => {
  const { notify, told, member, newEvents } = await setUp()
  await notify.memberVisited(told)
  expect(await member()).toMatchObject({ last_visited_at: now, updated_at: now })
  await notify.memberVisited({ ...told, visited_at: '2026-11-21T08:00:00+01:00' })
  expect((await member()).last_visited_at).toBe('2026-11-21T07:00:00.000Z')
  expect(newEvents()).toEqual([])
})

test('an occurrence of a recurring event is called off once', async () => {
  const { send, notify, garden, newEvents } = await setUp()
  const body = {
    space_id: garden.id,
    title: 'Planting day',
    event_type: 'local_meetup',
    starts_at: '2026-12-01T10:00:00Z',
    ends_at: '2026-12-01T12:00:00Z',
    frequency: 'weekly',
    interval: 1,
  }
  const { body: event } = await send('events.create', { body })
  newEvents()
  const cancel = (instance_at: string) => notify.eventInstanceCanceled({ network: '1', event_id: event.id, instance_at })
  const canceled = await cancel('2026-12-15T11:00:00+01:00')
  expect(canceled.event_instance).toEqual({
    post_id: event.id,
    starts_at: '2026-12-15T10:00:00.000Z',
    ends_at: '2026-12-15T12:00:00.000Z',
    instance_index: 2,
  })
  expect(newEvents()).toMatchObject([{ event_type: 'EventInstanceCanceledHook', payload: canceled }])
  await expect(cancel('2026-12-15T10:00:00Z')).rejects.toMatchObject(refusal(422, 'The occurrence is canceled already'))
  await expect(cancel('2026-12-16T10:00:00Z')).rejects.toMatchObject(
    refusal(422, 'instance_at must be the start of an occurrence of the recurring event'),
  )
})

test('ids are numbers in responses and events if the community sets it', async () => {
  const t = await createTestCommunity({ ids: 'number' })
  const [grace] = await createMembers(t, 'Grace')
  const board = await t.community.notify.giftLeaderboard({
    network: 1,
    type: 'sent',
    entries: [{ member_id: grace.id, count: 1 }],
  })
  expect(board.network_id).toBe(1)
  expect(board.entries.all_time[0]?.member.id).toBe(grace.id)
  expect(t.newEvents()[0]?.payload).toEqual(board)
})
