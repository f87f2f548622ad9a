/** Members and former members: who is there, who has left, who is banned and why. */
import type { MemberListing } from '../../../host/members/listing.ts'
import type { MemberPage } from '../../../host/members/search.ts'
import { pageOf } from '../../layout/layout.ts'
import { nameIn, personal, personLink, stateNames, stateOf } from '../../layout/person.ts'
import type { PanelResponse } from '../../request/respond.ts'
import type { Route, View } from '../../route.ts'
import { type Html, html } from '../../ui/html.ts'
import {
  empty,
  filterProblems,
  news,
  noProblems,
  nothingListed,
  number,
  type Problems,
  problemsOf,
  table,
  time,
} from '../../ui/parts.ts'
import { memberLinks } from './acts.ts'
import { bulkForm, tick } from './bulk.ts'
import { exportLink } from './export.ts'
import { memberFilterForm, memberFilterIn, memberFilterNames, memberQueryOf } from './filter.ts'
import { importLink } from './import.ts'
import { memberEntryLinks } from './new.ts'

const pageSize = 25
/** The problem of any other stands above the form. */
const shownFields = memberFilterNames.filter((name) => name !== 'state')
const states = ['active', 'removed', 'banned', 'deleted'] as const

function leftOf(view: View, { left_at, left_by, state, ban_reason }: MemberListing): Html | string {
  if (state === 'active') return '–'
  const by = left_by && html`<br><span class="small">by ${personLink(view, left_by)}</span>`
  const reason = ban_reason !== null && html`<br><span class="small url">${personal(view, 'ban_reason', ban_reason)}</span>`
  return html`${time(left_at, 'unknown')}${by}${reason}`
}

const row = (view: View, member: MemberListing): Html => html`<tr ${member.state !== 'active' && html`class="off"`}>
<th scope="row"><span class="url">${tick(view, member)}<a href="${view.link(`members/${member.id}`)}">${nameIn(view, member)}</a></span><br><span class="small soft url">${personal(view, 'email', member.email)}</span></th>
<td>${stateOf(member)}</td>
<td data-label="Id"><code class="keep">${member.id}</code></td>
<td data-label="Role">${member.role}</td>
<td data-label="Joined">${time(member.created_at)}</td>
<td data-label="Last visit">${time(member.last_visited_at, '–')}</td>
<td data-label="Left">${leftOf(view, member)}</td>
<td>${memberLinks(view, member, ['unban', 'erase'], 'plain keep')}</td>
</tr>`

async function list(view: View): Promise<PanelResponse> {
  const filter = memberFilterIn(view)
  const after = view.query.get('after')
  const paging = { limit: pageSize, count: true, ...(after === '' ? {} : { after }) }
  const found: MemberPage & { readonly problems: Problems } = await view.community.members
    .list(view.id, { ...memberQueryOf(filter), ...paging })
    .then(
      (found) => ({ ...found, problems: noProblems }),
      (error: unknown) => ({ items: [], next: null, problems: filterProblems(problemsOf(error, shownFields), filter) }),
    )
  const { items, next, problems, total_count = 0, total_count_capped } = found
  const { state: here = '', ...others } = filter
  const choice = html`<nav class="pager row" aria-label="State">${(['', ...states] as const).map((state) => {
    const query = { ...(state === '' ? {} : { state }), ...others }
    return html`<a href="${view.link('members', query)}" ${state === here && html`aria-current="page"`}>${state === '' ? 'All' : stateNames[state]}</a>`
  })}</nav>`
  const counted = html`<p class="soft">${number(total_count)}${total_count_capped && '+'} ${total_count === 1 ? 'member' : 'members'}</p>`
  const [first, following] = filter['sort'] === undefined ? ['Newest', 'Older'] : ['First', 'Next']
  const actions = html`<span class="sr">Actions</span>`
  const members = table({
    ...{ label: 'Members', kind: 'cards wide', stop: true, rows: items.map((member) => row(view, member)) },
    columns: ['Member', 'State', 'Id', 'Role', 'Joined', 'Last visit', 'Left, and why', actions],
  })
  const all = html`<p><a href="${view.link('members')}">All members</a></p>`
  const none =
    next === null
      ? empty('No member here', 'Choose another state, filter or other words.', all)
      : empty('No match yet', 'Many members were looked at, and none matches. Go on with the older ones below.')
  return pageOf(
    view,
    'Members',
    html`<div class="head"><h1>Members</h1><div class="end">${memberEntryLinks(view)}${importLink(view)}${exportLink(view, filter)}</div></div>
<p class="soft">Everyone who is or was a member of this network.</p>
${view.query.get('done') === 'invited' && news('good', html`<p>The person is invited.</p>`)}${nothingListed(problems)}
${await memberFilterForm(view, filter, problems)}${choice}${problems.size === 0 && counted}${items.length > 0 ? members : problems.size === 0 && none}${items.length > 0 && bulkForm(view, filter, total_count)}
<nav class="pager" aria-label="Pages">${after !== '' && html`<a href="${view.link('members', filter)}">${first}</a>`}${
      next !== null && html`<a href="${view.link('members', { ...filter, after: next })}">${following}</a>`
    }</nav>`,
    problems.size > 0 ? 422 : 200,
  )
}

export const memberRoutes: readonly Route[] = [
  { method: 'GET', path: 'members', label: 'Members', action: 'visit', handle: list },
]
