/**
 * The 47 kinds of event, each with the record that its webhook carries (specification, section 6). On the wire a name has
 * the suffix `Hook`.
 */
import type * as v from 'valibot'
import type { Id as IdText } from '../base/ids.ts'
import { describe, Id, Integer, listOf, oneOf, orNull, publish, record, Text, Timestamp } from '../fields.ts'
import { Comment } from '../records/comment.ts'
import { Coursework } from '../records/coursework.ts'
import { CustomField } from '../records/custom-field.ts'
import { EventInstance, EventPayload } from '../records/event.ts'
import { Member } from '../records/member.ts'
import { Purchase, Subscription } from '../records/payment.ts'
import { HotColdPollPayload, MultipleChoicePollPayload, PercentagePollPayload } from '../records/poll.ts'
import { PostPayload } from '../records/post.ts'
import { Reaction } from '../records/reaction.ts'
import { Rsvp } from '../records/rsvp.ts'
import { Badge, Segment, Tag } from '../records/segment.ts'
import { Space } from '../records/space.ts'

const memberInSpace = { member: Member, space_id: Id, network_id: Id }
const memberOnCourse = { member: Member, course: Space, progress_percent: orNull(Integer) }

const MemberUpdate = record('MemberUpdatePayload', { member: Member, space_id: orNull(Id), network_id: Id })
const MemberJoin = record('MemberJoinPayload', memberInSpace)
const MemberLeave = record('MemberLeavePayload', memberInSpace)
const MemberTagAdd = record('MemberTagAddPayload', { member: Member, tag: Tag, network_id: Id })
const MemberTagRemove = record('MemberTagRemovePayload', { member: Member, tag: Tag, network_id: Id })
const MemberBadgeAdd = record('MemberBadgeAddPayload', { member: Member, badge: Badge, network_id: Id })
const MemberBadgeRemove = record('MemberBadgeRemovePayload', { member: Member, badge: Badge, network_id: Id })
const CourseProgressStart = record('MemberCourseProgressStartPayload', memberOnCourse)
const CourseProgressUpdate = record('MemberCourseProgressUpdatePayload', memberOnCourse)
const CourseProgressComplete = record('MemberCourseProgressCompletePayload', memberOnCourse)
const LessonComplete = record('MemberLessonCompletePayload', { member: Member, course: Space, lesson: Coursework })
const EventInstanceCancel = record('EventInstanceCancelPayload', { event: EventPayload, event_instance: EventInstance })

const AmbassadorLevelId = publish(describe(Id, 'A level'), {
  type: 'string',
  enum: ['1', '2', '3'],
  description: '1 Bronze, 2 Silver, 3 Gold.',
})

const AmbassadorLevelUp = record('MemberAmbassadorLevelUpPayload', {
  member: Member,
  network_id: Id,
  ambassador_level_id: AmbassadorLevelId,
  ambassador_level_name: Text,
  referral_count: Integer,
})

const JoinRequest = record('MemberJoinRequestPayload', {
  id: Id,
  created_at: Timestamp,
  email: orNull(Text),
  first_name: orNull(Text),
  last_name: orNull(Text),
  space: orNull(Space),
})

const InviteRequest = record('InviteRequestRequest', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  network_id: Id,
  space_id: orNull(Id),
  plan_id: orNull(Id),
  member_id: orNull(Id),
  member_email: Text,
  member_first_name: Text,
  member_last_name: Text,
  member_location: orNull(Text),
  member_avatar: orNull(Text),
  status: oneOf('pending', 'approved', 'rejected', 'invalid'),
  referred_by_user_id: orNull(Id),
})

const ReportedContent = record('ReportedContentCreatedPayload', {
  reported_content: record('ReportedContentResponse', {
    id: Id,
    created_at: Timestamp,
    updated_at: Timestamp,
    user_id: Id,
    targetable_id: Id,
    targetable_type: oneOf('Post', 'Comment', 'Chat'),
    blacklist_type: oneOf('spam', 'offensive', 'other', 'not_interesting'),
    reason: orNull(Text),
    space_id: Id,
    network_id: Id,
  }),
})

const GiftLeaderboard = record('GiftLeaderboardUpdatedPayload', {
  network_id: Id,
  recalculated_at: Timestamp,
  type: oneOf('received', 'sent'),
  gift_definition: orNull(record('GiftDefinitionResponse', { id: Id, name: Text })),
  entries: record('GiftLeaderboardEntriesByPeriodResponse', {
    all_time: listOf(record('GiftLeaderboardEntryResponse', { rank: Integer, member: Member, count: Integer })),
  }),
})

const answer = { member: Member, custom_field: CustomField, network_id: Id }
const AnswerCreated = record('CustomFieldResponseCreatedPayload', { ...answer, text: orNull(Text), segments: listOf(Segment) })
const AnswerRemoved = record('CustomFieldResponseRemovedPayload', { ...answer, text: orNull(Text), segments: listOf(Segment) })
const AnswerUpdated = record('CustomFieldResponseUpdatedPayload', {
  ...answer,
  previous_text: orNull(Text),
  new_text: orNull(Text),
  previous_segments: listOf(Segment),
  new_segments: listOf(Segment),
})

