import { Id, oneOf, orNull, record, Text, Timestamp } from '../fields.ts'

export const ReportType = oneOf('spam', 'offensive', 'impersonation', 'other')

export const AbuseReport = record('AbuseReportResponse', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  member_id: Id,
  targetable_id: Id,
  targetable_type: Text,
  report_type: ReportType,
  reason: orNull(Text),
  context_id: orNull(Id),
  context_type: orNull(oneOf('Post', 'Comment', 'Space')),
  space_id: orNull(Id),
  network_id: Id,
  ignored_at: orNull(Timestamp),
  ignored_by_id: orNull(Id),
})
