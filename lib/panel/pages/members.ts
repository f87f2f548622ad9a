/** Members and former members: who is there, who has left, who is banned and why; a ban is lifted, a person erased. */
import { isStorableId } from '../../base/ids.ts'
import { ApiError, found } from '../../errors.ts'
import type { MemberListing } from '../../host/member-listing.ts'
import type { MemberPage } from '../../host/members.ts'
import { layout } from '../layout/layout.ts'
import { may } from '../request/access.ts'
import { type PanelResponse, page, seeOther } from '../request/respond.ts'
import type { Route, View } from '../route.ts'
import { type Html, html } from '../ui/html.ts'
import {
  badge,
  confirmation,
  empty,
  field,
  news,
  noProblems,
  type Problems,
  problemsOf,
  type Tone,
  table,
  time,
} from '../ui/parts.ts'

const pageSize = 25
/** The filters, by the name in the address. */
const states = ['active', 'removed', 'banned', 'deleted'] as const
const tones: Readonly<Record<MemberListing['state'], Tone>> = { active: 'good', removed: 'calm', banned: 'bad', deleted: 'calm' }
const stateNames = { active: 'Active', removed: 'Removed', banned: 'Banned', deleted: 'Deleted' } as const

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

/** A text of a person, which may be written from right to left; dots if its field is masked. */
const personal = ({ settings }: View, name: keyof MemberListing, text: string): Html =>
  text !== '' && settings.masked.has(name) ? html`<span class="soft">•••</span>` : html`<bdi dir="auto">${text}</bdi>`

const masksNames = ({ settings: { masked } }: View): boolean => masked.has('first_name') || masked.has('last_name')

function nameIn(view: View, { id, first_name, last_name }: MemberListing): Html {
  const name = `${first_name} ${last_name}`.trim()
  if (name === '') return html`member ${id}`
  return masksNames(view) ? html`•••` : html`<bdi dir="auto">${name}</bdi>`
}

const stateOf = ({ state, is_banned, erased_at }: MemberListing): Html =>
  html`${badge(tones[state], stateNames[state])}${is_banned && state !== 'banned' && html` ${badge('bad', 'Banned')}`}${
    erased_at !== null && html` ${badge('calm', 'Erased')}`
  }`

function actionsOf(view: View, member: MemberListing): Html {
  const to = (verb: string, label: string) =>
    html`<a href="${view.link(`members/${member.id}/${verb}`)}" data-dialog>${label}<span class="sr"> ${nameIn(view, member)}</span></a> `
  return html`${member.is_banned && may(view.visitor, 'members.unban') && to('unban', 'Lift the ban')}${
    member.erased_at === null && may(view.visitor, 'members.erase') && to('erase', 'Erase')
  }`
}

function leftOf(view: View, { left_at, left_by, state }: MemberListing): Html | string {
  if (state === 'active') return '–'
  const by =
    left_by &&
    html`<br><span class="small">by ${left_by.name === '' || masksNames(view) ? `member ${left_by.id}` : html`<bdi dir="auto">${left_by.name}</bdi>`}</span>`
  return html`${time(left_at, 'unknown')}${by}`
}

const row = (view: View, member: MemberListing): Html => html`<tr ${member.state !== 'active' && html`class="off"`}>
<th scope="row"><span class="url">${nameIn(view, member)}</span><br><span class="small soft url">${personal(view, 'email', member.email)}</span></th>
<td>${stateOf(member)}</td>
<td data-label="Id"><code class="keep">${member.id}</code></td>
<td data-label="Role">${member.role}</td>
<td data-label="Joined">${time(member.created_at)}</td>
<td data-label="Left">${leftOf(view, member)}</td>
<td data-label="Reason">${member.ban_reason === null ? '–' : html`<span class="url">${personal(view, 'ban_reason', member.ban_reason)}</span>`}</td>
<td>${actionsOf(view, member)}</td>
</tr>`