/** Every event of the interface and its payload. */
export const catalogue = {
  ArticleCreated: PostPayload,
  ArticleUpdated: PostPayload,
  CommentCreated: Comment,
  CustomFieldResponseCreated: AnswerCreated,
  CustomFieldResponseRemoved: AnswerRemoved,
  CustomFieldResponseUpdated: AnswerUpdated,
  EventCanceled: EventPayload,
  EventCreated: EventPayload,
  EventInstanceCanceled: EventInstanceCancel,
  EventUpdated: EventPayload,
  GiftLeaderboardUpdated: GiftLeaderboard,
  HotColdPollCreated: HotColdPollPayload,
  HotColdPollUpdated: HotColdPollPayload,
  InviteRequested: InviteRequest,
  MemberAmbassadorLeveledUp: AmbassadorLevelUp,
  MemberBadgeAdded: MemberBadgeAdd,
  MemberBadgeRemoved: MemberBadgeRemove,
  MemberCourseProgressCompleted: CourseProgressComplete,
  MemberCourseProgressStarted: CourseProgressStart,
  MemberCourseProgressUpdated: CourseProgressUpdate,
  MemberJoinRequested: JoinRequest,
  MemberJoined: MemberJoin,
  MemberLeft: MemberLeave,
  MemberLessonCompleted: LessonComplete,
  MemberPlanChanged: Subscription,
  MemberPurchaseRequested: InviteRequest,
  MemberPurchased: Purchase,
  MemberRemovedFromPlan: Subscription,
  MemberSubscriptionCanceled: Subscription,
  MemberSubscriptionRenewed: Subscription,
  MemberTagAdded: MemberTagAdd,
  MemberTagRemoved: MemberTagRemove,
  MemberUpdated: MemberUpdate,
  MultipleChoicePollCreated: MultipleChoicePollPayload,
  MultipleChoicePollUpdated: MultipleChoicePollPayload,
  PercentagePollCreated: PercentagePollPayload,
  PercentagePollUpdated: PercentagePollPayload,
  PostCreated: PostPayload,
  PostUpdated: PostPayload,
  QuestionCreated: PostPayload,
  QuestionUpdated: PostPayload,
  ReactionCreated: Reaction,
  ReactionDeleted: Reaction,
  ReportedContentCreated: ReportedContent,
  RsvpCreated: Rsvp,
  RsvpDeleted: Rsvp,
  RsvpUpdated: Rsvp,
} as const

const Mail = record('HostMailPayload', { member: Member, email: Text, network_id: Id })

/**
 * Mail that the host is to send: it has the mailer, and these events reach its endpoint with the same durability as every
 * webhook. They go to endpoints of the audience `host` and to no others.
 */
export const hostCatalogue = {
  WelcomeEmailRequested: Mail,
  PasswordResetEmailRequested: Mail,
  InviteEmailRequested: record('InviteMailPayload', {
    invite_id: Id,
    recipient_email: Text,
    recipient_first_name: Text,
    recipient_last_name: Text,
    sender_id: Id,
    plan_id: orNull(Id),
    message: orNull(Text),
    network_id: Id,
  }),
  /** `muted_member_ids`: the members who have switched off the notifications of this post. */
  PostNotificationRequested: record('PostNotificationPayload', {
    post_id: Id,
    space_id: Id,
    title: Text,
    muted_member_ids: listOf(Id),
    network_id: Id,
  }),
  CustomFieldNotificationRequested: record('CustomFieldNotificationPayload', { custom_field: CustomField, network_id: Id }),
} as const

/** An event for integrations, without the `Hook` that it ends in on the wire. Specification, section 6. */
export type WebhookName = keyof typeof catalogue
/** An event for the host alone, such as mail to send. */
export type HostEventName = keyof typeof hostCatalogue
export type EventName = WebhookName | HostEventName

/** The payload that `emit` takes for an event. */
export type PayloadOf<Name extends EventName> = v.InferInput<(typeof everything)[Name]>

/** An event as a receiver gets it, by its name without `Hook`. */
export interface EventOf<Name extends EventName> {
  /** The same on every attempt; receivers de-duplicate by it. */
  readonly event_id: string
  readonly event_type: `${Name}Hook`
  /** ISO 8601, UTC. */
  readonly event_timestamp: string
  readonly payload: PayloadOf<Name>
}

/** Any event of the interface. Compare `event_type`, and TypeScript narrows `payload`. */
export type WebhookEvent = { [Name in WebhookName]: EventOf<Name> }[WebhookName]

/** A committed event, as hooks see it. Compare `event_type`, and TypeScript narrows `payload`. */
export type CommittedEvent = { [Name in EventName]: EventOf<Name> & { readonly network_id: IdText } }[EventName]

const everything = { ...catalogue, ...hostCatalogue }

/** The payload schema of an event. */
export function payloadSchema(name: EventName): v.GenericSchema {
  return everything[name]
}

/** Whether an event is for the host's own endpoint alone. */
export const isForHost = (name: string): name is HostEventName => Object.hasOwn(hostCatalogue, name)

const unsuffixed = (text: string): string => text.replace(/Hook$/, '')
const isIn = <C extends object>(names: C, name: string): name is keyof C & string => Object.hasOwn(names, name)

/** The event of the interface that a text names, with or without its suffix `Hook`. */
export function webhookName(text: string): WebhookName | undefined {
  const name = unsuffixed(text)
  return isIn(catalogue, name) ? name : undefined
}

/** The event for the host that a text names, with or without its suffix `Hook`. */
export function hostEventName(text: string): HostEventName | undefined {
  const name = unsuffixed(text)
  return isIn(hostCatalogue, name) ? name : undefined
}
