/** The records that webhooks carry and that no response of the API contains. */
import { describe, Id, Integer, listOf, oneOf, orNull, publish, record, Text, Timestamp } from '../fields.ts'
import { Coursework } from '../records/coursework.ts'
import { CustomField } from '../records/custom-field.ts'
import { EventInstance, EventPayload } from '../records/event.ts'
import { Member } from '../records/member.ts'
import { Badge, Segment, Tag } from '../records/segment.ts'
import { Space } from '../records/space.ts'
import { NetworkId, stamps } from '../records/stamps.ts'

const network_id = describe(Id, 'The network in which it happened.')
const about = describe(Member, 'The member whom it is about, as their record is now.')

const memberInSpace = {
  member: about,
  space_id: describe(Id, "The space; the network's own id stands for the network as a whole."),
  network_id,
}
const memberOnCourse = {
  member: about,
  course: describe(Space, 'The space that holds the course.'),
  progress_percent: describe(
    orNull(Integer),
    'How much of the course the member has completed, from 0 to 100; null if the host does not say.',
  ),
}

export const MemberUpdate = record('MemberUpdatePayload', {
  member: about,
  space_id: describe(orNull(Id), 'The space within which the member was changed; null for a change in the network.'),
  network_id,
})
export const MemberJoin = record('MemberJoinPayload', memberInSpace)
export const MemberLeave = record('MemberLeavePayload', {
  ...memberInSpace,
  member: describe(Member, 'The member as they were: the last record that shows their address.'),
})

const withTag = { member: about, tag: describe(Tag, 'The tag that they got or lost.'), network_id }
const withBadge = { member: about, badge: describe(Badge, 'The badge that they got or lost.'), network_id }
export const MemberTagAdd = record('MemberTagAddPayload', withTag)
export const MemberTagRemove = record('MemberTagRemovePayload', withTag)
export const MemberBadgeAdd = record('MemberBadgeAddPayload', withBadge)
export const MemberBadgeRemove = record('MemberBadgeRemovePayload', withBadge)

export const CourseProgressStart = record('MemberCourseProgressStartPayload', memberOnCourse)
export const CourseProgressUpdate = record('MemberCourseProgressUpdatePayload', memberOnCourse)
export const CourseProgressComplete = record('MemberCourseProgressCompletePayload', memberOnCourse)
export const LessonComplete = record('MemberLessonCompletePayload', {
  member: about,
  course: memberOnCourse.course,
  lesson: describe(Coursework, 'The lesson that the member has completed.'),
})

export const EventInstanceCancel = record('EventInstanceCancelPayload', {
  event: describe(EventPayload, 'The series, which goes on.'),
  event_instance: describe(EventInstance, 'The occurrence that does not take place.'),
})

const AmbassadorLevelId = publish(describe(Id, 'A level'), {
  type: 'string',
  enum: ['1', '2', '3'],
  description: 'The new level: 1 Bronze, 2 Silver, 3 Gold.',
})

export const AmbassadorLevelUp = record('MemberAmbassadorLevelUpPayload', {
  member: about,
  network_id,
  ambassador_level_id: AmbassadorLevelId,
  ambassador_level_name: describe(Text, 'The name of the new level, as `ambassador_level` of the member shows it.'),
  referral_count: describe(Integer, 'The number of people who joined by an invite of the member.'),
})

export const JoinRequest = record('MemberJoinRequestPayload', {
  id: describe(Id, 'The id of the request. The API has no operation that shows it.'),
  created_at: describe(Timestamp, 'When the request was made, in UTC.'),
  email: describe(orNull(Text), 'Their address as they gave it; that of a member may be empty or masked, as in their record.'),
  first_name: describe(orNull(Text), 'Their first name; empty if they gave none.'),
  last_name: describe(orNull(Text), 'Their last name; empty if they gave none.'),
  space: describe(orNull(Space), 'The space that they want to join; null for the network.'),
})

export const InviteRequest = record('InviteRequestRequest', {
  ...stamps,
  id: describe(Id, 'The id of the request. The API has no operation that shows it.'),
  network_id,
  space_id: describe(orNull(Id), 'The space that they want to be invited to; null for the network or a plan.'),
  plan_id: describe(orNull(Id), 'The plan that they want to buy; null for a request to be invited.'),
  member_id: describe(orNull(Id), 'The member who made the request; null for a person who is not a member.'),
  member_email: describe(Text, 'Their address as they gave it; that of a member may be empty or masked, as in their record.'),
  member_first_name: describe(Text, 'Their first name; empty if they gave none.'),
  member_last_name: describe(Text, 'Their last name; empty if they gave none.'),
  member_location: describe(orNull(Text), 'Where they live, in their own words; null if they do not say.'),
  member_avatar: describe(orNull(Text), 'The address of their picture; null if they have none.'),
  status: describe(oneOf('pending', 'approved', 'rejected', 'invalid'), 'What became of the request; `pending` when it is new.'),
  referred_by_user_id: describe(orNull(Id), 'The member who sent them; null without one.'),
})