const results = new Map([
  ['unbanned', 'The ban is lifted. The person may join again.'],
  ['erased', 'The person is erased. Copies that receivers of webhooks hold are theirs to erase.'],
])

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
  const done = results.get(view.query.get('done'))
  return page(
    layout(
      view,
      'Members',
      html`<div class="head"><h1>Members</h1></div>
<p class="soft">Everybody who is or was a member of this network, the newest first.</p>
${done !== undefined && news('good', html`<p>${done}</p>`)}${problems.get('') !== undefined && news('bad', html`<p>${problems.get('')}</p>`)}
${searchForm(view, filter, problems)}${choice}${items.length > 0 ? members : problems.size === 0 && none}
<nav class="pager" aria-label="Pages">${after !== '' && html`<a href="${view.link('members', kept)}">Newest</a>`}${
        next !== null && html`<a href="${view.link('members', { ...kept, after: next })}">Older</a>`
      }</nav>`,
    ),
    problems.size > 0 ? 422 : 200,
  )
}

/** @throws ApiError 404 */
async function memberOf({ community, id, params }: View): Promise<MemberListing> {
  const given = params['id'] ?? ''
  const { items } = isStorableId(given) ? await community.members.list(id, { q: given, limit: 1 }) : { items: [] }
  return found(
    items.find((member) => member.id === given),
    'Member',
  )
}

async function confirmUnban(view: View): Promise<PanelResponse> {
  const member = await memberOf(view)
  if (!member.is_banned) return seeOther(view.link('members'))
  const reason =
    member.ban_reason !== null && html`<dl><dt>Reason</dt><dd>${personal(view, 'ban_reason', member.ban_reason)}</dd></dl>`
  const name = nameIn(view, member)
  const text = html`<p>${name}</p>${reason}<p>The person may join again, or be invited. What they had bought does not come back by itself.</p>`
  const back = view.link('members', { state: 'banned' })
  const question = confirmation({ title: 'Lift the ban?', text, button: 'Lift the ban', back, tone: 'primary' })
  return page(layout(view, 'Lift a ban', question))
}

async function unban(view: View): Promise<PanelResponse> {
  const { id, is_banned } = await memberOf(view)
  if (is_banned) await view.acting.members.unban(view.id, id)
  return seeOther(view.link('members', { done: 'unbanned' }))
}

async function confirmErasure(view: View): Promise<PanelResponse> {
  const member = await memberOf(view)
  if (member.erased_at !== null) return seeOther(view.link('members'))
  const isThere = member.state === 'active'
  const text = html`<dl><dt>Member</dt><dd>${nameIn(view, member)}</dd><dt>Address</dt><dd>${personal(view, 'email', member.email)}</dd><dt>Id</dt><dd>${member.id}</dd></dl>
${isThere && html`<p><strong>The member is active.</strong> The account is deleted first, and its subscriptions end.</p>`}
<p>Address, names, profile, answers, invites and uploads are erased. Posts, comments and receipts stay, without a name. This can’t be undone.</p>
${member.is_banned && html`<p>The address stays banned.</p>`}`
  const question = confirmation({ title: 'Erase this person?', text, button: 'Erase for good', back: view.link('members') })
  return page(layout(view, 'Erase a person', question))
}

async function erase(view: View): Promise<PanelResponse> {
  const { id } = await memberOf(view)
  await view.acting.members.erase(view.id, id)
  return seeOther(view.link('members', { done: 'erased' }))
}

export const memberRoutes: readonly Route[] = [
  { method: 'GET', path: 'members', label: 'Members', action: 'visit', handle: list },
  { method: 'GET', path: 'members/:id/unban', action: 'members.unban', handle: confirmUnban },
  { method: 'POST', path: 'members/:id/unban', action: 'members.unban', handle: unban },
  { method: 'GET', path: 'members/:id/erase', action: 'members.erase', handle: confirmErasure },
  { method: 'POST', path: 'members/:id/erase', action: 'members.erase', handle: erase },
]
