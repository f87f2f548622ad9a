/** One act for the ticked members, or for all of a filter: what it is about, a confirmation with its preview, and a report. */
import { ApiError } from '../../errors.ts'
import type { BulkAct } from '../../host/member-bulk.ts'
import type { MemberSelection } from '../../host/member-search.ts'
import { confirmPage } from '../layout/confirm.ts'
import { layout } from '../layout/layout.ts'
import { may, type PanelAction } from '../request/access.ts'
import type { PanelResponse } from '../request/respond.ts'
import { page } from '../request/respond.ts'
import type { Route, View } from '../route.ts'
import { type Html, html } from '../ui/html.ts'
import { capital, field, news, noProblems, number, option, table } from '../ui/parts.ts'
import { type MemberFilterQuery, memberFilterIn, memberQueryOf, mostNames, namesOf } from './member-filter.ts'

const path = 'members/bulk'
const action = 'members.bulk'
/** Members of an act in the panel; the command has no limit. */
const mostMembers = 1000

/** The acts: in words, what they are about, and what else the visitor has to be allowed. */
const acts: Readonly<Record<string, { readonly label: string; readonly about?: string; readonly needs?: PanelAction }>> = {
  tag: { label: 'Give a tag', about: 'tag_id' },
  untag: { label: 'Take a tag', about: 'tag_id' },
  badge: { label: 'Give a badge', about: 'badge_id' },
  unbadge: { label: 'Take a badge', about: 'badge_id' },
  space: { label: 'Add to a space', about: 'space_id' },
  plan: { label: 'Give a plan', about: 'plan_id' },
  remove: { label: 'Remove', needs: 'members.remove' },
  ban: { label: 'Ban', needs: 'members.ban' },
}

const allowed = (view: View) => Object.entries(acts).filter(([, { needs }]) => needs === undefined || may(view.visitor, needs))

/** The box that ticks a member: it belongs to the form below the list. */
export const tick = (view: View, id: string): Html | false =>
  may(view.visitor, action) && html`<input type="checkbox" form="bulk" name="id" value="${id}" aria-label="Tick member ${id}"> `

/** The form below the list. @param count how many match the filter */
export function bulkForm(view: View, filter: MemberFilterQuery, count: number): Html | false {
  if (!may(view.visitor, action) || count === 0) return false
  const hidden = Object.entries(filter).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
  const all =
    count <= mostMembers && html`<label><input type="checkbox" name="all" value="1"> all ${number(count)} of this list</label>`
  const select = field(
    { name: 'act', label: 'With the ticked members', problems: noProblems },
    (attributes) => html`<select ${attributes}>${allowed(view).map(([name, { label }]) => option(name, label, ''))}</select>`,
  )
  return html`<form id="bulk" method="get" action="${view.link(path)}" class="card">${hidden}${select}<p class="row">${all} <button>Go on</button></p></form>`
}

interface Wish {
  readonly act: string
  readonly about: string
  readonly selection: MemberSelection
  readonly what: BulkAct
}

/** The wish of the address. @throws ApiError 403 for an act that the visitor may not do, 422 for one without members */
function wishIn(view: View): Wish {
  const { query } = view
  const act = query.get('act')
  if (!Object.hasOwn(acts, act)) throw new ApiError(422, { error: 'Choose what is to be done.' })
  if (!allowed(view).some(([name]) => name === act)) throw new ApiError(403, { error: 'You may not do this to members.' })
  const ids = query.all('id')
  if (ids.length > mostMembers) throw new ApiError(422, { error: `At most ${mostMembers} members at a time.` })
  const filter = memberQueryOf(memberFilterIn(view))
  const { sort: _, ...conditions } = filter as Readonly<Record<string, unknown>>
  const selection: MemberSelection = query.get('all') === '1' ? { filter: conditions } : { ids }
  const about = query.get('about').trim()
  const what: BulkAct = act === 'remove' ? { remove: {} } : act === 'ban' ? { ban: {} } : ({ [act]: about } as BulkAct)
  return { act, about, selection, what }
}

