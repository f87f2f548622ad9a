/** Reports of abuse: read with what was reported, and closed. The interface lists them alone. */
import { fail, found, invalid } from '../errors.ts'
import { integerBetween, oneOf, optional } from '../fields.ts'
import { fullName } from '../records/member.ts'
import { textOfHtml } from '../rules/html.ts'
import type { Settings } from '../settings.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import type { NetworkRow } from '../storage/tables/administration.ts'
import { type AbuseReportRow, abuseReports, comments, posts } from '../storage/tables/content.ts'
import { members, spaces } from '../storage/tables/members.ts'
import { checkArgument, idOf, PlaceInput, shape } from './arguments.ts'
import type { Changes } from './audit/changes.ts'
import type { AnyDirectCall } from './direct-calls.ts'
import type { MemberActs } from './members/acts.ts'
import type { Networks } from './networks.ts'

/** A report with what it is about. */
export interface ReportListing extends AbuseReportRow {
  readonly is_open: boolean
  readonly reporter: Person | null
  /** What was reported, if it is still there. */
  readonly target: { readonly title: string; readonly text: string; readonly author: Person | null } | null
}

interface Person {
  readonly id: Id
  readonly name: string
}

/** Reports to be listed. */
export interface ReportQuery {
  /** `open` ones by default. */
  readonly state?: 'open' | 'closed'
  /** At most so many, from 1 to 100: 25 by default. */
  readonly limit?: number
  /** The `next` of the page before. */
  readonly after?: Id | undefined
}

/** How a report is closed. Deleting and banning close every other open report of the same content or member, too. */
export type ReportDecision = 'dismiss' | 'delete_content' | 'ban_author'

/** The calls about reports of abuse. A network is named by its id or its subdomain. */
export interface Reports {
  /**
   * A page of reports, the newest first.
   * @throws ApiError 404 when there is no such network, 422 when a value is refused
   */
  list(network: Id | number, query?: ReportQuery): Promise<{ readonly items: readonly ReportListing[]; readonly next: Id | null }>
  /**
   * Closes a report. A decision that breaks off is finished by repeating it.
   * @throws ApiError 404 when there is no such report, 422 when it is closed, when a member or a space was to be deleted, or when the
   * author is the last host
   */
  close(network: Id | number, id: Id | number, decision: ReportDecision): Promise<ReportListing>
}

const Query = shape({
  state: optional(oneOf('open', 'closed')),
  limit: optional(integerBetween(1, 100)),
  after: optional(PlaceInput),
})
const Decision = shape({ decision: oneOf('dismiss', 'delete_content', 'ban_author') })
/** Closed reports that a page of open ones looks past at most, and the other way around. */
const mostLooked = 2000

