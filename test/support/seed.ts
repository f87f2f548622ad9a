/**
 * A network with at least three of every kind of record, under ids that tests and documents can name. Rows go straight into
 * the storage, so that this file does not depend on the operations. Counters are set to the amounts of the rows.
 */

import { isoTime } from '../../lib/base/clock.ts'
import type { Options } from '../../lib/index.ts'
import { newTitle } from '../../lib/rules/titles.ts'
import { type ScopedTx, scoped } from '../../lib/storage/scoped.ts'
import type { Id, NewIn } from '../../lib/storage/table.ts'
import { abuseReports, assets, comments, courseworks, mutes, posts, reactions } from '../../lib/storage/tables/content.ts'
import { answers, customFields, memberSegments, segments } from '../../lib/storage/tables/custom-fields.ts'
import { canceledInstances, events, rsvps } from '../../lib/storage/tables/events.ts'
import { collections, members, spaceMemberships, spaces } from '../../lib/storage/tables/members.ts'
import { invites, planMemberships, planSpaces, plans, purchases, subscriptions } from '../../lib/storage/tables/plans.ts'
import { createTestCommunity, type Prepared, type TestCommunity } from './community.ts'
import { copiesOf, engine } from './engines.ts'

/** The ids of the seeded records that examples and tests name. */
export const seeded = {
  /** Belongs to every space, carries tags and badges, has answered and reacted. */
  member: '101',
  memberEmail: 'grace@example.org',
  /** Belongs to no space and to no plan, carries nothing. */
  loner: '104',
  /** A limited member of `space`. */
  limited: '105',
  /** Has every kind of content, and three members. */
  space: '201',
  /** Nothing refers to it, so that it can be deleted. */
  emptySpace: '204',
  collection: '251',
  emptyCollection: '253',
  tag: '301',
  /** Carried by no one. */
  spareTag: '304',
  badge: '311',
  spareBadge: '314',
  dropdown: '351',
  textField: '352',
  numberField: '353',
  option: '321',
  answer: '361',
  post: '401',
  /** Without a reaction of the owner. */
  otherPost: '402',
  poll: '411',
  event: '421',
  comment: '501',
  otherComment: '502',
  asset: '601',
  section: '701',
  lesson: '702',
  plan: '801',
  /** No one holds it. */
  sparePlan: '803',
  planInvite: '821',
  invite: '824',
  subscription: '841',
  purchase: '861',
  abuseReport: '881',
} as const

/**
 * A test community whose network is seeded.
 * @param options as for `createTestCommunity`
 * @param scopes what the test's token may do
 */
export async function createSeededCommunity(options: Partial<Options> = {}, scopes: readonly string[] = ['*']) {
  if (engine !== 'memory' && !options.storage) {
    prepared ??= prepare()
    return createTestCommunity(options, scopes, await prepared)
  }
  const test = await createTestCommunity(options, scopes)
  await seedNetwork(test)
  return test
}

let prepared: Promise<Prepared> | undefined

const seedNetwork = ({ storage, network, owner, clock }: TestCommunity) =>
  storage.transaction((tx) => seed(scoped(tx, network.id), owner.id, clock.now()))

/** The seeded network, to be copied. */
async function prepare(): Promise<Prepared> {
  let network: Omit<Prepared, 'copies'> | undefined
  const copies = await copiesOf(async (storage) => {
    const test = await createTestCommunity({ storage })
    await seedNetwork(test)
    network = test
  })
  if (!network) throw new Error('the network is made when this is reached')
  const { token, owner } = network
  return { copies, token, owner, network: network.network }
}

const day = 24 * 60 * 60 * 1000