/** What the act is about, where it is about something. */
async function aboutPage(view: View, { act }: Wish): Promise<PanelResponse> {
  const { label = '', about = '' } = acts[act] ?? {}
  const names = (await namesOf(view)).get(about)
  const input =
    names && names.size > 0 && names.size < mostNames
      ? field(
          { name: 'about', label, problems: noProblems },
          (attributes) => html`<select ${attributes}>${[...names].map(([id, name]) => option(id, name, ''))}</select>`,
        )
      : field(
          { name: 'about', label: `${label} (id)`, problems: noProblems },
          (attributes) => html`<input ${attributes} type="text" required autocomplete="off">`,
        )
  const kept = [...new Set(['act', 'all', 'id', ...Object.keys(memberFilterIn(view))])].flatMap((name) =>
    view.query.all(name).map((value) => html`<input type="hidden" name="${name}" value="${value}">`),
  )
  const form = html`<form method="get" action="${view.link(path)}">${kept}${input}<p class="row"><button class="primary">Go on</button> <a class="button" href="${view.link('members')}">Cancel</a></p></form>`
  return page(layout(view, label, html`<h1>${label}</h1>${form}`))
}

async function countOf(view: View, { selection }: Wish): Promise<number> {
  if ('ids' in selection) return selection.ids.length
  const filter = 'filter' in selection ? selection.filter : {}
  const { total_count = 0 } = await view.community.members.list(view.id, { ...filter, limit: 1, count: true })
  if (total_count > mostMembers)
    throw new ApiError(422, { error: `At most ${mostMembers} members at a time: use folkmoot members bulk.` })
  return total_count
}

async function confirm(view: View): Promise<PanelResponse> {
  const wish = wishIn(view)
  const count = await countOf(view, wish)
  if (count === 0) throw new ApiError(422, { error: 'Tick at least one member.' })
  const { label = '', about } = acts[wish.act] ?? {}
  if (about !== undefined && wish.about === '') return aboutPage(view, wish)
  const members = `${number(count)} ${count === 1 ? 'member' : 'members'}`
  const question = {
    title: `${label}: ${members}?`,
    text: html`<p>Members who are refused are named afterwards.</p>`,
    button: `${label}: ${members}`,
    back: view.link('members'),
  }
  return confirmPage(view, { ...question, tone: wish.what && 'ban' in wish.what ? 'danger' : 'primary' }, (calls) =>
    calls.members.bulk(view.id, wish.selection, wish.what),
  )
}

async function perform(view: View): Promise<PanelResponse> {
  const wish = wishIn(view)
  await countOf(view, wish)
  // A visitor who leaves the page stops it.
  const { signal } = view.request
  const report = await view.acting.members.bulk(view.id, wish.selection, wish.what, { signal })
  const rows = report.refusals
    .slice(0, 100)
    .map(
      ({ id, name, reason }) =>
        html`<tr><th scope="row"><a href="${view.link(`members/${id}`)}">${name}</a></th><td>${capital(reason)}</td></tr>`,
    )
  const list =
    rows.length > 0 && html`<h2>Refused</h2>${table({ label: 'Refused', columns: ['Member', 'Reason'], rows, kind: 'cards' })}`
  const { label = '' } = acts[wish.act] ?? {}
  const content = html`<h1>${label}</h1>${news(report.refused === 0 ? 'good' : 'warn', html`<p>${number(report.done)} done, ${number(report.refused)} refused.</p>`)}${list}
<p><a class="button primary" href="${view.link('members')}">Back to the members</a></p>`
  return page(layout(view, label, content))
}

export const memberBulkRoutes: readonly Route[] = [
  { method: 'GET', path, action, handle: confirm },
  { method: 'POST', path, action, handle: perform },
]
