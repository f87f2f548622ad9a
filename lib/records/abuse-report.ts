import { describe, Id, oneOf, orNull, record, Text, Timestamp } from '../fields.ts'
import { NetworkId, stamps } from './stamps.ts'

export const ReportType = oneOf('spam', 'offensive', 'impersonation', 'other')

export const AbuseReport = record('AbuseReportResponse', {
  ...stamps,
  member_id: describe(Id, 'The member who made the report.'),
  targetable_id: describe(Id, 'The id of what was reported; `targetable_type` names its kind.'),
  targetable_type: describe(Text, 'The kind of record that was reported: `Post`, `Comment`, `User` or `Space`.'),
  report_type: describe(
    ReportType,
    'Why the member reported it. A report that the content is not interesting is listed as `other`.',
  ),
  reason: describe(orNull(Text), 'What the member wrote about it; null if they wrote nothing.'),
  context_id: describe(orNull(Id), 'The id of the record in which the member came across it; null if none was named.'),
  context_type: describe(
    orNull(oneOf('Post', 'Comment', 'Space')),
    'The kind of record that `context_id` names; null without one.',
  ),
  space_id: describe(orNull(Id), 'The space of the reported content, or the reported space itself; null for a member.'),
  network_id: NetworkId,
  ignored_at: describe(orNull(Timestamp), 'When a host dismissed the report; null while it is open. No operation sets it.'),
  ignored_by_id: describe(orNull(Id), 'The host who dismissed the report; null while it is open.'),
})
