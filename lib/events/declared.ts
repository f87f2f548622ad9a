/**
 * The declarations of events, each with the record that its webhook carries (interface.md, 10.3). On the wire a name has the suffix
 * `Hook`. Its sentence stands in `sentences.ts`, which the core does not load.
 */
import type * as v from 'valibot'
import { Comment } from '../records/comment.ts'
import { Event, EventPayload } from '../records/event.ts'
import { Member, MemberUpdate as MemberUpdateRequest } from '../records/member.ts'
import { Purchase, Subscription } from '../records/payment.ts'
import { HotColdPollPayload, MultipleChoicePollPayload, PercentagePollPayload, Poll } from '../records/poll.ts'
import { Post, PostPayload } from '../records/post.ts'
import { Reaction } from '../records/reaction.ts'
import { Rsvp } from '../records/rsvp.ts'
import { sayWhen } from '../storage/changes.ts'
import {
  AmbassadorLevelUp,
  AnswerCreated,
  AnswerRemoved,
  AnswerUpdated,
  CourseProgressComplete,
  CourseProgressStart,
  CourseProgressUpdate,
  CustomFieldNotification,
  EventInstanceCancel,
  GiftLeaderboard,
  InviteMail,
  InviteRequest,
  JoinRequest,
  LessonComplete,
  Mail,
  MemberBadgeAdd,
  MemberBadgeRemove,
  MemberJoin,
  MemberLeave,
  MemberTagAdd,
  MemberTagRemove,
  MemberUpdate,
  PostNotification,
  ReportedContent,
} from './payloads.ts'
import { about, buyer, member, post, reaction, request, rsvp, type SubjectRule } from './subject-rules.ts'

export interface EventDeclaration<S extends v.GenericSchema = v.GenericSchema> {
  readonly payload: S
  readonly description: string
  readonly subject: SubjectRule
}

/** Declares an event: its payload, what causes it and what it is good for in a sentence, and what it is about. */
const event = <S extends v.GenericSchema>(payload: S, description: string, subject: SubjectRule): EventDeclaration<S> => ({
  ...{ payload, description, subject },
})

export interface UpdateDeclaration<S extends v.GenericSchema = v.GenericSchema> extends EventDeclaration<S> {
  /** The names of the fields that may be named as changed. */
  readonly fields: readonly string[]
}

/**
 * Declares the event of an update.
 * @param records those whose fields it changes
 */
const update = <S extends v.GenericSchema>(
  payload: S,
  description: string,
  subject: SubjectRule,
  ...records: readonly { readonly entries: Readonly<Record<string, unknown>> }[]
): UpdateDeclaration<S> => ({
  ...event(payload, description, subject),
  fields: [...new Set(records.flatMap(({ entries }) => Object.keys(entries)))].filter((name) => !sayWhen.has(name)),
})

