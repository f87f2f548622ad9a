/** Every event of the catalogue is caused by an operation or by the host, and carries exactly its documented payload. */
import { expect, test } from 'vitest'
import { ports } from '../../adapters/ports/index.ts'
import { catalogue, type WebhookName } from '../../lib/events/catalogue.ts'
import type { Json } from '../support/json.ts'
import { createMembers, createSpaces } from '../support/members.ts'
import { createSeededCommunity, seeded } from '../support/seed.ts'
import { strictly } from '../support/strict.ts'

/** A seeded network with a separate member for the events, and `act`, which runs an operation and fails loudly when it fails. */
async function setUp() {
  const t = await createSeededCommunity({ ports: ports() })
  const [member] = await createMembers(t, 'Margaret')
  const [garden] = await createSpaces(t, 'Garden')
  const act = async (id: string, params: Readonly<Record<string, string>>, body?: unknown, query = {}): Promise<Json> => {
    const response = await t.send(id, { params, query, ...(body === undefined ? {} : { body }) })
    expect(response.status, `${id} returned ${JSON.stringify(response.body)}`).toBeLessThan(300)
    return response.body
  }
  return { ...t, notify: t.community.notify, act, member, garden, told: { network: '1', member_id: member.id } }
}

type SetUp = Awaited<ReturnType<typeof setUp>>
type Cause = (t: SetUp) => Promise<unknown>

const choices = ['Tomatoes', 'Beans']
const post =
  (body: object, change?: object): Cause =>
  async ({ act, garden }) => {
    const { id } = await act('posts.create', {}, { space_id: garden.id, title: 'Hello', description: 'World', ...body })
    if (change) await act('posts.update', { id }, change)
  }
const poll =
  (poll_type: string, change?: object): Cause =>
  async ({ act, garden }) => {
    const asked = poll_type === 'question' ? {} : { choices }
    const { id } = await act('polls.create', {}, { space_id: garden.id, title: 'What next?', poll_type, ...asked })
    if (change) await act('polls.update', { id }, change)
  }
const tagged: Cause = async ({ act, member }) => {
  const { id } = await act('tags.create', {}, { title: 'Weaver' })
  await act('member_tags.create', { member_id: member.id }, { tag_id: id })
  await act('member_tags.delete', { member_id: member.id, tag_id: id })
}
const badged: Cause = async ({ act, member }) => {
  const badge_id = seeded.spareBadge
  await act('member_badges.create', { member_id: member.id }, { badge_id })
  await act('member_badges.delete', { member_id: member.id, badge_id })
}
const answered: Cause = async ({ act, member }) => {
  const field = await act(
    'custom_fields.create',
    {},
    {
      title: 'Likes',
      response_type: 'dropdown_single_select',
      privacy: 'public',
      response_by: 'individual_member',
      options: choices,
    },
  )
  const [tomatoes, beans] = (await act('options.list', { custom_field_id: field.id })).items
  const params = { custom_field_id: field.id, member_id: member.id }
  await act('answers.upsert', params, { segment_ids: [tomatoes.id] })
  await act('answers.upsert', params, { segment_ids: [beans.id] })
  await act('answers.delete', params)
}
const reacted: Cause = async ({ act, garden }) => {
  const { id } = await act('posts.create', {}, { space_id: garden.id, title: 'Hello' })
  await act('post_reactions.create', { post_id: id }, { emoji: '🌱' })
  await act('post_reactions.delete', { post_id: id })
}
const meet = ({ act, garden }: SetUp, more: object = {}): Promise<Json> =>
  act(
    'events.create',
    {},
    {
      space_id: garden.id,
      title: 'Planting day',
      event_type: 'local_meetup',
      starts_at: '2026-12-01T10:00:00Z',
      ends_at: '2026-12-01T12:00:00Z',
      ...more,
    },
  )
