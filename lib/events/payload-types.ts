/**
 * The payload of each event as a type with a name, which an editor shows of `event.payload` and a program can import. Its fields
 * follow from the event's declaration.
 */
import type * as v from 'valibot'
import type { declared, declaredForHost } from './declared.ts'

type Everything = typeof declared & typeof declaredForHost
type Fields<Name extends keyof Everything> = v.InferInput<Everything[Name]['payload']>

export interface ArticleCreatedPayload extends Fields<'ArticleCreated'> {}
export interface ArticleUpdatedPayload extends Fields<'ArticleUpdated'> {}
export interface CommentCreatedPayload extends Fields<'CommentCreated'> {}
export interface CustomFieldResponseCreatedPayload extends Fields<'CustomFieldResponseCreated'> {}
export interface CustomFieldResponseRemovedPayload extends Fields<'CustomFieldResponseRemoved'> {}
export interface CustomFieldResponseUpdatedPayload extends Fields<'CustomFieldResponseUpdated'> {}
export interface EventCanceledPayload extends Fields<'EventCanceled'> {}
export interface EventCreatedPayload extends Fields<'EventCreated'> {}
export interface EventInstanceCanceledPayload extends Fields<'EventInstanceCanceled'> {}
export interface EventUpdatedPayload extends Fields<'EventUpdated'> {}
export interface GiftLeaderboardUpdatedPayload extends Fields<'GiftLeaderboardUpdated'> {}
export interface HotColdPollCreatedPayload extends Fields<'HotColdPollCreated'> {}
export interface HotColdPollUpdatedPayload extends Fields<'HotColdPollUpdated'> {}
export interface InviteRequestedPayload extends Fields<'InviteRequested'> {}
export interface MemberAmbassadorLeveledUpPayload extends Fields<'MemberAmbassadorLeveledUp'> {}
export interface MemberBadgeAddedPayload extends Fields<'MemberBadgeAdded'> {}
export interface MemberBadgeRemovedPayload extends Fields<'MemberBadgeRemoved'> {}
export interface MemberCourseProgressCompletedPayload extends Fields<'MemberCourseProgressCompleted'> {}
export interface MemberCourseProgressStartedPayload extends Fields<'MemberCourseProgressStarted'> {}
export interface MemberCourseProgressUpdatedPayload extends Fields<'MemberCourseProgressUpdated'> {}
export interface MemberJoinRequestedPayload extends Fields<'MemberJoinRequested'> {}
export interface MemberJoinedPayload extends Fields<'MemberJoined'> {}
export interface MemberLeftPayload extends Fields<'MemberLeft'> {}
export interface MemberLessonCompletedPayload extends Fields<'MemberLessonCompleted'> {}
export interface MemberPlanChangedPayload extends Fields<'MemberPlanChanged'> {}
export interface MemberPurchaseRequestedPayload extends Fields<'MemberPurchaseRequested'> {}
export interface MemberPurchasedPayload extends Fields<'MemberPurchased'> {}
export interface MemberRemovedFromPlanPayload extends Fields<'MemberRemovedFromPlan'> {}
export interface MemberSubscriptionCanceledPayload extends Fields<'MemberSubscriptionCanceled'> {}
export interface MemberSubscriptionRenewedPayload extends Fields<'MemberSubscriptionRenewed'> {}
export interface MemberTagAddedPayload extends Fields<'MemberTagAdded'> {}
export interface MemberTagRemovedPayload extends Fields<'MemberTagRemoved'> {}
export interface MemberUpdatedPayload extends Fields<'MemberUpdated'> {}
export interface MultipleChoicePollCreatedPayload extends Fields<'MultipleChoicePollCreated'> {}
export interface MultipleChoicePollUpdatedPayload extends Fields<'MultipleChoicePollUpdated'> {}
export interface PercentagePollCreatedPayload extends Fields<'PercentagePollCreated'> {}
export interface PercentagePollUpdatedPayload extends Fields<'PercentagePollUpdated'> {}
export interface PostCreatedPayload extends Fields<'PostCreated'> {}
export interface PostUpdatedPayload extends Fields<'PostUpdated'> {}
export interface QuestionCreatedPayload extends Fields<'QuestionCreated'> {}
export interface QuestionUpdatedPayload extends Fields<'QuestionUpdated'> {}
export interface ReactionCreatedPayload extends Fields<'ReactionCreated'> {}
export interface ReactionDeletedPayload extends Fields<'ReactionDeleted'> {}
export interface ReportedContentCreatedPayload extends Fields<'ReportedContentCreated'> {}
export interface RsvpCreatedPayload extends Fields<'RsvpCreated'> {}
export interface RsvpDeletedPayload extends Fields<'RsvpDeleted'> {}
export interface RsvpUpdatedPayload extends Fields<'RsvpUpdated'> {}
export interface WelcomeEmailRequestedPayload extends Fields<'WelcomeEmailRequested'> {}
export interface PasswordResetEmailRequestedPayload extends Fields<'PasswordResetEmailRequested'> {}
export interface InviteEmailRequestedPayload extends Fields<'InviteEmailRequested'> {}
export interface PostNotificationRequestedPayload extends Fields<'PostNotificationRequested'> {}
export interface CustomFieldNotificationRequestedPayload extends Fields<'CustomFieldNotificationRequested'> {}

