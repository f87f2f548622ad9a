/** The audit: who changed which key or endpoint, and who resent what. */
import { ApiError } from '../../errors.ts'
import { type AuditLog, type AuditQuery, auditOf } from '../acting.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import { empty, time } from '../parts.ts'
import { download, type PanelAnswer, page } from '../respond.ts'
import type { Route, View } from '../route.ts'

const pageSize = 50
/** The most entries of one export. */
const maxExported = 100_000

const logOf = ({ community }: View): AuditLog => {
  const log = auditOf(community)
  if (log) return log
  throw new ApiError(404, { error: 'This community keeps no audit.' })
}

async function show(view: View): Promise<PanelAnswer> {
  const after = view.query.get('after').slice(0, 300)
  const query: AuditQuery = { network: view.id, limit: pageSize, ...(after === '' ? {} : { after }) }
  const { items, next } = await logOf(view).list(query)
  const rows = items.map(
    ({
      at,
      actor,
      address,
      action,
      subject,
      details,
    }) => html`<tr><td>${time(at, '–', true)}</td><th scope="row">${actor}</th><td data-label="From">${address ?? '–'}</td>
<td data-label="Action">${action}${subject !== null && html` <code>${subject}</code>`}</td><td class="mono">${details}</td></tr>`,
  )
  const table = html`<div class="scroll" role="region" aria-label="Audit" tabindex="0"><table class="cards"><thead><tr><th scope="col">Time</th><th scope="col">Who</th><th scope="col">From</th><th scope="col">What</th><th scope="col">Details</th></tr></thead><tbody>${rows}</tbody></table></div>`
  return page(
    layout(
      view,
      'Audit',
      html`<div class="head"><h1>Audit</h1><div class="end">${items.length > 0 && html`<a class="button" href="${view.link('audit/export')}">Export</a>`}</div></div>
<p class="soft">Every change of keys, endpoints and settings, and every resend. Entries are added and never changed.</p>
${items.length > 0 ? table : empty('No entry yet', 'The next change of a key or an endpoint is listed here.')}
<nav class="pager" aria-label="Pages">${after !== '' && html`<a href="${view.link('audit')}">Newest</a>`}${next !== null && html`<a href="${view.link('audit', { after: next })}">Older</a>`}</nav>`,
    ),
  )
}

async function save(view: View): Promise<PanelAnswer> {
  const log = logOf(view)
  const lines: string[] = []
  for (let after: string | null | undefined; after !== null && lines.length < maxExported; ) {
    const { items, next } = await log.list({ network: view.id, limit: 100, ...(after === undefined ? {} : { after }) })
    lines.push(...items.map((entry) => `${JSON.stringify(entry)}\n`))
    after = next
  }
  return download(`audit-${view.id}.ndjson`, 'application/x-ndjson; charset=utf-8', lines.join(''))
}

export const auditRoutes: readonly Route[] = [
  { method: 'GET', path: 'audit', handle: show },
  { method: 'GET', path: 'audit/export', handle: save },
]
