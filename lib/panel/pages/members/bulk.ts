/**
 * One act for the ticked members, for all of a filter, or for a list of addresses or ids. Each form carries what was chosen to the
 * next one: what the act is about, the confirmation with its preview, a hundred members after the other, and the report.
 */
import { ApiError } from '../../../errors.ts'
import type { BulkAct, BulkReport } from '../../../host/members/bulk.ts'
import type { MemberListing } from '../../../host/members/listing.ts'
import { previewOf } from '../../layout/confirm.ts'
import { pageOf } from '../../layout/layout.ts'
import { masksNames, personal, personLink } from '../../layout/person.ts'
import { may, type PanelAction } from '../../request/access.ts'
import type { ActingCalls } from '../../request/acting-user.ts'
import type { PanelResponse } from '../../request/respond.ts'
import type { Route, View } from '../../route.ts'
import { type Html, html } from '../../ui/html.ts'
import { capital, confirmation, field, input, news, number, problemsOf, select, summary, table } from '../../ui/parts.ts'
import { reasonField } from './acts.ts'
import { type MemberFilterQuery, memberFilterIn, memberQueryOf, mostNames, namesOf } from './filter.ts'

const path = 'members/bulk'
const action = 'members.bulk'
/** Members of an act in the panel; the command has no limit. */
const mostMembers = 1000
/** Members of one request, after which the progress is shown. */
const step = 100
const mostListed = 100

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
export const tick = (view: View, { id, first_name, last_name }: MemberListing): Html | false =>
  may(view.visitor, action) &&
  html`<input type="checkbox" form="bulk" name="id" value="${id}" aria-label="Tick ${masksNames(view) ? `member ${id}` : `${first_name} ${last_name}`}"> `

const actField = (view: View, name: string): Html => {
  const choices = allowed(view).map(([act, { label }]) => [act, label] as const)
  return select({ name: 'act', label: name }, choices, view.form.get('act'))
}

/** The form below the list. @param count how many match the filter */
export function bulkForm(view: View, filter: MemberFilterQuery, count: number): Html | false {
  if (!may(view.visitor, action) || count === 0) return false
  const kept = Object.entries(filter).map(([name, value]) => hidden(name, value))
  const all =
    count <= mostMembers && html`<label><input type="checkbox" name="all" value="1"> all ${number(count)} of this list</label>`
  return html`<form id="bulk" method="post" action="${view.link(path)}" class="card">${kept}${actField(view, 'With the ticked members')}<p class="row">${all} <button>Go on</button> <a href="${view.link(path)}">Act on a list instead</a></p></form>`
}

const hidden = (name: string, value: string | number): Html => html`<input type="hidden" name="${name}" value="${value}">`
const refuse = (error: string): never => {
  throw new ApiError(422, { error })
}
const larger = 'Use folkmoot members bulk for more.'
const tooMany = `At most ${number(mostMembers)} members at a time. ${larger}`

interface Wish {
  readonly act: string
  readonly about: string
  /** Ids, or addresses, one of which has an `@`. */
  readonly members: readonly string[]
  readonly what: BulkAct
}

/** @throws ApiError 403 for an act that the visitor may not do, 422 without members or with too many */
async function wishIn(view: View): Promise<Wish> {
  const { form } = view
  const act = form.get('act')
  if (!Object.hasOwn(acts, act)) refuse('Choose what is to be done.')
  if (!allowed(view).some(([name]) => name === act)) throw new ApiError(403, { error: 'You may not do this to members.' })
  const listed = form.get('list').split(/[\s,;]+/)
  const given = form.has('all') ? await idsOf(view) : [...form.all('id'), ...listed]
  const members = [...new Set(given.filter((each) => each !== ''))]
  if (members.length === 0) refuse('Tick at least one member, or give a list.')
  if (members.length > mostMembers) refuse(tooMany)
  const addresses = members.filter((each) => each.includes('@')).length
  if (addresses > 0 && addresses < members.length) refuse('Give addresses or ids, and not both.')
  const about = form.get('about').trim()
  const reason = form.get('reason').trim()
  const ban = { ban: reason === '' ? {} : { reason } }
  return { act, about, members, what: act === 'remove' ? { remove: {} } : act === 'ban' ? ban : ({ [act]: about } as BulkAct) }
}