/** Puts the rows of the seeded network into a storage. */
export async function seed(tx: ScopedTx, owner: Id, now: number): Promise<void> {
  const at = isoTime(now - 30 * day)
  const later = (days: number) => isoTime(now + days * day)
  const stamp = (id: number | string) => ({ id: String(id), created_at: at, updated_at: at })

  const member = (id: number, first_name: string, last_name: string, more: Partial<NewIn<typeof members>> = {}) => {
    const email = `${first_name.toLowerCase()}@example.org`
    return tx.insert(members, {
      ...stamp(id),
      email,
      email_key: email,
      first_name,
      last_name,
      commercial_email_consent: true,
      ...more,
    })
  }
  await member(101, 'Grace', 'Hopper', {
    time_zone: 'America/New_York',
    location: 'New York',
    bio: 'Compilers and clocks.',
    avatar: 'https://cdn.example.org/grace.png',
    referral_count: 3,
    ambassador_level: 'Gold',
    last_visited_at: at,
    categories: [{ id: '321', title: 'Gardeners' }],
  })
  await member(102, 'Alan', 'Turing', { role: 'moderator' })
  await member(103, 'Edsger', 'Dijkstra', { commercial_email_consent: false })
  await member(104, 'Barbara', 'Liskov')
  await member(105, 'Donald', 'Knuth', { member_type: 'limited' })

  for (const [index, name] of ['Getting started', 'Workshops', 'Archive'].entries())
    await tx.insert(collections, { ...stamp(251 + index), name, name_key: name.toLowerCase(), position: index + 1 })
  for (const [index, name] of ['Welcome', 'Garden', 'Kitchen', 'Attic'].entries())
    await tx.insert(spaces, {
      ...stamp(201 + index),
      name,
      ...(index < 3 ? { collection_id: '251', position: index + 1 } : {}),
    })
  let membership = 261
  for (const member_id of ['101', '102', '105', owner])
    await tx.insert(spaceMemberships, { ...stamp(membership++), space_id: '201', member_id, role: null })
  for (const space_id of ['202', '203'])
    await tx.insert(spaceMemberships, { ...stamp(membership++), space_id, member_id: '101', role: null })

  await seedFields(tx, owner, stamp, at)

  const post = (id: number, title: string, more: Partial<NewIn<typeof posts>> = {}) =>
    tx.insert(posts, {
      ...stamp(id),
      family: 'post',
      post_type: 'post',
      space_id: '201',
      creator_id: '101',
      title,
      description: `<p>${title}, at length.</p>`,
      summary: `${title}, at length.`,
      images: ['https://cdn.example.org/flowers.jpg'],
      content_type: 'text',
      published_at: at,
      last_activity_at: at,
      ...more,
    })
  await post(401, 'Hello')
  await post(402, 'The first harvest', { post_type: 'article', space_id: '202' })
  await post(403, 'Who is coming on Sunday?', { space_id: '203', creator_id: owner })
  const choices = ['Tomatoes', 'Beans', 'Pumpkins'].map((text, index) => ({ id: String(index + 1), text }))
  await post(411, 'What shall we plant?', { family: 'poll', post_type: 'poll', poll_type: 'multiple_choice_poll', choices })
  await post(412, 'How warm was it?', { family: 'poll', post_type: 'poll', poll_type: 'hot_cold_poll', choices })
  await post(413, 'How do we share the beds?', { family: 'poll', post_type: 'poll', poll_type: 'percentage_poll', choices })
  await post(414, 'What did you learn?', { family: 'poll', post_type: 'question' })
  for (const [index, title] of ['Planting day', 'Seed swap', 'Open kitchen'].entries()) {
    await post(421 + index, title, { family: 'event', post_type: 'event' })
    await tx.insert(events, {
      ...stamp(421 + index),
      post_id: String(421 + index),
      event_type: 'local_meetup',
      starts_at: later(7 + index),
      ends_at: isoTime(now + (7 + index) * day + 2 * 60 * 60 * 1000),
      time_zone: 'Europe/Berlin',
      location: 'The garden',
      link: 'https://example.org/garden',
      ...(index === 2 ? { frequency: 'weekly', interval: 1, recurrence_rule: 'FREQ=WEEKLY;INTERVAL=1' } : {}),
    })
  }
  for (const [index, member_id] of ['101', '102', '103'].entries())
    await tx.insert(rsvps, {
      ...stamp(431 + index),
      event_id: '421',
      member_id,
      status: (['yes', 'maybe', 'no'] as const)[index] ?? 'yes',
    })
  for (const index of [0, 1, 2])
    await tx.insert(canceledInstances, { ...stamp(441 + index), event_id: '423', instance_at: later(9 + 7 * (index + 1)) })

  const comment = (id: number, text: string, more: Partial<NewIn<typeof comments>> = {}) =>
    tx.insert(comments, { ...stamp(id), post_id: '401', space_id: '201', author_id: '102', text, depth: 0, ...more })
  await comment(501, 'Welcome!', { cheer_count: 3, reply_count: 1 })
  await comment(502, 'Good to have you here.')
  await comment(503, 'Thank you!', { author_id: '101', reply_to_id: '501', depth: 1 })
  for (const [index, member_id] of ['101', '102', owner].entries()) {
    const reaction = { space_id: '201', member_id, emoji: '👍🏽', base_emoji: '👍' }
    await tx.insert(reactions, { ...stamp(511 + index), ...reaction, post_id: '401' })
    await tx.insert(reactions, { ...stamp(521 + index), ...reaction, comment_id: '501' })
  }
  for (const [index, member_id] of ['101', '102', '103'].entries())
    await tx.insert(mutes, { ...stamp(531 + index), post_id: '401', member_id })

  const coursework = (id: number, title: string, more: Partial<NewIn<typeof courseworks>>) =>
    tx.insert(courseworks, {
      ...stamp(id),
      space_id: '201',
      type: 'lesson',
      title,
      status: 'posted',
      position: 1,
      completion_criteria: 'visited',
      unlocking_criteria: 'none',
      ...more,
    })
  await coursework(701, 'Basics', { type: 'section', children_count: 2 })
  await coursework(702, 'Soil', { parent_id: '701', description: 'What it is made of.' })
  await coursework(703, 'What have you learnt?', { type: 'quiz', parent_id: '701', position: 2 })

  await seedPayments(tx, owner, stamp, at, later)

  for (const [index, report_type] of (['spam', 'offensive', 'other'] as const).entries())
    await tx.insert(abuseReports, {
      ...stamp(881 + index),
      member_id: '101',
      targetable_id: '501',
      targetable_type: 'Comment',
      report_type,
      reason: 'Not what this place is for.',
      context_id: '401',
      context_type: 'Post',
      space_id: '201',
    })
}

