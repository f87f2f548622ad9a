/** Reports of abuse: read with what was reported, and closed. */
import { isStorableId } from '../../base/ids.ts'
import { ApiError, found } from '../../errors.ts'
import type { ReportDecision, ReportListing } from '../../host/reports.ts'
import { confirmPage } from '../layout/confirm.ts'
import { pageOf } from '../layout/layout.ts'
import { personal, personLink } from '../layout/person.ts'
import { may, type PanelAction } from '../request/access.ts'
import { type PanelResponse, seeOther } from '../request/respond.ts'
import type { Route, View } from '../route.ts'
import { type Html, html } from '../ui/html.ts'
import { badge, empty, news, time } from '../ui/parts.ts'

const pageSize = 25
const states = ['open', 'closed'] as const
/** Of a long text its beginning is shown. */
const mostText = 1000

interface Decision {
  /** The last part of its path. */
  readonly verb: ReportDecision
  /** A visitor who bans by a report must be allowed to ban. */
  readonly action: PanelAction
  readonly title: string
  readonly button: string
  readonly text: string
  readonly done: string
  isPossible(report: ReportListing): boolean
}

const decisions: readonly Decision[] = [
  {
    ...{ verb: 'dismiss', action: 'reports.close', title: 'Dismiss the report?', button: 'Dismiss' },
    text: 'What was reported stays as it is.',
    done: 'The report is dismissed.',
    isPossible: () => true,
  },
  {
    ...{ verb: 'delete_content', action: 'reports.close', title: 'Delete what was reported?', button: 'Delete the content' },
    text: 'It is deleted for good, and every other open report about it is closed, too.',
    done: 'The content is deleted, and the report closed.',
    isPossible: ({ targetable_type, target }) => target !== null && (targetable_type === 'Post' || targetable_type === 'Comment'),
  },
  {
    ...{ verb: 'ban_author', action: 'members.ban', title: 'Ban the author?', button: 'Ban the author' },
    text: 'They leave the network, can’t join again until the ban is lifted, and their subscriptions and purchases end. Every other open report about the same is closed, too.',
    done: 'The author is banned, and the report closed.',
    isPossible: ({ target }) => target !== null && target.author !== null,
  },
]

/** What was reported. The name of a member stands in the link to their page alone, where it can be masked. */
function targetOf(view: View, { targetable_type, targetable_id, target }: ReportListing, kind: string): Html {
  if (!target) return html`<p class="soft">${kind} ${targetable_id} is not there any more.</p>`
  const isMember = targetable_type === 'User'
  const { title, author } = target
  const text = target.text.length > mostText ? `${target.text.slice(0, mostText)}…` : target.text
  return html`${!isMember && html`<p><b>${personal(view, 'title', title)}</b></p>`}
${text !== '' && html`<blockquote>${personal(view, isMember ? 'bio' : 'text', text)}</blockquote>`}
${author && html`<p>${isMember ? 'About' : 'By'} ${personLink(view, author)}</p>`}`
}

function aboutOf(view: View, report: ReportListing): Html {
  const { targetable_type, reporter, report_type, reason, created_at } = report
  const kind = targetable_type === 'User' ? 'Member' : targetable_type
  const by = reporter && html` by ${personLink(view, reporter)}`
  return html`<p>${badge('warn', kind)} reported as ${report_type}${by}, <span class="soft">${time(created_at)}</span></p>
${reason !== null && html`<p>Reason: ${personal(view, 'reason', reason)}</p>`}${targetOf(view, report, kind)}`
}

function card(view: View, report: ReportListing): Html {
  const open = decisions.filter((each) => report.is_open && may(view.visitor, each.action) && each.isPossible(report))
  const links = open.map(
    ({ verb, button }) =>
      html`<a class="button" href="${view.link(`reports/${report.id}/${verb}`)}" data-dialog>${button}<span class="sr">, report ${report.id}</span></a> `,
  )
  return html`<li class="card">${aboutOf(view, report)}${links.length > 0 && html`<p class="row">${links}</p>`}${
    !report.is_open && html`<p class="soft">Closed ${time(report.ignored_at)}</p>`
  }</li>`
}

async function list(view: View): Promise<PanelResponse> {
  const given = view.query.get('state')
  const state = given === '' ? 'open' : states.find((each) => each === given)
  if (!state || view.query.all('state').length > 1) throw new ApiError(422, { error: `state must be ${states.join(' or ')}.` })
  const after = view.query.get('after')
  const paging = after === '' ? {} : { after }
  const { items, next } = await view.community.reports.list(view.id, { state, limit: pageSize, ...paging })
  const choice = html`<nav class="pager" aria-label="State">${states.map(
    (each) =>
      html`<a href="${view.link('reports', each === 'open' ? {} : { state: each })}" ${each === state && html`aria-current="page"`}>${each === 'open' ? 'Open' : 'Closed'}</a>`,
  )}</nav>`
  const kept = state === 'open' ? {} : { state }
  const none =
    state === 'open'
      ? empty('No open report', 'Reports that members make in your product are listed here.')
      : empty('No closed report', 'Reports are listed here when somebody has closed them.')
  const done = decisions.find(({ verb }) => verb === view.query.get('done'))?.done
  const content = html`<div class="head"><h1>Abuse reports</h1></div>
<p class="soft">What members have reported, the newest first.</p>
${done !== undefined && news('good', html`<p>${done}</p>`)}${choice}
${items.length > 0 ? html`<ul class="plain-list">${items.map((each) => card(view, each))}</ul>` : next === null && none}
<nav class="pager" aria-label="Pages">${after !== '' && html`<a href="${view.link('reports', kept)}">Newest</a>`}${
    next !== null && html`<a href="${view.link('reports', { ...kept, after: next })}">Older</a>`
  }</nav>`
  return pageOf(view, 'Abuse reports', content)
}

/** The open report of the address; undefined if it is closed or not there. */
async function openReport({ community, id, params }: View): Promise<ReportListing | undefined> {
  const given = params['id'] ?? ''
  const next = String(Number(given) + 1)
  if (!isStorableId(given) || !isStorableId(next)) return undefined
  const { items } = await community.reports.list(id, { after: next, limit: 1 })
  return items.find((report) => report.id === given)
}

const routesOf = ({ verb, action, title, button, text }: Decision): readonly Route[] => {
  const path = `reports/:id/${verb}`
  async function confirm(view: View): Promise<PanelResponse> {
    const report = found(await openReport(view), 'Open report')
    const question = { title, button, text: html`${aboutOf(view, report)}<p>${text}</p>`, back: view.link('reports') }
    return confirmPage(view, question, ({ reports }) => reports.close(view.id, report.id, verb))
  }
  async function close(view: View): Promise<PanelResponse> {
    const report = await openReport(view)
    if (report) await view.acting.reports.close(view.id, report.id, verb)
    return seeOther(view.link('reports', report ? { done: verb } : {}))
  }
  return [
    { method: 'GET', path, action, handle: confirm },
    { method: 'POST', path, action, handle: close },
  ]
}

export const reportRoutes: readonly Route[] = [
  { method: 'GET', path: 'reports', label: 'Reports', action: 'visit', handle: list },
  ...decisions.flatMap(routesOf),
]