/** The members of the filter as they are now: the act is for these, whatever changes in between. */
async function idsOf(view: View): Promise<string[]> {
  const { sort: _, ...filter } = memberQueryOf(memberFilterIn({ query: view.form })) as Readonly<Record<string, unknown>>
  const ids: string[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const from = after === undefined ? {} : { after }
    const found = await view.community.members.list(view.id, { ...filter, ...from, limit: 100 })
    ids.push(...found.items.map(({ id }) => id))
    if (ids.length > mostMembers) refuse(tooMany)
    after = found.next
  }
  return ids
}

const selectionOf = (members: readonly string[]) =>
  members.some((each) => each.includes('@')) ? { addresses: members } : { ids: members }

const counted = (count: number): string => `${number(count)} ${count === 1 ? 'member' : 'members'}`
const labelOf = ({ act }: Wish): string => acts[act]?.label ?? ''
const keeping = ({ act, about, members }: Wish, more: Html | false = false): Html =>
  html`${hidden('act', act)}${about !== '' && hidden('about', about)}${hidden('list', members.join(' '))}${more}`
const formOf = (view: View, content: Html, attributes: Html | false = false): Html =>
  html`<form method="post" action="${view.link(path)}" ${attributes}>${content}</form>`

/** The list of addresses or ids, with what was given so far. @param wrong why it was refused */
function listPage(view: View, wrong: Html | '' = ''): Promise<PanelResponse> {
  const given = [...view.form.all('id'), view.form.get('list')].join('\n').trim()
  const hint = `At most ${number(mostMembers)}, with blanks, commas or lines between them.`
  const list = field(
    { name: 'list', label: 'Addresses or ids', hint },
    (attributes) => html`<textarea ${attributes} rows="8" required autocomplete="off">${given}</textarea>`,
  )
  const content = html`<h1>Act on a list</h1>${wrong}${formOf(view, html`${actField(view, 'What is to be done')}${list}<p class="row"><button class="primary">Go on</button> <a class="button" href="${view.link('members')}">Cancel</a></p>`)}`
  return pageOf(view, 'Act on a list', content, wrong === '' ? 200 : 422)
}

/** What the act is about, where it is about something. */
async function aboutPage(view: View, wish: Wish): Promise<PanelResponse> {
  const label = labelOf(wish)
  const names = (await namesOf(view)).get(acts[wish.act]?.about ?? '')
  const about =
    names && names.size > 0 && names.size < mostNames
      ? select({ name: 'about', label }, names, '')
      : input({ name: 'about', label: `${label} (id)` }, '', html`type="text" required`)
  const form = formOf(
    view,
    html`${keeping(wish)}${about}<p class="row"><button class="primary">Go on</button> <a class="button" href="${view.link('members')}">Cancel</a></p>`,
  )
  return pageOf(view, label, html`<h1>${label}</h1>${form}`)
}

async function confirm(view: View, wish: Wish): Promise<PanelResponse> {
  const { members, what } = wish
  const work = (calls: ActingCalls) => calls.members.bulk(view.id, selectionOf(members), what)
  const preview = await previewOf(view, work)
  // Such as an id of no tag: what was given stays.
  if (preview.isRefused) return listPage(view, preview.text)
  const title = `${labelOf(wish)}: ${counted(members.length)}`
  const isBan = 'ban' in what
  const reason = isBan && reasonField
  const fields = html`${keeping(wish, hidden('step', 'go'))}${reason}`
  const text = html`<p>Members who are refused are named afterwards.</p>${preview.text}`
  const back = view.link('members')
  const question = { title: `${title}?`, text, button: title, back, fields, tone: isBan ? 'danger' : 'primary' } as const
  return pageOf(view, title, confirmation(question))
}

