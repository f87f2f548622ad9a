/** The page of a member: everything that the network keeps about them, and what can be done to them. */
import { isStorableId } from '../../../base/ids.ts'
import { found } from '../../../errors.ts'
import { happened } from '../../../host/members/happened.ts'
import type { Block, MemberProfile, TimelineEntry } from '../../../host/members/profile.ts'
import { pageOf } from '../../layout/layout.ts'
import { answerFields, masksNames, nameIn, personal, personLink, stateOf } from '../../layout/person.ts'
import type { PanelResponse } from '../../request/respond.ts'
import type { Route, View } from '../../route.ts'
import { type Html, html } from '../../ui/html.ts'
import { badge, capital, news, number, own, time } from '../../ui/parts.ts'
import { deliveriesAbout } from '../deliveries/deliveries.ts'
import { memberActRoutes, memberButtons, memberNews } from './acts.ts'

const none = html`<span class="soft">–</span>`

/** A list with its count; nothing if it is empty. */
const block = <Item>(title: string, { total, items }: Block<Item>, entry: (item: Item) => unknown, more?: unknown): Html | '' =>
  total === 0
    ? ''
    : html`<section class="card"><h2>${title} <span class="badge">${number(total)}</span></h2>
<ul class="list">${items.map((item) => html`<li>${entry(item)}</li>`)}${total > items.length && html`<li class="soft">${number(total - items.length)} older</li>`}</ul>${more && html`<p>${more}</p>`}</section>`

function answerText(view: View, { answer }: MemberProfile['answers']['items'][number]): readonly Html[] {
  const values = answerFields.flatMap((name) => (answer[name] === null ? [] : [personal(view, name, String(answer[name]))]))
  const chosen = answer.segments.map(({ title }) => personal(view, 'segments', title))
  const places = answer.locations.map(({ label }) => personal(view, 'locations', label))
  return [...values, ...chosen, ...places].map((each, at) => html`${at > 0 && ', '}${each}`)
}

function entryOf(view: View, member: MemberProfile, entry: TimelineEntry): Html {
  const { at, actor, key_id } = entry
  const name = masksNames(view) ? '•••' : `${member.first_name} ${member.last_name}`.trim() || `member ${member.id}`
  const did = happened(name, entry).map((each) => (typeof each === 'string' ? each : own(each.text)))
  const by = key_id === null ? view.link('audit', { actor }) : view.link('keys')
  return html`${time(at)}: ${did}, by ${key_id !== null && 'key '}<a href="${by}">${own(actor)}</a>`
}

const price = (amount: number, currency: string): string => `${(amount / 100).toFixed(2)} ${currency}`

/** What a person has written or bought, and what they belong to. */
function blocksOf(view: View, member: MemberProfile): Html {
  const text = (name: string, given: string) => personal(view, name, given)
  /** Everyone who has the same. */
  const alike = (filter: string, id: string, name: string) =>
    html`<a href="${view.link('members', { [filter]: id })}">${own(name)}</a>`
  const about = { subject: `member:${member.id}` }
  return html`<div class="grid">
${block('Timeline', member.timeline, (entry) => entryOf(view, member, entry), html`<a href="${view.link('audit', about)}">In the audit</a>`)}
${block('Spaces', member.spaces, ({ id, name, role, since }) => html`${alike('space_id', id, name)}${role !== null && html` ${badge('calm', role)}`}<br><span class="small soft">since ${time(since)}</span>`)}
${block('Plans', member.plans, ({ id, name, source, since }) => html`${alike('plan_id', id, name)}<br><span class="small soft">by ${source}, since ${time(since)}</span>`)}
${block('Subscriptions', member.subscriptions, ({ plan, amount, currency, status, purchased_at }) => html`${own(plan ?? '–')}: ${price(amount, currency)}, ${status}, ${time(purchased_at)}`)}
${block('Purchases', member.purchases, ({ plan, amount, currency, revoked_at, purchased_at }) => html`${own(plan ?? '–')}: ${price(amount, currency)}, ${time(purchased_at)}${revoked_at !== null && html`, revoked ${time(revoked_at)}`}`)}
${block('Tags', member.tags, ({ id, name }) => alike('tag_id', id, name))}
${block('Badges', member.badges, ({ id, name }) => alike('badge_id', id, name))}
${block('Answers', member.answers, (answer) => html`${own(answer.field)}: ${answerText(view, answer)}`)}
${block('Invites', member.invites, ({ recipient_email, sent_at, accepted_at }) => html`${text('email', recipient_email)}<br><span class="small soft">sent ${time(sent_at)}, accepted ${time(accepted_at, 'not yet')}</span>`)}
${block('Posts', member.posts, ({ title, family, created_at }) => html`${title === '' ? family : text('title', title)}<br><span class="small soft">${family}, ${time(created_at)}</span>`)}
${block('Comments', member.comments, (comment) => html`${text('text', comment.text)}<br><span class="small soft">${time(comment.created_at)}</span>`)}
${block('RSVPs', member.rsvps, ({ title, status }) => html`${text('title', title)}: ${status}`)}
${block('API keys that act for them', member.keys, ({ name, is_revoked }) => html`${own(name)}${is_revoked && html` ${badge('calm', 'Revoked')}`}`, html`<a href="${view.link('keys')}">API keys</a>`)}
${block('Abuse reports', member.reports, ({ report_type, is_open }) => html`${own(report_type)} ${is_open ? badge('bad', 'Open') : badge('calm', 'Closed')}`, html`<a href="${view.link('reports')}">Abuse reports</a>`)}
</div>`
}

