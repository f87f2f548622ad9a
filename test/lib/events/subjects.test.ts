import { expect, test } from 'vitest'
import { catalogue, hostCatalogue, subjectOf } from '../../../lib/events/catalogue.ts'

test('all that happens to a member is about the member, plans and purchases included', () => {
  const member = { member: { id: '7' } }
  const subscription = { member_id: '7', subscription: { id: '1' } }
  for (const name of ['MemberUpdatedHook', 'MemberTagAddedHook', 'MemberLeftHook', 'CustomFieldResponseUpdatedHook'])
    expect(subjectOf(name, member)).toBe('member:7')
  for (const name of ['MemberPlanChanged', 'MemberPurchased', 'MemberSubscriptionCanceled', 'MemberRemovedFromPlan'])
    expect(subjectOf(name, subscription)).toBe('member:7')
})

test('a post, its comments and its notices share a subject', () => {
  expect(subjectOf('PostUpdatedHook', { id: '9' })).toBe('post:9')
  expect(subjectOf('CommentCreatedHook', { id: '10', targetable_id: 9, targetable_type: 'Post' })).toBe('post:9')
  expect(subjectOf('EventInstanceCanceledHook', { event: { id: '9' } })).toBe('post:9')
})

test('a reaction that is taken back and made again keeps its subject, and so does an answer to an event', () => {
  const reaction = { targetable_type: 'Post', targetable_id: '9', member_id: '7' }
  expect(subjectOf('ReactionDeletedHook', { id: '1', ...reaction })).toBe(
    subjectOf('ReactionCreatedHook', { id: '2', ...reaction }),
  )
  const rsvp = { event: { id: '9' }, member: { id: '7' } }
  expect(subjectOf('RsvpDeletedHook', { id: '1', ...rsvp })).toBe(subjectOf('RsvpCreatedHook', { id: '2', ...rsvp }))
})

test('an event without names, and an unknown event, have no subject', () => {
  for (const payload of [undefined, null, 1, 'x', [], {}, { member: null }, { member: { id: 'x'.repeat(300) } }])
    for (const name of ['MemberUpdatedHook', 'TestHook', 'toString', '']) expect(subjectOf(name, payload)).toBeUndefined()
})

test('every event has a rule', () => {
  const user = { id: '1' }
  // A payload with all that events are distinguished by.
  const whole = { ...user, member: user, event: user, reported_content: user, custom_field: user, type: 'sent', member_id: '1' }
  const payload = { ...whole, targetable_id: '1', targetable_type: 'Post', invite_id: '1', post_id: '1' }
  for (const name of [...Object.keys(catalogue), ...Object.keys(hostCatalogue)])
    expect(subjectOf(name, payload)).toMatch(/^[a-z_]+:/)
})