export const declared = {
  ArticleCreated: event(
    PostPayload,
    'A member or a key published an article. Use it to announce longer texts apart from posts.',
    post,
  ),
  ArticleUpdated: update(
    PostPayload,
    'The title or content of an article changed. Use it to keep a copy of it up to date.',
    post,
    Post,
  ),
  CommentCreated: event(
    Comment,
    'A comment on a post, poll, question or event was created, or a reply to one. Use it to notify the author or to moderate.',
    about('post', 'targetable_id'),
  ),
  CustomFieldResponseCreated: event(
    AnswerCreated,
    "A member's first answer to a custom field was given. Use it to copy profile data to another system.",
    member,
  ),
  CustomFieldResponseRemoved: event(
    AnswerRemoved,
    'An answer to a custom field was cleared or deleted. When a member leaves, their answers go without this event.',
    member,
  ),
  CustomFieldResponseUpdated: update(
    AnswerUpdated,
    'An answer to a custom field changed; the payload has the value before and now.',
    member,
    AnswerCreated,
  ),
  EventCanceled: event(
    EventPayload,
    'An event was deleted, with all its occurrences. Use it to take it out of calendars; its RSVPs go without an event.',
    post,
  ),
  EventCreated: event(EventPayload, 'An event was scheduled, once or as a series. Use it to put it into calendars.', post),
  EventInstanceCanceled: event(
    EventInstanceCancel,
    'The host called off one occurrence of a series; the others take place.',
    about('post', 'event.id'),
  ),
  EventUpdated: update(
    EventPayload,
    'An event changed, such as its time, its place or its series. Use it to correct calendars; RSVPs that move or go follow with events of their own.',
    post,
    Event,
    EventPayload,
  ),
  GiftLeaderboardUpdated: event(
    GiftLeaderboard,
    'The host worked out a leaderboard of gifts again. It has the whole leaderboard, so the latest one replaces all before.',
    about('gift_leaderboard', 'type'),
  ),
  HotColdPollCreated: event(HotColdPollPayload, 'A hot or cold poll was published, in which members answer on a scale.', post),
  HotColdPollUpdated: update(
    HotColdPollPayload,
    'The title or description of a hot or cold poll changed. Votes send nothing.',
    post,
    Poll,
  ),
  InviteRequested: event(
    InviteRequest,
    'A person requested an invitation to the network or a space, as the host reports it. Use it to decide and to invite them.',
    request,
  ),
  MemberAmbassadorLeveledUp: event(
    AmbassadorLevelUp,
    'A member reached a level by referrals, as the host reports it. Use it to thank or reward them.',
    member,
  ),
  MemberBadgeAdded: event(MemberBadgeAdd, 'A member got a badge that they did not have.', member),
  MemberBadgeRemoved: event(
    MemberBadgeRemove,
    'A member lost a badge, or the badge was deleted. When a member leaves, their badges go without this event.',
    member,
  ),
  MemberCourseProgressCompleted: event(
    CourseProgressComplete,
    'A member completed a course, as the host reports it. Use it for certificates.',
    member,
  ),
  MemberCourseProgressStarted: event(CourseProgressStart, 'A member began a course, as the host reports it.', member),
  MemberCourseProgressUpdated: event(
    CourseProgressUpdate,
    'A member got on with a course, as the host reports it; `progress_percent` shows how far.',
    member,
  ),
  MemberJoinRequested: event(
    JoinRequest,
    'A person requested to join the network or a space, as the host reports it. Use it to decide about them.',
    about('join_request', 'id'),
  ),
  MemberJoined: event(
    MemberJoin,
    'A person joined the network, or a space. It comes once for the network, whose id is then `space_id`, and once for each space.',
    member,
  ),
  MemberLeft: event(
    MemberLeave,
    'A member left, was removed, banned or deleted, or was taken out of a space. It comes once for the network, whose id is then `space_id`, and once for each space; it stands for their tags, answers and plans too.',
    member,
  ),
  MemberLessonCompleted: event(LessonComplete, 'A member completed a lesson, as the host reports it.', member),
  MemberPlanChanged: event(
    Subscription,
    'A subscriber moved to another plan, as the host reports it. The payload has the new plan.',
    buyer,
  ),
  MemberPurchaseRequested: event(
    InviteRequest,
    'A person requested to buy a plan, as the host reports it. Use it to contact them.',
    request,
  ),
  MemberPurchased: event(
    Purchase,
    'A member got a plan that they did not have, by a purchase, a subscription, a gift or an invite. Renewals and changes of plan have events of their own.',
    buyer,
  ),
  MemberRemovedFromPlan: event(
    Subscription,
    'A member lost a plan: they were taken off it, the plan was archived, or their purchase was revoked. A subscription that ends by itself sends nothing more.',
    buyer,
  ),
  MemberSubscriptionCanceled: event(
    Subscription,
    'A subscription was canceled, immediately or at the end of its period; `current_period_end` shows until when the plan stays open.',
    buyer,
  ),
  MemberSubscriptionRenewed: event(Subscription, 'A subscription was paid for another period, as the host reports it.', buyer),
  MemberTagAdded: event(
    MemberTagAdd,
    'A member got a tag that they did not have. Use it to put them on a list elsewhere.',
    member,
  ),
  MemberTagRemoved: event(
    MemberTagRemove,
    'A member lost a tag, or the tag was deleted. When a member leaves, their tags go without this event.',
    member,
  ),
  MemberUpdated: update(
    MemberUpdate,
    'The role, profile, address or consent of a member changed. Use it to keep a copy of their record up to date.',
    member,
    Member,
    MemberUpdateRequest,
  ),
  MultipleChoicePollCreated: event(
    MultipleChoicePollPayload,
    'A multiple-choice poll was published. The payload has its choices.',
    post,
  ),
  MultipleChoicePollUpdated: update(
    MultipleChoicePollPayload,
    'The title or description of a multiple-choice poll changed. Votes send nothing.',
    post,
    Poll,
  ),
  PercentagePollCreated: event(
    PercentagePollPayload,
    'A percentage poll was published, in which members share out percents.',
    post,
  ),
  PercentagePollUpdated: update(
    PercentagePollPayload,
    'The title or description of a percentage poll changed. Votes send nothing.',
    post,
    Poll,
  ),
  PostCreated: event(
    PostPayload,
    'A post, an announcement or an introduction was published. Articles, polls, questions and events have events of their own.',
    post,
  ),
  PostUpdated: update(
    PostPayload,
    'The title or content of a post, an announcement or an introduction changed. Use it to keep a copy of it up to date.',
    post,
    Post,
  ),
  QuestionCreated: event(
    PostPayload,
    'A question was published, which members answer in their own words. It has the payload of a post.',
    post,
  ),
  QuestionUpdated: update(
    PostPayload,
    'The title or description of a question changed. It has the payload of a post.',
    post,
    Post,
  ),
  ReactionCreated: event(
    Reaction,
    'A member reacted to a post or a comment, or replaced their reaction by another emoji.',
    reaction,
  ),
  ReactionDeleted: event(
    Reaction,
    'A member took back a reaction, or replaced it by another emoji. Reactions that go with a post, a comment or a member send nothing.',
    reaction,
  ),
  ReportedContentCreated: event(
    ReportedContent,
    'A member reported a post, a comment or a chat, as the host reports it. Use it to notify moderators.',
    about('reported_content', 'reported_content.id'),
  ),
  RsvpCreated: event(Rsvp, 'A member answered the invitation to an event, or to one occurrence of it, for the first time.', rsvp),
  RsvpDeleted: event(
    Rsvp,
    'An answer to an event was deleted, or its date went when the series changed. Answers that go with an event or a member send nothing.',
    rsvp,
  ),
  RsvpUpdated: update(Rsvp, 'An answer to an event changed, or moved along with its occurrence.', rsvp, Rsvp),
} as const

/**
 * Mail that the host is to send: it has the mailer, and these events reach its endpoint with the same durability as every
 * webhook. They go to endpoints of the audience `host` and to no others.
 */
export const declaredForHost = {
  WelcomeEmailRequested: event(Mail, 'Mail a welcome to a new member.', member),
  PasswordResetEmailRequested: event(Mail, 'Mail the member a way to set a new password.', member),
  InviteEmailRequested: event(
    InviteMail,
    'Mail an invite to the network or to a plan, for the first time or again.',
    about('invite', 'invite_id'),
  ),
  PostNotificationRequested: event(
    PostNotification,
    'Notify the members of the network of a new or changed post, poll or question.',
    about('post', 'post_id'),
  ),
  CustomFieldNotificationRequested: event(
    CustomFieldNotification,
    'Ask all members to answer a custom field that is visible now.',
    about('custom_field', 'custom_field.id'),
  ),
} as const
