/** Reports of members, for the host's moderation and for the list of abuse reports. */

import type { Emitter } from '../../call.ts'
import type { Context } from '../../context.ts'
import { fail, found, invalid } from '../../errors.ts'
import { catalogue, type PayloadOf } from '../../events/catalogue.ts'
import { IdInput, LongText, oneOf, optional, optionalOrNull } from '../../fields.ts'
import { AbuseReport, ReportType } from '../../records/abuse-report.ts'
import { lockMember } from '../../rules/members.ts'
import type { Id } from '../../storage/table.ts'
import { type AbuseReportRow, abuseReports, comments, posts } from '../../storage/tables/content.ts'
import { members, spaces } from '../../storage/tables/members.ts'
import type { MakeNotification } from './define.ts'

type Target = 'Post' | 'Comment' | 'User' | 'Space'

export const reportNotifications = (notification: MakeNotification) => ({
  /**
   * A member has reported a post, a comment, another member or a space: it is listed with the abuse reports. Content, a post or
   * a comment, is also said with `ReportedContentCreated`, where impersonation counts as `other`.
   * @throws ApiError 404 for the member, what they report or its context, 422 for half a context
   */
  abuseReport: notification(
    {
      member_id: IdInput,
      targetable_type: oneOf('Post', 'Comment', 'User', 'Space'),
      targetable_id: IdInput,
      report_type: ReportType,
      reason: optionalOrNull(LongText),
      context_id: optional(IdInput),
      context_type: optional(oneOf('Post', 'Comment', 'Space')),
    },
    AbuseReport,
    async (call, { member_id, ...given }) => {
      const member = await lockMember(call, member_id)
      const space_id = await spaceOf(call, given.targetable_type, given.targetable_id)
      if ((given.context_id === undefined) !== (given.context_type === undefined))
        fail(invalid('context_id', 'context_type'), 'context_id and context_type go together')
      if (given.context_id !== undefined && given.context_type) await spaceOf(call, given.context_type, given.context_id)
      const report = await call.tx.insert(abuseReports, { ...call.stamp(), ...given, member_id: member.id, space_id })
      if (given.targetable_type === 'Post' || given.targetable_type === 'Comment')
        announce(call, report, {
          targetable_type: given.targetable_type,
          blacklist_type: given.report_type === 'impersonation' ? 'other' : given.report_type,
          space_id: space_id ?? '',
        })
      return report
    },
  ),

  /**
   * A member has reported content: `ReportedContentCreated`. A post or a comment is also listed with the abuse reports, where
   * `not_interesting` counts as `other`. A chat is not, because only the host keeps it, and it has to name its space.
   * @throws ApiError 404 for the member, the space or what they report
   */
  reportedContent: notification(
    {
      member_id: IdInput,
      targetable_type: oneOf('Post', 'Comment', 'Chat'),
      targetable_id: IdInput,
      blacklist_type: oneOf('spam', 'offensive', 'other', 'not_interesting'),
      reason: optionalOrNull(LongText),
      space_id: optional(IdInput),
    },
    catalogue.ReportedContentCreated,
    async (call, { member_id, targetable_type, targetable_id, blacklist_type, reason, space_id: named }) => {
      const member = await lockMember(call, member_id)
      const given = { member_id: member.id, targetable_id, targetable_type, reason: reason ?? null }
      if (targetable_type === 'Chat') {
        const space = found(named === undefined ? undefined : await call.tx.get(spaces, named), 'Space')
        return announce(call, { ...call.stamp(), ...given }, { targetable_type, blacklist_type, space_id: space.id })
      }
      const space_id = await spaceOf(call, targetable_type, targetable_id)
      const report_type = blacklist_type === 'not_interesting' ? 'other' : blacklist_type
      const report = await call.tx.insert(abuseReports, { ...call.stamp(), ...given, report_type, space_id })
      return announce(call, report, { targetable_type, blacklist_type, space_id: space_id ?? '' })
    },
  ),
})

type ReportedContent = PayloadOf<'ReportedContentCreated'>['reported_content']

function announce(
  call: Emitter<'ReportedContentCreated'>,
  report: Pick<AbuseReportRow, 'id' | 'created_at' | 'updated_at' | 'member_id' | 'targetable_id' | 'reason'>,
  fields: Pick<ReportedContent, 'targetable_type' | 'blacklist_type' | 'space_id'>,
): PayloadOf<'ReportedContentCreated'> {
  const payload = { reported_content: { ...report, ...fields, user_id: report.member_id, network_id: call.network.id } }
  call.emit('ReportedContentCreated', payload)
  return payload
}

/** The space that something reported is in; a member is in none. */
async function spaceOf({ tx }: Pick<Context, 'tx'>, type: Target, id: Id): Promise<Id | null> {
  if (type === 'Post') return found(await tx.get(posts, id), 'Post').space_id
  if (type === 'Comment') return found(await tx.get(comments, id), 'Comment').space_id
  if (type === 'Space') return found(await tx.get(spaces, id), 'Space').id
  found(await tx.get(members, id), 'Member')
  return null
}
