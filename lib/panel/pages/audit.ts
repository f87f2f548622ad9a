/** The audit: who changed which key or endpoint, and who resent what. */

import { auditActions, auditSubjectTypes } from '../../audit-actions.ts'
import { detailsText } from '../../host/audit/details.ts'
import type { AuditEntry } from '../../host/audit/line.ts'
import { pageOf } from '../layout/layout.ts'
import { masksNames } from '../layout/person.ts'
import { download, type PanelResponse } from '../request/respond.ts'
import type { Route, View } from '../route.ts'
import { type Html, html } from '../ui/html.ts'
import {
  breakable,
  empty,
  filterProblems,
  input,
  moment,
  noProblems,
  nothingListed,
  own,
  type Problems,
  problemsOf,
  select,
  table,
  time,
} from '../ui/parts.ts'

const pageSize = 50
/** Entries that an export reads at a time. */
const exportSize = 100
const labels = {
  actor: 'Who',
  action: 'Action',
  subject: 'Record',
  from: 'From',
  to: 'Before',
} as const

type Name = keyof typeof labels

// The times are the last two.
const names = Object.keys(labels) as Name[]

/** A filter as the address has it, so that a link can be shared. */
type FilterQuery = Readonly<Partial<Record<Name, string>>>

function filterIn({ query }: View): FilterQuery {
  const given = names.map((name) => [name, query.get(name).trim().slice(0, 500)] as const)
  return Object.fromEntries(given.filter(([, value]) => value !== ''))
}

/** A field of a browser has no offset: it is in UTC. */
export const momentOf = (text: string): string =>
  /T[\d:.]+$/.test(text) ? `${text}Z` : /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00Z` : text

/** The conditions; a value that does not exist is refused by the call. */
function conditionsOf({ actor, action, subject, from, to }: FilterQuery) {
  const [type = '', id = ''] = subject?.split(':', 2) ?? []
  const oneOf = <T extends string>(values: readonly T[], given: string) => values.find((each) => each === given)
  // An unknown word goes to the call, whose refusal names those that there are.
  return {
    ...(actor === undefined ? {} : { actor }),
    ...(action === undefined ? {} : { action: oneOf(auditActions, action) ?? (action as never) }),
    ...(subject === undefined ? {} : { subject: { type: oneOf(auditSubjectTypes, type) ?? (type as never), id } }),
    ...(from === undefined ? {} : { from: momentOf(from) }),
    ...(to === undefined ? {} : { to: momentOf(to) }),
  }
}

function filterForm(view: View, filter: FilterQuery, problems: Problems): Html {
  const given = (name: Name) => ({ name, label: labels[name], problems })
  const [actor, subject] = [html`type="text" size="22"`, html`type="text" size="22" placeholder="endpoint:7"`]
  const actions = auditActions.map((each) => [each, each] as const)
  const set = Object.keys(filter).length
  return html`<details class="card" ${set > 0 && html`open`}><summary>Filter${set > 0 && html` <span class="badge">${set} set</span>`}</summary>
<form method="get" class="filter" action="${view.link('audit')}">${input(given('actor'), filter.actor ?? '', actor)}
${select(given('action'), [['', 'any'], ...actions], filter.action ?? '')}
${input(given('subject'), filter.subject ?? '', subject)}${names.slice(-2).map((name) => moment(given(name), filter[name] ?? '', html`size="22"`))}
<p class="row"><button class="primary">Apply</button>${set > 0 && html`<a class="button" href="${view.link('audit')}">Clear</a>`}</p></form></details>`
}

/** An entry with dots for what the pages of members show so. */
function dotted(view: View, { subject, details, ...entry }: AuditEntry): AuditEntry {
  const { masked } = view.settings
  const isHidden = (name: string) => masked.has(name.toLowerCase()) || (name === 'reason' && masked.has('ban_reason'))
  const isNamed = subject.type === 'member' && subject.name !== null && masksNames(view)
  return {
    ...entry,
    subject: isNamed ? { ...subject, name: '•••' } : subject,
    details: JSON.parse(JSON.stringify(details), (name, value: unknown) => (isHidden(name) ? '•••' : value)),
  }
}

function row(view: View, entry: AuditEntry): Html {
  const { at, actor, address, action, subject, details } = dotted(view, entry)
  const about = `${subject.type}:${subject.id}`
  return html`<tr><td>${time(at)}</td><th scope="row"><a href="${view.link('audit', { actor })}"><bdi>${breakable(actor)}</bdi></a></th><td data-label="From">${address ?? '–'}</td>
<td data-label="What" class="free"><span class="keep">${action}</span><br><a class="small" href="${view.link('audit', { subject: about })}">${own(subject.name ?? about)}</a></td><td class="mono">${detailsText(details)}</td></tr>`
}

async function show(view: View): Promise<PanelResponse> {
  const filter = filterIn(view)
  const cursor = view.query.get('after').slice(0, 100)
  const found = await view.community.audit
    .list({ network: view.id, per_page: pageSize, ...conditionsOf(filter), ...(cursor === '' ? {} : { cursor }) })
    .then(
      (found) => ({ ...found, problems: noProblems }),
      (error: unknown) => ({ items: [], next: null, problems: filterProblems(problemsOf(error, names), filter) }),
    )
  const { items, next, problems } = found
  const isFiltered = Object.keys(filter).length > 0
  const rows = items.map((each) => row(view, each))
  const entries = table({ label: 'Audit', columns: ['Time', 'Who', 'From', 'What', 'Details'], rows, kind: 'cards wide' })
  const none = isFiltered
    ? empty('No entry matches', 'Change the filter, or clear it.')
    : empty('No entry yet', 'The next change of a key or an endpoint is listed here.')
  const content = html`<div class="head"><h1>Audit</h1><div class="end">${items.length > 0 && html`<a class="button" href="${view.link('audit/export', filter)}">Export</a>`}</div></div>
<p class="soft">Every change of keys, endpoints and settings, and every resend. Entries stay: erasing a person only removes the name and free text from those about that person.</p>
${nothingListed(problems)}${filterForm(view, filter, problems)}${items.length > 0 ? entries : problems.size === 0 && next === null && none}
<nav class="pager" aria-label="Pages">${cursor !== '' && html`<a href="${view.link('audit', filter)}">Newest</a>`}${next !== null && html`<a href="${view.link('audit', { ...filter, after: next })}">Older</a>`}</nav>`
  return pageOf(view, 'Audit', content, problems.size > 0 ? 422 : 200)
}

/** Lines of NDJSON, the oldest first, read as fast as the client takes them. */
async function save(view: View): Promise<PanelResponse> {
  const { audit } = view.community
  const query = { network: view.id, order: 'oldest', per_page: exportSize, ...conditionsOf(filterIn(view)) } as const
  const first = await audit.list(query)
  async function* lines(): AsyncGenerator<string> {
    for (let read = first; ; read = await audit.list({ ...query, cursor: read.next })) {
      yield read.items.map((entry) => `${JSON.stringify(dotted(view, entry))}\n`).join('')
      if (read.next === null) return
    }
  }
  return download(`audit-${view.id}.ndjson`, 'application/x-ndjson; charset=utf-8', lines(), (error) =>
    view.settings.report(error, { task: 'panel: the export of the audit' }),
  )
}

export const auditRoutes: readonly Route[] = [
  { method: 'GET', path: 'audit', label: 'Audit', action: 'visit', handle: show },
  { method: 'GET', path: 'audit/export', action: 'visit', handle: save },
]
