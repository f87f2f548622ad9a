/**
 * The subject of an event. Endpoints with `order: 'subject'` get the events of one subject one at a time, in the recorded
 * order. So a receiver that keeps the last write ends with the right state.
 *
 * A subject covers the data that receivers keep in one place. Everything about a member (profile, plans, tags, badges, courses,
 * answers) is one subject, and so are a post and its comments.
 */
import type { EventName } from './catalogue.ts'

type Rule = (payload: unknown) => string | undefined

/** A field of a payload by its path, as text; ids may be written as numbers. */
function at(payload: unknown, path: readonly string[]): string | undefined {
  let value = payload
  for (const name of path) value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

function about(kind: string, ...fields: readonly string[]): Rule {
  const paths = fields.map((field) => field.split('.'))
  return (payload) => {
    let subject = kind
    for (const path of paths) {
      const part = at(payload, path)
      if (part === undefined) return undefined
      subject += `:${part}`
    }
    return subject
  }
}
const either =
  (...rules: readonly Rule[]): Rule =>
  (payload) => {
    for (const rule of rules) {
      const subject = rule(payload)
      if (subject !== undefined) return subject
    }
    return undefined
  }

const member = about('member', 'member.id')
const buyer = about('member', 'member_id')
const post = about('post', 'id')
/** Somebody who asks may be a member already. */
const request = either(buyer, about('invite_request', 'id'))
/** A reaction or an answer that is made again has another id. */
const reaction = about('reaction', 'targetable_type', 'targetable_id', 'member_id')
const rsvp = about('rsvp', 'event.id', 'member.id')

/** The rule of every event. */
const rules: Readonly<Record<EventName, Rule>> = {
  ArticleCreated: post,
  ArticleUpdated: post,
  CommentCreated: about('post', 'targetable_id'),
  CustomFieldResponseCreated: member,
  CustomFieldResponseRemoved: member,
  CustomFieldResponseUpdated: member,
  EventCanceled: post,
  EventCreated: post,
  EventInstanceCanceled: about('post', 'event.id'),
  EventUpdated: post,
  GiftLeaderboardUpdated: about('gift_leaderboard', 'type'),
  HotColdPollCreated: post,
  HotColdPollUpdated: post,
  InviteRequested: request,
  MemberAmbassadorLeveledUp: member,
  MemberBadgeAdded: member,
  MemberBadgeRemoved: member,
  MemberCourseProgressCompleted: member,
  MemberCourseProgressStarted: member,
  MemberCourseProgressUpdated: member,
  MemberJoinRequested: about('join_request', 'id'),
  MemberJoined: member,
  MemberLeft: member,
  MemberLessonCompleted: member,
  MemberPlanChanged: buyer,
  MemberPurchaseRequested: request,
  MemberPurchased: buyer,
  MemberRemovedFromPlan: buyer,
  MemberSubscriptionCanceled: buyer,
  MemberSubscriptionRenewed: buyer,
  MemberTagAdded: member,
  MemberTagRemoved: member,
  MemberUpdated: member,
  MultipleChoicePollCreated: post,
  MultipleChoicePollUpdated: post,
  PercentagePollCreated: post,
  PercentagePollUpdated: post,
  PostCreated: post,
  PostUpdated: post,
  QuestionCreated: post,
  QuestionUpdated: post,
  ReactionCreated: reaction,
  ReactionDeleted: reaction,
  ReportedContentCreated: about('reported_content', 'reported_content.id'),
  RsvpCreated: rsvp,
  RsvpDeleted: rsvp,
  RsvpUpdated: rsvp,
  WelcomeEmailRequested: member,
  PasswordResetEmailRequested: member,
  InviteEmailRequested: about('invite', 'invite_id'),
  PostNotificationRequested: about('post', 'post_id'),
  CustomFieldNotificationRequested: about('custom_field', 'custom_field.id'),
}

const ruleOf: ReadonlyMap<string, Rule> = new Map(
  Object.entries(rules).flatMap(([name, rule]) => [
    [name, rule],
    [`${name}Hook`, rule],
  ]),
)

/**
 * The subject of an event, or undefined when its payload does not name one.
 * @param event_type the name of the event, with or without its suffix `Hook`
 * @param payload as it goes over the wire
 */
export function subjectOf(event_type: string, payload: unknown): string | undefined {
  const subject = ruleOf.get(event_type)?.(payload)
  return subject !== undefined && subject.length <= 200 ? subject : undefined
}
