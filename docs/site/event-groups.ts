/** The events by what they are about, in the order of their pages. The script that writes the pages checks that none is missing. */

export interface EventGroup {
  readonly title: string
  /** The names without `Hook`. */
  readonly names: readonly string[]
}

const group = (title: string, names: string): EventGroup => ({ title, names: names.split(' ') })

/** The events of the interface, which integrations get. */
export const eventGroups: readonly EventGroup[] = [
  group('Members', 'MemberJoined MemberLeft MemberUpdated MemberJoinRequested InviteRequested'),
  group('Tags and badges', 'MemberTagAdded MemberTagRemoved MemberBadgeAdded MemberBadgeRemoved'),
  group('Custom fields', 'CustomFieldResponseCreated CustomFieldResponseUpdated CustomFieldResponseRemoved'),
  group('Posts and articles', 'PostCreated PostUpdated ArticleCreated ArticleUpdated'),
  group('Comments and reactions', 'CommentCreated ReactionCreated ReactionDeleted'),
  group(
    'Polls and questions',
    'MultipleChoicePollCreated MultipleChoicePollUpdated PercentagePollCreated PercentagePollUpdated HotColdPollCreated HotColdPollUpdated QuestionCreated QuestionUpdated',
  ),
  group('Events and RSVPs', 'EventCreated EventUpdated EventCanceled EventInstanceCanceled RsvpCreated RsvpUpdated RsvpDeleted'),
  group(
    'Plans and payments',
    'MemberPurchaseRequested MemberPurchased MemberPlanChanged MemberSubscriptionRenewed MemberSubscriptionCanceled MemberRemovedFromPlan',
  ),
  group('Courses', 'MemberCourseProgressStarted MemberCourseProgressUpdated MemberCourseProgressCompleted MemberLessonCompleted'),
  group('Ambassadors', 'MemberAmbassadorLeveledUp GiftLeaderboardUpdated'),
  group('Reports', 'ReportedContentCreated'),
]

/** The events for the host alone. */
export const hostEvents: EventGroup = group(
  'For the host',
  'WelcomeEmailRequested PasswordResetEmailRequested InviteEmailRequested PostNotificationRequested CustomFieldNotificationRequested',
)