type Stamp = (id: number | string) => { id: Id; created_at: string; updated_at: string }

/** Custom fields, their tags, badges and options, who carries them, and what members answered. */
async function seedFields(tx: ScopedTx, owner: Id, stamp: Stamp, at: string): Promise<void> {
  const [tagField] = await tx.find(customFields, { where: { response_type: 'tag' } })
  const [badgeField] = await tx.find(customFields, { where: { response_type: 'badge' } })
  if (!tagField || !badgeField) throw new Error('a network has a field for tags and one for badges')
  await tx.insert(customFields, {
    ...stamp(351),
    title: 'Interests',
    response_type: 'dropdown_multi_select',
    allow_ad_hoc: true,
    max_responses: 5,
    primary: true,
  })
  await tx.insert(customFields, { ...stamp(352), title: 'Motto', response_type: 'text_short', placeholder: 'A few words' })
  await tx.insert(customFields, { ...stamp(353), title: 'Age', response_type: 'number', min_value: 1, max_value: 150 })
  await tx.insert(customFields, { ...stamp(354), title: 'Home', response_type: 'location', location_granularity: 'city' })

  await tx.insert(assets, { ...stamp(601), ...asset('badge.png'), url: 'https://cdn.example.org/badge.png' })
  await tx.insert(assets, { ...stamp(602), ...asset('other.png'), url: 'https://cdn.example.org/other.png' })
  await tx.insert(assets, { ...stamp(603), ...asset('third.png') })

  const kinds = [
    { kind: 'tag', first: 301, field: tagField.id, titles: ['Gardener', 'Cook', 'Reader', 'Singer'] },
    { kind: 'badge', first: 311, field: badgeField.id, titles: ['Founder', 'Helper', 'Speaker', 'Teacher'] },
    { kind: 'option', first: 321, field: '351', titles: ['Gardeners', 'Cooks', 'Readers', 'Singers'] },
  ] as const
  let carried = 331
  for (const { kind, first, field, titles } of kinds)
    for (const [index, title] of titles.entries()) {
      const isCarried = index < 3
      await tx.insert(segments, {
        ...stamp(first + index),
        kind,
        custom_field_id: field,
        ...newTitle(title),
        description: `Who is a ${title}`,
        color: kind === 'option' ? null : '#00AA55',
        ...(kind === 'badge' ? { avatar_id: '601', avatar_url: 'https://cdn.example.org/badge.png' } : {}),
        member_count: isCarried ? 1 : 0,
        creator_id: owner,
      })
      if (isCarried)
        await tx.insert(memberSegments, {
          ...stamp(carried++),
          member_id: '101',
          segment_id: String(first + index),
          custom_field_id: field,
          kind,
        })
    }
  const answer = (id: number, custom_field_id: string, more: Partial<NewIn<typeof answers>> = {}) =>
    tx.insert(answers, { ...stamp(id), custom_field_id, member_id: '101', last_edited_at: at, ...more })
  await answer(361, '351')
  await answer(362, '352', { text: 'Slow and steady' })
  await answer(363, '353', { number: 42 })
}

