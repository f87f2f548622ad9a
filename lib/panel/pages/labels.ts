/** Tags and badges: how many members carry each, changed, merged and deleted. */
import { isStorableId } from '../../base/ids.ts'
import { ApiError, found } from '../../errors.ts'
import type { TagListing } from '../../host/tags.ts'
import { confirmPage } from '../layout/confirm.ts'
import { pageOf } from '../layout/layout.ts'
import { may } from '../request/access.ts'
import type { ActingCalls } from '../request/acting-user.ts'
import type { Form } from '../request/form.ts'
import { type PanelResponse, seeOther } from '../request/respond.ts'
import type { Route, View } from '../route.ts'
import { type Html, html } from '../ui/html.ts'
import {
  badge,
  empty,
  field,
  input,
  news,
  noProblems,
  number,
  option,
  own,
  type Problems,
  problemsOf,
  summary,
  table,
} from '../ui/parts.ts'

const pageSize = 100
/** Tags that a tag can be merged into are chosen from this many; of more than that an id is given. */
const mostChoices = 1000
const kinds = ['tag', 'badge'] as const
type Kind = (typeof kinds)[number]

const names = { tag: { one: 'tag', many: 'Tags' }, badge: { one: 'badge', many: 'Badges' } } as const
const results = new Map([
  ['added', 'The tag is added.'],
  ['saved', 'The change is saved.'],
  ['merged', 'The tags are merged.'],
  ['deleted', 'It is deleted.'],
])

/** @throws ApiError 422 */
function kindIn(given: string): Kind {
  const kind = kinds.find((each) => each === given)
  if (kind) return kind
  throw new ApiError(422, { error: `kind must be ${kinds.join(' or ')}.` })
}

/** Colours are stored as `#RRGGBB` only. */
const swatch = (color: string | null): Html | string =>
  color === null
    ? '–'
    : html`<svg class="swatch" viewBox="0 0 1 1" aria-hidden="true"><rect width="1" height="1" fill="${color}"/></svg> <code>${color}</code>`

function row(view: View, { id, kind, title, description, color, member_count }: TagListing): Html {
  const to = (verb: string, label: string) =>
    html`<a href="${view.link(`labels/${kind}/${id}/${verb}`)}" ${verb === 'delete' && html`data-dialog`}>${label}<span class="sr"> ${title}</span></a> `
  return html`<tr><th scope="row">${own(title)}${description && html`<br><span class="small soft url">${own(description)}</span>`}<br><span class="small soft">Id <code class="keep">${id}</code></span></th>
<td data-label="Members">${member_count === 0 ? badge('warn', 'unused') : html`<a href="${view.link('members', { [`${kind}_id`]: id })}">${number(member_count)}<span class="sr"> with ${title}</span></a>`}</td><td data-label="Colour">${swatch(color)}</td>
<td>${may(view.visitor, 'tags.update') && to('edit', 'Change')}${kind === 'tag' && may(view.visitor, 'tags.merge') && to('merge', 'Merge')}${may(view.visitor, 'tags.delete') && to('delete', 'Delete')}</td></tr>`
}