/** What came of the members so far; the forms carry it. */
type Outcome = Pick<BulkReport, 'done' | 'refused'> & { readonly listed: readonly (readonly [string, string, string])[] }

/** @throws ApiError 422 for an outcome that is none of ours */
function outcomeIn(view: View): Outcome {
  try {
    const { done, refused, listed } = JSON.parse(view.form.get('outcome') || '{"done":0,"refused":0,"listed":[]}') as Outcome
    return {
      done: Number(done),
      refused: Number(refused),
      listed: listed.map(([id, name, reason]) => [String(id), String(name), String(reason)]),
    }
  } catch {
    return refuse('The form is not complete. Begin again.')
  }
}

/** The next hundred: then the page goes on by itself, or by its button, until none is left. */
async function perform(view: View, wish: Wish): Promise<PanelResponse> {
  const before = outcomeIn(view)
  const task = view.form.get('task') || `${wish.act} ${new Date(view.settings.clock.now()).toISOString()}`
  const now = wish.members.slice(0, step)
  const rest = wish.members.slice(step)
  // A visitor who leaves the page stops it.
  const options = { task, signal: view.request.signal }
  const { done, refused, refusals, missing } = await view.acting.members.bulk(view.id, selectionOf(now), wish.what, options)
  const listed = [
    ...before.listed,
    ...refusals.map(({ id, name, reason }) => [id, masksNames(view) ? '' : name, reason] as const),
    ...missing.map((name) => ['', name, 'there is no such member'] as const),
  ].slice(0, mostListed)
  const outcome = { done: before.done + done, refused: before.refused + refused + missing.length, listed }
  return rest.length > 0 ? progressPage(view, { ...wish, members: rest }, outcome, task) : reportPage(view, wish, outcome)
}

function progressPage(view: View, wish: Wish, outcome: Outcome, task: string): Promise<PanelResponse> {
  const done = outcome.done + outcome.refused
  const all = done + wish.members.length
  const reason = 'ban' in wish.what && wish.what.ban.reason !== undefined && hidden('reason', wish.what.ban.reason)
  const state = html`${hidden('step', 'go')}${hidden('task', task)}${hidden('outcome', JSON.stringify(outcome))}${reason}`
  const content = html`<h1>${labelOf(wish)}</h1><p><progress aria-label="Members that are done" value="${done}" max="${all}"></progress> ${number(done)} of ${counted(all)}</p>
${formOf(view, html`${keeping(wish, state)}<p class="row"><button class="primary">Go on</button> <a class="button" href="${view.link('members')}">Stop</a></p>`, html`data-go`)}`
  return pageOf(view, labelOf(wish), content)
}

function reportPage(view: View, wish: Wish, { done, refused, listed }: Outcome): Promise<PanelResponse> {
  const rows = listed.map(([id, name, reason]) => {
    const who = id === '' ? personal(view, 'email', name) : personLink(view, { id, name })
    return html`<tr><th scope="row">${who}</th><td>${capital(reason)}</td></tr>`
  })
  const list =
    rows.length > 0 && html`<h2>Refused</h2>${table({ label: 'Refused', columns: ['Member', 'Reason'], rows, kind: 'cards' })}`
  const content = html`<h1>${labelOf(wish)}</h1>${news(refused === 0 ? 'good' : 'warn', html`<p>${number(done)} done, ${number(refused)} refused.</p>`)}${list}
<p><a class="button primary" href="${view.link('members')}">Back to the members</a></p>`
  return pageOf(view, labelOf(wish), content)
}

async function respond(view: View): Promise<PanelResponse> {
  let wish: Wish
  try {
    wish = await wishIn(view)
  } catch (error) {
    return listPage(view, summary(problemsOf(error, [])))
  }
  if (acts[wish.act]?.about !== undefined && wish.about === '') return aboutPage(view, wish)
  return view.form.get('step') === 'go' ? perform(view, wish) : confirm(view, wish)
}

export const memberBulkRoutes: readonly Route[] = [
  { method: 'GET', path, action, handle: (view) => listPage(view) },
  { method: 'POST', path, action, larger, handle: respond },
]