const asset = (name: string) => ({
  type: 'image',
  name,
  asset_style: 'avatar',
  content_type: 'image/png',
  byte_size: 1024,
})

/** Plans, their members, their invites, and purchases. */
async function seedPayments(tx: ScopedTx, owner: Id, stamp: Stamp, at: string, later: (days: number) => string): Promise<void> {
  for (const [index, name] of ['Supporter', 'Patron', 'Founder'].entries())
    await tx.insert(plans, {
      ...stamp(801 + index),
      name,
      description: `For every ${name.toLowerCase()}`,
      pricing_type: index === 2 ? 'free' : 'subscription',
      amount: index === 2 ? 0 : 500,
    })
  for (const [index, space_id] of ['201', '202', '203'].entries())
    await tx.insert(planSpaces, { ...stamp(806 + index), plan_id: '802', space_id })
  let membership = 811
  for (const member_id of ['101', '102', '103'])
    await tx.insert(planMemberships, { ...stamp(membership++), plan_id: '801', member_id, source: 'direct' })
  for (const plan_id of ['802', '803'])
    for (const member_id of ['101', '102'])
      await tx.insert(planMemberships, { ...stamp(membership++), plan_id, member_id, source: 'direct' })

  for (const [index, name] of ['ada', 'bob', 'cleo', 'dora', 'emil', 'fred'].entries()) {
    const email = `${name}.invited@example.org`
    const plan_id = index < 3 ? '801' : null
    await tx.insert(invites, {
      ...stamp(821 + index),
      recipient_email: email,
      email_key: email,
      recipient_first_name: name,
      sender_id: owner,
      plan_id,
      sent_at: at,
      open_key: plan_id ? `${email} ${plan_id}` : email,
    })
  }
  for (const [index, member_id] of ['101', '102', '103'].entries()) {
    const snapshot = {
      id: '801',
      name: 'Supporter',
      amount: 500,
      currency: 'usd',
      interval: 'month',
      has_free_trial: false,
    }
    await tx.insert(subscriptions, {
      ...stamp(841 + index),
      member_id,
      plan_id: '801',
      plan: { ...snapshot, type: 'subscription' },
      current_period_start: at,
      current_period_end: later(1),
      payment_platform: 'stripe',
      purchased_at: at,
    })
    await tx.insert(purchases, {
      ...stamp(861 + index),
      member_id,
      plan_id: '801',
      plan: { ...snapshot, type: 'one-time-payment' },
      tax_percent: 19,
      payment_platform: 'stripe',
      purchased_at: at,
    })
  }
}