/** Blocks that the page leaves out. */
function emptyBlocks({ spaces, plans, subscriptions, purchases, tags, badges, answers, ...more }: MemberProfile): Html | '' {
  const { posts, comments, rsvps: RSVPs, invites, keys, reports } = more
  const all = { spaces, plans, subscriptions, purchases, tags, badges, answers, invites, posts, comments, RSVPs, keys, reports }
  const names = Object.entries(all).flatMap(([name, { total }]) => (total === 0 ? [name] : []))
  return names.length === 0 ? '' : html`<p class="soft">None: ${names.join(', ')}.</p>`
}

function factsOf(view: View, member: MemberProfile): Html {
  const by = member.left_by && html`, by ${personLink(view, member.left_by)}`
  const text = (name: 'email' | 'location' | 'time_zone' | 'bio' | 'ban_reason') =>
    member[name] ? personal(view, name, member[name]) : none
  const facts: readonly (readonly [string, unknown])[] = [
    ['Address', text('email')],
    ['Id', html`<code>${member.id}</code>`],
    ['Role', `${member.role}, ${member.member_type} member`],
    ['Joined', time(member.created_at)],
    ['Last visit', time(member.last_visited_at, 'not known')],
    ...(member.state === 'active' ? [] : ([['Left', html`${time(member.left_at, 'unknown')}${by}`]] as const)),
    ...(member.ban_reason === null ? [] : ([['Reason of the ban', text('ban_reason')]] as const)),
    ['Location', text('location')],
    ['Time zone', text('time_zone')],
    ['About', text('bio')],
    ['Referrals', number(member.referral_count)],
    ['Allows marketing mail', member.commercial_email_consent ? 'yes' : 'no'],
  ]
  return html`<dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`
}

async function show(view: View): Promise<PanelResponse> {
  const given = view.params['id'] ?? ''
  const member = found(isStorableId(given) ? await view.community.members.get(view.id, given) : undefined, 'Member')
  const done = memberNews(view.query.get('done'))
  const content = html`<div class="head"><h1>${nameIn(view, member)}</h1>${stateOf(member)}<div class="end">${memberButtons(view, member)}</div></div>
${done !== undefined && news('good', html`<p>${done}</p>`)}
<div class="card">${factsOf(view, member)}</div>${blocksOf(view, member)}${await deliveriesAbout(view, `member:${member.id}`)}${emptyBlocks(member)}
<p><a href="${view.link('members')}">All members</a></p>`
  return pageOf(view, capital('member'), content)
}

export const memberPageRoutes: readonly Route[] = [
  { method: 'GET', path: 'members/:id', action: 'visit', handle: show },
  ...memberActRoutes,
]