export const ReportedContent = record('ReportedContentCreatedPayload', {
  reported_content: describe(
    record('ReportedContentResponse', {
      ...stamps,
      user_id: describe(Id, 'The member who made the report.'),
      targetable_id: describe(Id, 'The id of what was reported; `targetable_type` names its kind.'),
      targetable_type: describe(oneOf('Post', 'Comment', 'Chat'), 'The kind of content. Only the host keeps chats.'),
      blacklist_type: describe(
        oneOf('spam', 'offensive', 'other', 'not_interesting'),
        'Why the member reported it. `other` stands for impersonation too.',
      ),
      reason: describe(orNull(Text), 'What the member wrote about it; null if they wrote nothing.'),
      space_id: describe(Id, 'The space of the content.'),
      network_id: NetworkId,
    }),
    'The report, under the same id as in the list of abuse reports, unless it is about a chat.',
  ),
})

const GiftLeaderboardEntry = record('GiftLeaderboardEntryResponse', {
  rank: describe(Integer, 'The place, from 1. Members with equal counts share one.'),
  member: describe(Member, 'The member in this place.'),
  count: describe(Integer, 'The number of gifts that they have received or sent.'),
})

export const GiftLeaderboard = record('GiftLeaderboardUpdatedPayload', {
  network_id,
  recalculated_at: describe(Timestamp, 'When the leaderboard was worked out, in UTC.'),
  type: describe(oneOf('received', 'sent'), 'Whether gifts that were received or sent are counted.'),
  gift_definition: describe(
    orNull(
      record('GiftDefinitionResponse', {
        id: describe(Id, 'The id of the kind of gift. Only the host knows it.'),
        name: describe(Text, 'The name of the kind of gift.'),
      }),
    ),
    'The kind of gift that is counted; null for all of them.',
  ),
  entries: describe(
    record('GiftLeaderboardEntriesByPeriodResponse', {
      all_time: describe(listOf(GiftLeaderboardEntry), 'The places since the beginning, the first one first.'),
    }),
    'The places, by period.',
  ),
})

const question = { member: about, custom_field: describe(CustomField, 'The custom field that was answered.'), network_id }
const answer = {
  ...question,
  text: describe(orNull(Text), 'The answer as one text, whatever its kind; null for a dropdown.'),
  segments: describe(listOf(Segment), 'The chosen options of a dropdown; empty for every other kind.'),
}
export const AnswerCreated = record('CustomFieldResponseCreatedPayload', answer)
export const AnswerRemoved = record('CustomFieldResponseRemovedPayload', answer)
export const AnswerUpdated = record('CustomFieldResponseUpdatedPayload', {
  ...question,
  previous_text: describe(orNull(Text), 'The answer before as one text, whatever its kind; null for a dropdown.'),
  new_text: describe(orNull(Text), 'The answer now as one text, whatever its kind; null for a dropdown.'),
  previous_segments: describe(listOf(Segment), 'The options of a dropdown that were chosen before; empty for every other kind.'),
  new_segments: describe(listOf(Segment), 'The options of a dropdown that are chosen now; empty for every other kind.'),
})

/** Mail that the host is to send. */
export const Mail = record('HostMailPayload', {
  member: describe(Member, 'The member who gets the mail.'),
  email: describe(Text, 'The full address to send it to, even if records hide it.'),
  network_id,
})

export const InviteMail = record('InviteMailPayload', {
  invite_id: describe(Id, 'The invite, which `community.acceptInvite` takes.'),
  recipient_email: describe(Text, 'The full address to send it to, even if records hide it.'),
  recipient_first_name: describe(Text, 'The first name of the recipient; empty if it is not known.'),
  recipient_last_name: describe(Text, 'The last name of the recipient; empty if it is not known.'),
  sender_id: describe(Id, 'The member who invites.'),
  plan_id: describe(orNull(Id), 'The plan that the invite opens; null for an invite to the network.'),
  message: describe(orNull(Text), 'What the sender writes; null if they write nothing.'),
  network_id,
})

export const PostNotification = record('PostNotificationPayload', {
  post_id: describe(Id, 'The post, article, poll or question that members are to be notified of.'),
  space_id: describe(Id, 'Its space.'),
  title: describe(Text, 'Its title.'),
  muted_member_ids: describe(listOf(Id), 'The members who have switched off the notifications of this post: leave them out.'),
  network_id,
})

export const CustomFieldNotification = record('CustomFieldNotificationPayload', {
  custom_field: describe(CustomField, 'The custom field that members are to be notified of.'),
  network_id,
})