const replied: Cause = async (t) => {
  const event = await meet(t)
  const params = { event_id: event.id }
  const { id } = await t.act('rsvps.create', params, { member_id: t.member.id, status: 'yes' })
  await t.act('rsvps.update', { ...params, id }, { status: 'no' })
  await t.act('rsvps.delete', { ...params, id })
}
const subscribed = async ({ notify, told, garden }: SetUp) => {
  const plan = await notify.plan({ network: '1', name: 'Patron', pricing_type: 'subscription', space_ids: [garden.id] })
  return notify.subscription({
    ...told,
    plan_id: plan.id,
    current_period_end: '2026-12-01T00:00:00Z',
    payment_platform: 'stripe',
  })
}

/** The cause of each event. A kind that is added to the catalogue and not here does not compile. */
const causes: Record<WebhookName, Cause> = {
  ArticleCreated: post({ post_type: 'article' }),
  ArticleUpdated: post({ post_type: 'article' }, { title: 'Hello again' }),
  CommentCreated: async ({ act, garden }) => {
    const { id } = await act('posts.create', {}, { space_id: garden.id, title: 'Hello' })
    await act('comments.create', { post_id: id }, { text: 'Well said!' })
  },
  CustomFieldResponseCreated: answered,
  CustomFieldResponseRemoved: answered,
  CustomFieldResponseUpdated: answered,
  EventCanceled: async (t) => t.act('events.delete', { id: (await meet(t)).id }),
  EventCreated: meet,
  EventInstanceCanceled: async (t) => {
    const { id } = await meet(t, { frequency: 'weekly', interval: 1 })
    await t.notify.eventInstanceCanceled({ network: '1', event_id: id, instance_at: '2026-12-08T10:00:00Z' })
  },
  EventUpdated: async (t) => t.act('events.update', { id: (await meet(t)).id }, { title: 'Harvest day' }),
  GiftLeaderboardUpdated: ({ notify, told, owner }) =>
    notify.giftLeaderboard({
      network: '1',
      type: 'sent',
      gift_definition: { id: 7, name: 'Seeds' },
      entries: [
        { member_id: told.member_id, count: 2 },
        { member_id: owner.id, count: 5 },
      ],
    }),
  HotColdPollCreated: poll('hot_cold'),
  HotColdPollUpdated: poll('hot_cold', { title: 'And then?' }),
  InviteRequested: ({ notify, garden }) =>
    notify.inviteRequest({ network: '1', email: 'dorothy@example.org', first_name: 'Dorothy', space_id: garden.id }),
  MemberAmbassadorLeveledUp: ({ notify, told }) => notify.ambassadorLevel({ ...told, level: 2, referral_count: 10 }),
  MemberBadgeAdded: badged,
  MemberBadgeRemoved: badged,
  MemberCourseProgressCompleted: ({ notify, told, garden }) =>
    notify.courseProgress({ ...told, space_id: garden.id, progress_percent: 100 }),
  MemberCourseProgressStarted: ({ notify, told, garden }) =>
    notify.courseProgress({ ...told, space_id: garden.id, progress: 'started' }),
  MemberCourseProgressUpdated: ({ notify, told, garden }) =>
    notify.courseProgress({ ...told, space_id: garden.id, progress_percent: 40 }),
  MemberJoinRequested: ({ notify, garden }) =>
    notify.joinRequest({ network: '1', email: 'dorothy@example.org', first_name: 'Dorothy', space_id: garden.id }),
  MemberJoined: ({ act, member, garden }) =>
    act('space_members.create', { space_id: garden.id }, undefined, { user_id: member.id }),
  MemberLeft: ({ act, member }) => act('members.delete', { id: member.id }),
  MemberLessonCompleted: async ({ act, notify, told, garden }) => {
    const course = { space_id: garden.id }
    const section = await act('courseworks.create', course, { type: 'section', title: 'Basics' })
    const lesson = await act('courseworks.create', course, { type: 'lesson', title: 'Soil', parent_id: section.id })
    await notify.lessonCompleted({ ...told, coursework_id: lesson.id })
  },
  MemberPlanChanged: async (t) => {
    const { subscription } = await subscribed(t)
    const other = await t.notify.plan({ network: '1', name: 'Founder', pricing_type: 'subscription' })
    await t.notify.planChanged({ network: '1', subscription_id: subscription.id, plan_id: other.id })
  },
  MemberPurchaseRequested: async ({ notify, told }) => {
    const plan = await notify.plan({ network: '1', name: 'Workshop', pricing_type: 'one_time' })
    await notify.purchaseRequested({ ...told, plan_id: plan.id })
  },
  MemberPurchased: async ({ notify, told }) => {
    const plan = await notify.plan({ network: '1', name: 'Workshop', pricing_type: 'one_time' })
    await notify.purchase({ ...told, plan_id: plan.id, tax_percent: 19, payment_platform: 'stripe' })
  },
  MemberRemovedFromPlan: async ({ act, notify, member }) => {
    const plan = await notify.plan({ network: '1', name: 'Friends' })
    await act('plan_members.create', { plan_id: plan.id }, undefined, { user_id: member.id })
    await act('plans.remove_member', { plan_id: plan.id, id: member.id })
  },
  MemberSubscriptionCanceled: async (t) => t.act('subscriptions.cancel', { id: (await subscribed(t)).subscription.id }),
  MemberSubscriptionRenewed: async (t) => {
    const { subscription } = await subscribed(t)
    const current_period_end = '2027-01-01T00:00:00Z'
    await t.notify.subscriptionRenewed({ network: '1', subscription_id: subscription.id, current_period_end })
  },
  MemberTagAdded: tagged,
  MemberTagRemoved: tagged,
  MemberUpdated: ({ act, member }) => act('members.update', { id: member.id }, { last_name: 'Hopper' }),
  MultipleChoicePollCreated: poll('multiple_choice'),
  MultipleChoicePollUpdated: poll('multiple_choice', { title: 'And then?' }),
  PercentagePollCreated: poll('percentage'),
  PercentagePollUpdated: poll('percentage', { title: 'And then?' }),
  PostCreated: post({}),
  PostUpdated: post({}, { title: 'Hello again' }),
  QuestionCreated: poll('question'),
  QuestionUpdated: poll('question', { title: 'And then?' }),
  ReactionCreated: reacted,
  ReactionDeleted: reacted,
  ReportedContentCreated: async ({ act, notify, told, garden }) => {
    const { id } = await act('posts.create', {}, { space_id: garden.id, title: 'Cheap shoes' })
    await notify.reportedContent({ ...told, targetable_type: 'Post', targetable_id: id, blacklist_type: 'spam' })
  },
  RsvpCreated: replied,
  RsvpDeleted: replied,
  RsvpUpdated: replied,
}

const names = Object.keys(catalogue) as WebhookName[]

test('the check of payloads finds fields that are missing, undocumented or wrong, however deep', () => {
  const payload = { member: { id: 7 }, course: null, progress_percent: 'half', extra: true }
  const problems = strictly(catalogue.MemberCourseProgressStarted, payload)
  expect(problems).toContain('payload.extra is not documented')
  expect(problems).toContain('payload.course is no object')
  expect(problems).toContain('payload.member.email is missing')
  expect(problems.filter((problem) => /^payload\.(?:member\.id|progress_percent): /.test(problem))).toHaveLength(2)
})

test.each(names)('%s is caused, and carries exactly its documented payload', async (name) => {
  const t = await setUp()
  t.newEvents()
  await causes[name](t)
  expect(t.faults).toEqual([])
  const caused = t.newEvents()
  expect(caused.map(({ event_type }) => event_type)).toContain(`${name}Hook`)
  for (const event of caused) {
    expect(Object.keys(event)).toEqual(['event_id', 'event_timestamp', 'event_type', 'payload'])
    const schema = catalogue[event.event_type.replace(/Hook$/, '') as WebhookName]
    expect({ [event.event_type]: strictly(schema, event.payload) }).toEqual({ [event.event_type]: [] })
  }
})