async function list(view: View): Promise<PanelResponse> {
  const { query } = view
  const kind = kindIn(query.get('kind') || 'tag')
  const isUnused = query.get('unused') === '1'
  const after = query.get('after')
  const paging = { limit: pageSize, ...(after === '' ? {} : { after }) }
  const { items, next } = await view.community.tags.list(view.id, { kind, unused: isUnused, ...paging })
  const choices = kinds.flatMap((each) => [
    { kind: each, unused: '', label: names[each].many },
    { kind: each, unused: '1', label: `Unused ${each}s` },
  ])
  const choice = html`<nav class="pager row" aria-label="Kind">${choices.map(({ label, ...to }) => {
    const isHere = to.kind === kind && (to.unused === '1') === isUnused
    return html`<a href="${view.link('labels', to)}" ${isHere && html`aria-current="page"`}>${label}</a>`
  })}</nav>`
  const kept = { kind, unused: isUnused ? '1' : '' }
  const actions = html`<span class="sr">Actions</span>`
  const rows = items.map((each) => row(view, each))
  const columns = ['Title', 'Members', 'Colour', actions]
  const done = results.get(query.get('done'))
  const content = html`<div class="head"><h1>Tags and badges</h1>${may(view.visitor, 'tags.create') && html`<a class="button" href="${view.link('labels/new')}">Add a tag</a>`}</div>
<p class="soft">In the order of their creation, with the number of members who carry each.</p>
${done !== undefined && news('good', html`<p>${done}</p>`)}${choice}
${items.length > 0 ? table({ label: names[kind].many, columns, rows, stop: true }) : empty(`No ${isUnused ? 'unused ' : ''}${kind}`, kind === 'badge' ? 'Programs create them through the API, with a picture.' : 'Add one here; programs create them through the API.')}
<nav class="pager" aria-label="Pages">${after !== '' && html`<a href="${view.link('labels', kept)}">First</a>`}${
    next !== null && html`<a href="${view.link('labels', { ...kept, after: next })}">More</a>`
  }</nav>`
  return pageOf(view, 'Tags and badges', content)
}

/** @throws ApiError 404 */
async function labelOf({ community, id: network, params }: View) {
  const kind = found(
    kinds.find((each) => each === params['kind']),
    'Tag',
  )
  const id = params['id'] ?? ''
  if (!isStorableId(id)) throw new ApiError(404, { error: 'Tag not found' })
  const input = { network, params: { id } }
  const { title, color } = kind === 'tag' ? await community.call('tags.show', input) : await community.call('badges.show', input)
  return { kind, id, title, color }
}

type Label = Awaited<ReturnType<typeof labelOf>>

const listOf = (view: View, kind: Kind, done?: string): string => view.link('labels', { kind, ...(done ? { done } : {}) })

/** The line for a change by an operation, which leaves none. */
const record = ({ audit }: ActingCalls, view: View, { kind, id, title }: Label, verb: 'updated' | 'deleted', details = {}) =>
  audit.record({ network: view.id, action: `${kind}.${verb}`, subject: { type: kind, id, name: title }, details })

/** @param label undefined for a new tag */
function labelForm(view: View, label: Label | undefined, form: Form, problems: Problems): Promise<PanelResponse> {
  const { kind, title, color } = label ?? { kind: 'tag', title: '', color: null }
  const value = (name: 'title' | 'color', now: string) => (form.has(name) ? form.get(name) : now)
  const { one } = names[kind]
  return pageOf(
    view,
    `${label ? 'Change' : 'Add'} a ${one}`,
    html`<h1>${label ? html`Change the ${one} “${own(title)}”` : 'Add a tag'}</h1>${summary(problems)}<form method="post">
${input({ name: 'title', label: 'Title', problems }, value('title', title), html`type="text" dir="auto" required`)}
${input({ name: 'color', label: 'Colour', hint: 'Such as #1F5F8B; empty for none.', problems }, value('color', color ?? ''), html`type="text" size="9"`)}
<p class="row"><button class="primary">${label ? 'Save' : 'Add the tag'}</button> <a class="button" href="${listOf(view, kind)}">Cancel</a></p></form>`,
    problems.size > 0 ? 422 : 200,
  )
}

const bodyIn = ({ form }: View) => ({ title: form.get('title'), color: form.get('color').trim() || null })

async function add(view: View): Promise<PanelResponse> {
  try {
    await view.acting.tags.create(view.id, bodyIn(view))
  } catch (error) {
    return labelForm(view, undefined, view.form, problemsOf(error, ['title', 'color']))
  }
  return seeOther(listOf(view, 'tag', 'added'))
}

