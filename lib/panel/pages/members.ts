/** Members and former members: who is there, who has left, who is banned and why. */
import { ApiError } from '../../errors.ts'
import type { MemberListing } from '../../host/member-listing.ts'
import type { MemberPage } from '../../host/member-search.ts'
import { layout } from '../layout/layout.ts'
import { nameIn, personal, personLink, stateNames, stateOf } from '../layout/person.ts'
import { type PanelResponse, page } from '../request/respond.ts'
import type { Route, View } from '../route.ts'
import { type Html, html } from '../ui/html.ts'
import { empty, field, news, noProblems, type Problems, problemsOf, table, time } from '../ui/parts.ts'
import { memberLinks } from './member-acts.ts'

const pageSize = 25
/** The filters, by the name in the address. */
const states = ['active', 'removed', 'banned', 'deleted'] as const
interface Filter {
  readonly state?: (typeof states)[number]
  readonly q?: string
}

/** The filter of an address. @throws ApiError 422 for a state that does not exist: every member would be listed */
function filterIn({ query }: View): Filter {
  const given = query.get('state')
  const state = states.find((each) => each === given)
  if ((given !== '' && !state) || query.all('state').length > 1)
    throw new ApiError(422, { error: `state must be one of ${states.join(', ')}.` })
  const q = query.get('q').trim()
  return { ...(state === undefined ? {} : { state }), ...(q === '' ? {} : { q }) }
}

function leftOf(view: View, { left_at, left_by, state }: MemberListing): Html | string {
  if (state === 'active') return '–'
  const by = left_by && html`<br><span class="small">by ${personLink(view, left_by)}</span>`
  return html`${time(left_at, 'unknown')}${by}`
}

const row = (view: View, member: MemberListing): Html => html`<tr ${member.state !== 'active' && html`class="off"`}>
<th scope="row"><span class="url"><a href="${view.link(`members/${member.id}`)}">${nameIn(view, member)}</a></span><br><span class="small soft url">${personal(view, 'email', member.email)}</span></th>
<td>${stateOf(member)}</td>
<td data-label="Id"><code class="keep">${member.id}</code></td>
<td data-label="Role">${member.role}</td>
<td data-label="Joined">${time(member.created_at)}</td>
<td data-label="Left">${leftOf(view, member)}</td>
<td data-label="Reason">${member.ban_reason === null ? '–' : html`<span class="url">${personal(view, 'ban_reason', member.ban_reason)}</span>`}</td>
<td>${memberLinks(view, member, ['unban', 'erase'], 'plain')}</td>
</tr>`

const keptOf = ({ state, q }: Filter) => ({ ...(state === undefined ? {} : { state }), ...(q === undefined ? {} : { q }) })

function searchForm(view: View, { state, q = '' }: Filter, problems: Problems): Html {
  const input = field(
    { name: 'q', label: 'Name, address or id', problems },
    (attributes) => html`<input ${attributes} type="search" dir="auto" maxlength="200" value="${q}" autocomplete="off">`,
  )
  return html`<form method="get" action="${view.link('members')}" role="search">${state && html`<input type="hidden" name="state" value="${state}">`}${input}
<p class="row"><button>Search</button>${q !== '' && html`<a class="button" href="${view.link('members', keptOf({ ...(state ? { state } : {}) }))}">Clear</a>`}</p></form>`
}

async function list(view: View): Promise<PanelResponse> {
  const filter = filterIn(view)
  const after = view.query.get('after')
  const found: MemberPage & { readonly problems: Problems } = await view.community.members
    .list(view.id, { ...filter, limit: pageSize, ...(after === '' ? {} : { after }) })
    .then(
      (found) => ({ ...found, problems: noProblems }),
      (error: unknown) => ({ items: [], next: null, problems: problemsOf(error, ['q']) }),
    )
  const { items, next, problems } = found
  const kept = keptOf(filter)
  const { q } = filter
  const choice = html`<nav class="pager row" aria-label="State">${(['', ...states] as const).map((state) => {
    const query = { ...(state === '' ? {} : { state }), ...(q === undefined ? {} : { q }) }
    const isHere = state === (filter.state ?? '')
    return html`<a href="${view.link('members', query)}" ${isHere && html`aria-current="page"`}>${state === '' ? 'All' : stateNames[state]}</a>`
  })}</nav>`
  const actions = html`<span class="sr">Actions</span>`
  const members = table({
    ...{ label: 'Members', kind: 'cards wide', stop: true, rows: items.map((member) => row(view, member)) },
    columns: ['Member', 'State', 'Id', 'Role', 'Joined', 'Left', 'Reason of the ban', actions],
  })
  const all = html`<p><a href="${view.link('members')}">All members</a></p>`
  const none =
    next === null
      ? empty('No member here', 'Choose another state or other words.', all)
      : empty('No match yet', 'Many members were looked at, and none matches. Go on with the older ones below.')
  return page(
    layout(
      view,
      'Members',
      html`<div class="head"><h1>Members</h1></div>
<p class="soft">Everybody who is or was a member of this network, the newest first.</p>
${problems.get('') !== undefined && news('bad', html`<p>${problems.get('')}</p>`)}
${searchForm(view, filter, problems)}${choice}${items.length > 0 ? members : problems.size === 0 && none}
<nav class="pager" aria-label="Pages">${after !== '' && html`<a href="${view.link('members', kept)}">Newest</a>`}${
        next !== null && html`<a href="${view.link('members', { ...kept, after: next })}">Older</a>`
      }</nav>`,
    ),
    problems.size > 0 ? 422 : 200,
  )
}

export const memberRoutes: readonly Route[] = [
  { method: 'GET', path: 'members', label: 'Members', action: 'visit', handle: list },
]