/** @param call runs an operation, as `community.call` does */
export function reportsOf(
  { limits }: Settings,
  changes: Changes,
  networks: Networks,
  call: AnyDirectCall,
  { ban }: MemberActs,
): Reports {
  /** Deletes a post of any kind, or a comment, by its operation. What is gone already is deleted. */
  async function deleteContent(network: NetworkRow, { targetable_type, targetable_id: id }: AbuseReportRow): Promise<void> {
    if (targetable_type !== 'Post' && targetable_type !== 'Comment')
      fail(
        invalid('decision'),
        `decision delete_content is for posts and comments, and this report is about a ${targetable_type}`,
      )
    const found = await changes.read(network.id, async (tx) =>
      targetable_type === 'Post' ? { post: await tx.get(posts, id) } : { comment: await tx.get(comments, id) },
    )
    if (found.post) await call(`${found.post.family}s.delete`, { network: network.id, params: { id } })
    if (found.comment) await call('comments.delete', { network: network.id, params: { post_id: found.comment.post_id, id } })
  }

  return {
    async list(name, given = {}) {
      const { state = 'open', limit = 25, after } = checkArgument('reports.list', Query, given, limits)
      return changes.read((await networks.show(name)).id, async (tx) => {
        const order = { by: 'id', direction: 'desc' } as const
        const where = state === 'open' ? { ignored_at: null } : {}
        const read = await tx.find(abuseReports, {
          where,
          order,
          limit: state === 'open' ? limit + 1 : mostLooked,
          ...(after === undefined ? {} : { after }),
        })
        const rows = read.filter(({ ignored_at }) => (ignored_at === null) === (state === 'open'))
        const items = await Promise.all(rows.slice(0, limit).map((row) => listingOf(tx, row)))
        const last = rows.length > limit ? items.at(-1)?.id : read.length === mostLooked ? read.at(-1)?.id : undefined
        return { items, next: last ?? null }
      })
    },
    async close(name, given, decision) {
      const id = idOf(given)
      checkArgument('reports.close', Decision, { decision }, limits)
      const network = await networks.show(name)
      const report = await changes.read(network.id, async (tx) => openReport(await tx.get(abuseReports, id)))
      if (decision === 'delete_content') await deleteContent(network, report)
      if (decision === 'ban_author') {
        const { target } = await changes.read(network.id, (tx) => listingOf(tx, report))
        const author = report.targetable_type === 'User' ? report.targetable_id : target?.author?.id
        if (author === undefined) fail(invalid('decision'), 'decision ban_author: what was reported has no author any more')
        const { state } = await changes.read(network.id, async (tx) => found(await tx.get(members, author), 'Member'))
        if (state === 'active' || state === 'removed')
          await ban(network.id, author, { reason: `Report ${id}: ${report.report_type}` })
      }
      return changes.act(network, async ({ tx, now, principal, touch }) => {
        openReport(await tx.lock(abuseReports, id, 'update'))
        const alike = { targetable_type: report.targetable_type, targetable_id: report.targetable_id, ignored_at: null }
        const closing = decision === 'dismiss' ? [report] : await tx.find(abuseReports, { where: alike })
        for (const row of closing)
          await tx.update(
            abuseReports,
            row.id,
            { ignored_at: now, ignored_by_id: principal.member_id, ...touch() },
            { ignored_at: null },
          )
        const result = await listingOf(tx, found(await tx.get(abuseReports, id), 'Report'))
        const subject = { type: 'report', id, name: null } as const
        const details = { decision, about: `${report.targetable_type} ${report.targetable_id}`, reports: closing.length }
        return { result, audit: [{ action: 'report.closed', subject, details }] }
      })
    },
  }
}

function openReport(row: AbuseReportRow | undefined): AbuseReportRow {
  const report = found(row, 'Report')
  return report.ignored_at === null ? report : fail(invalid('id'), 'The report is closed already')
}

async function listingOf(tx: ScopedTx, row: AbuseReportRow): Promise<ReportListing> {
  const person = async (id: Id): Promise<Person | null> => {
    const member = await tx.get(members, id)
    return member ? { id, name: fullName(member) } : null
  }
  return {
    ...row,
    is_open: row.ignored_at === null,
    reporter: await person(row.member_id),
    target: await targetOf(tx, row, person),
  }
}

async function targetOf(
  tx: ScopedTx,
  { targetable_type, targetable_id: id }: AbuseReportRow,
  person: (id: Id) => Promise<Person | null>,
): Promise<ReportListing['target']> {
  if (targetable_type === 'Post') {
    const post = await tx.get(posts, id)
    return post ? { title: post.title, text: post.summary, author: await person(post.creator_id) } : null
  }
  if (targetable_type === 'Comment') {
    const comment = await tx.get(comments, id)
    return comment ? { title: 'Comment', text: textOfHtml(comment.text).trim(), author: await person(comment.author_id) } : null
  }
  if (targetable_type === 'Space') {
    const space = await tx.get(spaces, id)
    return space ? { title: space.name, text: '', author: null } : null
  }
  const member = await tx.get(members, id)
  return member ? { title: fullName(member), text: member.bio ?? '', author: { id, name: fullName(member) } } : null
}