async function save(view: View): Promise<PanelResponse> {
  const label = await labelOf(view)
  const { kind, id } = label
  const body = bodyIn(view)
  const input = { network: view.id, params: { id }, body }
  try {
    const { call } = view.acting
    await (kind === 'tag' ? call('tags.update', input) : call('badges.update', input))
  } catch (error) {
    return labelForm(view, label, view.form, problemsOf(error, ['title', 'color']))
  }
  await record(view.acting, view, label, 'updated', body)
  return seeOther(listOf(view, kind, 'saved'))
}

async function remove(calls: ActingCalls, view: View, label: Label): Promise<void> {
  const input = { network: view.id, params: { id: label.id } }
  await (label.kind === 'tag' ? calls.call('tags.delete', input) : calls.call('badges.delete', input))
  await record(calls, view, label, 'deleted')
}

async function confirmRemoval(view: View): Promise<PanelResponse> {
  const label = await labelOf(view)
  const { one } = names[label.kind]
  const text = html`<p>${own(label.title)}</p><p>Every member who carries it loses it.</p>`
  const question = { title: `Delete this ${one}?`, text, button: `Delete the ${one}`, back: listOf(view, label.kind) }
  return confirmPage(view, question, (calls) => remove(calls, view, label))
}

/** The choice of the other tag, then the question. */
async function confirmMerge(view: View): Promise<PanelResponse> {
  const { id, title } = await labelOf(view)
  const into = view.query.get('into')
  const back = listOf(view, 'tag')
  if (into !== '') {
    const other = await view.community.call('tags.show', { network: view.id, params: { id: into } })
    const text = html`<p>Every member with “${own(title)}” gets “${own(other.title)}”, and “${own(title)}” is deleted.</p>`
    const question = { title: 'Merge these tags?', text, button: 'Merge the tags', back }
    return confirmPage(view, question, ({ tags }) => tags.merge(view.id, id, into))
  }
  const { items, next } = await view.community.tags.list(view.id, { limit: mostChoices })
  const others = items.filter((each) => each.id !== id)
  const [name, label] = ['into', 'Its members get this tag instead']
  const choice =
    next === null
      ? field(
          { name, label },
          (attributes) =>
            html`<select ${attributes} required>${option('', 'choose', '')}${others.map((each) => option(each.id, each.title, ''))}</select>`,
        )
      : input({ name, label: `${label} (id)` }, '', html`type="text" required`)
  const content = html`<h1>Merge the tag “${own(title)}”</h1><form method="get">
${choice}
<p class="row"><button class="primary">Go on</button> <a class="button" href="${back}">Cancel</a></p></form>`
  return pageOf(view, 'Merge a tag', content)
}

async function merge(view: View): Promise<PanelResponse> {
  const { id } = await labelOf(view)
  await view.acting.tags.merge(view.id, id, view.query.get('into'))
  return seeOther(listOf(view, 'tag', 'merged'))
}

export const labelRoutes: readonly Route[] = [
  { method: 'GET', path: 'labels', label: 'Tags', action: 'visit', handle: list },
  {
    method: 'GET',
    path: 'labels/new',
    action: 'tags.create',
    handle: (view) => labelForm(view, undefined, view.form, noProblems),
  },
  { method: 'POST', path: 'labels/new', action: 'tags.create', handle: add },
  {
    method: 'GET',
    path: 'labels/:kind/:id/edit',
    action: 'tags.update',
    handle: async (view) => labelForm(view, await labelOf(view), view.form, noProblems),
  },
  { method: 'POST', path: 'labels/:kind/:id/edit', action: 'tags.update', handle: save },
  { method: 'GET', path: 'labels/:kind/:id/merge', action: 'tags.merge', handle: confirmMerge },
  { method: 'POST', path: 'labels/:kind/:id/merge', action: 'tags.merge', handle: merge },
  { method: 'GET', path: 'labels/:kind/:id/delete', action: 'tags.delete', handle: confirmRemoval },
  {
    method: 'POST',
    path: 'labels/:kind/:id/delete',
    action: 'tags.delete',
    async handle(view) {
      const label = await labelOf(view)
      await remove(view.acting, view, label)
      return seeOther(listOf(view, label.kind, 'deleted'))
    },
  },
]