/** The payload of every event, by its name without `Hook`. An event that is missing here does not compile. */
export interface Payloads {
  readonly ArticleCreated: ArticleCreatedPayload
  readonly ArticleUpdated: ArticleUpdatedPayload
  readonly CommentCreated: CommentCreatedPayload
  readonly CustomFieldResponseCreated: CustomFieldResponseCreatedPayload
  readonly CustomFieldResponseRemoved: CustomFieldResponseRemovedPayload
  readonly CustomFieldResponseUpdated: CustomFieldResponseUpdatedPayload
  readonly EventCanceled: EventCanceledPayload
  readonly EventCreated: EventCreatedPayload
  readonly EventInstanceCanceled: EventInstanceCanceledPayload
  readonly EventUpdated: EventUpdatedPayload
  readonly GiftLeaderboardUpdated: GiftLeaderboardUpdatedPayload
  readonly HotColdPollCreated: HotColdPollCreatedPayload
  readonly HotColdPollUpdated: HotColdPollUpdatedPayload
  readonly InviteRequested: InviteRequestedPayload
  readonly MemberAmbassadorLeveledUp: MemberAmbassadorLeveledUpPayload
  readonly MemberBadgeAdded: MemberBadgeAddedPayload
  readonly MemberBadgeRemoved: MemberBadgeRemovedPayload
  readonly MemberCourseProgressCompleted: MemberCourseProgressCompletedPayload
  readonly MemberCourseProgressStarted: MemberCourseProgressStartedPayload
  readonly MemberCourseProgressUpdated: MemberCourseProgressUpdatedPayload
  readonly MemberJoinRequested: MemberJoinRequestedPayload
  readonly MemberJoined: MemberJoinedPayload
  readonly MemberLeft: MemberLeftPayload
  readonly MemberLessonCompleted: MemberLessonCompletedPayload
  readonly MemberPlanChanged: MemberPlanChangedPayload
  readonly MemberPurchaseRequested: MemberPurchaseRequestedPayload
  readonly MemberPurchased: MemberPurchasedPayload
  readonly MemberRemovedFromPlan: MemberRemovedFromPlanPayload
  readonly MemberSubscriptionCanceled: MemberSubscriptionCanceledPayload
  readonly MemberSubscriptionRenewed: MemberSubscriptionRenewedPayload
  readonly MemberTagAdded: MemberTagAddedPayload
  readonly MemberTagRemoved: MemberTagRemovedPayload
  readonly MemberUpdated: MemberUpdatedPayload
  readonly MultipleChoicePollCreated: MultipleChoicePollCreatedPayload
  readonly MultipleChoicePollUpdated: MultipleChoicePollUpdatedPayload
  readonly PercentagePollCreated: PercentagePollCreatedPayload
  readonly PercentagePollUpdated: PercentagePollUpdatedPayload
  readonly PostCreated: PostCreatedPayload
  readonly PostUpdated: PostUpdatedPayload
  readonly QuestionCreated: QuestionCreatedPayload
  readonly QuestionUpdated: QuestionUpdatedPayload
  readonly ReactionCreated: ReactionCreatedPayload
  readonly ReactionDeleted: ReactionDeletedPayload
  readonly ReportedContentCreated: ReportedContentCreatedPayload
  readonly RsvpCreated: RsvpCreatedPayload
  readonly RsvpDeleted: RsvpDeletedPayload
  readonly RsvpUpdated: RsvpUpdatedPayload
  readonly WelcomeEmailRequested: WelcomeEmailRequestedPayload
  readonly PasswordResetEmailRequested: PasswordResetEmailRequestedPayload
  readonly InviteEmailRequested: InviteEmailRequestedPayload
  readonly PostNotificationRequested: PostNotificationRequestedPayload
  readonly CustomFieldNotificationRequested: CustomFieldNotificationRequestedPayload
}
