/** API keys: list, create, show once, revoke (interface.md, 5.2 to 5.5). */
import { isStorableId } from '../../base/ids.ts'
import { ApiError, found } from '../../errors.ts'
import type { KeyListing, KeyQuery } from '../../host/keys.ts'
import { confirmPage } from '../layout/confirm.ts'
import { making, sentBeforePage, wasSentBefore } from '../layout/form-once.ts'
import { pageOf } from '../layout/layout.ts'
import { may } from '../request/access.ts'
import { type PanelResponse, seeOther } from '../request/respond.ts'
import type { Route, View } from '../route.ts'
import { type Html, html } from '../ui/html.ts'
import { badge, empty, news, own, secret, table, time } from '../ui/parts.ts'
import { createForm, keyFrom, keyProblems } from './key-form.ts'

const statusOf = ({ status, expired, member_state }: KeyListing): Html => {
  if (status === 'Revoked') return badge('bad', 'Revoked')
  if (expired) return badge('warn', 'Expired')
  return html`${badge('good', 'Active')}${member_state !== 'active' && html` ${badge('warn', `member ${member_state}`)}`}`
}

/** The names of members, by id; one whose name cannot be read is shown by the id. */
async function namesOf({ community, id }: View, keys: readonly KeyListing[]): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(keys.map(({ member_id }) => member_id))].slice(0, 50)
  const nameOf = async (member: string): Promise<readonly [string, string]> => {
    const { first_name, last_name } = await community.call('members.show', { network: id, params: { id: member } })
    return [member, `${first_name} ${last_name}`.trim()]
  }
  const names = await Promise.all(ids.map((member) => nameOf(member).catch(() => undefined)))
  return new Map(names.filter((name) => name !== undefined))
}

const everything = new Map([
  ['*', 'Read and write everything'],
  ['*:read', 'Read everything'],
])

/** The scopes, in the words of the form. */
const scopesOf = ({ scopes }: KeyListing): string => scopes.map((scope) => everything.get(scope) ?? scope).join(', ')

const row = (view: View, key: KeyListing, names: ReadonlyMap<string, string>): Html => {
  const isActive = key.status === 'Active'
  return html`<tr ${!isActive && html`class="off"`}>
<th scope="row">${own(key.name)}</th>
<td><code class="keep">${key.redacted}</code></td>
<td data-label="Scopes">${scopesOf(key)}</td>
<td data-label="Acts for" class="free">${own(names.get(key.member_id) ?? `member ${key.member_id}`)}</td>
<td data-label="Created">${time(key.created_at)}</td>
<td data-label="Last used">${time(key.last_used_at, 'never')}</td>
<td>${statusOf(key)}${isActive && key.expires_at && html`<br><span class="small soft">until ${time(key.expires_at)}</span>`}</td>
<td>${
    isActive &&
    may(view.visitor, 'keys.revoke') &&
    html`<a href="${view.link(`keys/${key.id}/revoke`)}" data-dialog>Revoke<span class="sr"> ${key.name}</span></a>`
  }</td>
</tr>`
}

const pageSize = 25
/** The filters, by the name in the address. */
const filters: readonly { readonly name: string; readonly label: string; readonly query: KeyQuery }[] = [
  { name: '', label: 'All', query: {} },
  { name: 'active', label: 'Active', query: { status: 'Active' } },
  { name: 'revoked', label: 'Revoked', query: { status: 'Revoked' } },
]

/** The filter of an address. @throws ApiError 422 for one that does not exist: it would otherwise list every key */
function filterIn({ query }: View): (typeof filters)[number] {
  const chosen = filters.find(({ name }) => name === query.get('status'))
  if (chosen && query.all('status').length < 2) return chosen
  throw new ApiError(422, { error: 'status must be active or revoked.' })
}

async function list(view: View): Promise<PanelResponse> {
  const { name: status, query } = filterIn(view)
  const after = view.query.get('after')
  const paging = { limit: pageSize, ...(after === '' ? {} : { after }) }
  const { items, next } = await view.community.keys.page(view.id, { ...query, ...paging })
  const isEmpty = status === '' && after === '' && items.length === 0
  const kept = status === '' ? {} : { status }
  const mayCreate = may(view.visitor, 'keys.create')
  const create = mayCreate && html`<a class="button primary" href="${view.link('keys/new')}">Create a key</a>`
  const names = await namesOf(view, items)
  const choice = html`<nav class="pager" aria-label="Status">${filters.map(
    ({ name, label }) =>
      html`<a href="${view.link('keys', name === '' ? {} : { status: name })}" ${name === status && html`aria-current="page"`}>${label}</a>`,
  )}</nav>`
  const actions = html`<span class="sr">Actions</span>`
  const keys = html`${table({
    ...{ label: 'API keys', kind: 'cards wide', stop: true, rows: items.map((key) => row(view, key, names)) },
    columns: ['Name', 'Key', 'Scopes', 'Acts for', 'Created', 'Last used', 'Status', actions],
  })}<nav class="pager" aria-label="Pages">${after !== '' && html`<a href="${view.link('keys', kept)}">Newest</a>`}${
    next !== null && html`<a href="${view.link('keys', { ...kept, after: next })}">Older</a>`
  }</nav>`
  const none = isEmpty
    ? empty('No key yet', 'Create one for each program that calls the API.', create)
    : empty(
        'No key here',
        'Choose another status, or go back to the newest keys.',
        html`<p><a href="${view.link('keys')}">All keys</a></p>`,
      )
  const revoked = view.query.get('done') === 'revoked' && news('good', html`<p>The key is revoked. It no longer works.</p>`)
  return pageOf(
    view,
    'API keys',
    html`<div class="head"><h1>API keys</h1><div class="end">${!isEmpty && create}</div></div>
<p class="soft">Programs call the API of this network with a key. Each key has its own scopes, and you can revoke one without touching the others.</p>
${revoked}${!isEmpty && choice}${items.length > 0 || next !== null ? keys : none}`,
  )
}

async function keyOf({ community, id, params }: View): Promise<KeyListing> {
  const given = params['id'] ?? ''
  return found(isStorableId(given) ? await community.keys.find(id, given) : undefined, 'API key')
}

async function create(view: View) {
  const { form } = view
  if (await wasSentBefore(view))
    return sentBeforePage(view, 'If its value is lost, revoke the key and create another.', view.link('keys'))
  try {
    const { token, key } = await making(view, async () => view.acting.keys.create(await keyFrom(view)))
    return pageOf(
      view,
      'The new key',
      html`<h1>Your new key “${own(key.name)}”</h1>
${news('warn', html`<p><strong>Copy it now.</strong> It is shown this once, and can never be read again.</p>`)}
${secret('token', 'The key', token)}
<dl><dt>Scopes</dt><dd>${scopesOf(key)}</dd><dt>Works until</dt><dd>${time(key.expires_at, 'it is revoked')}</dd></dl>
<p><a class="button" href="${view.link('keys')}">Done</a></p>`,
      201,
    )
  } catch (error) {
    return createForm(view, form, keyProblems(error))
  }
}

export const keyRoutes: readonly Route[] = [
  { method: 'GET', path: 'keys', label: 'API keys', action: 'visit', handle: list },
  { method: 'POST', path: 'keys', action: 'keys.create', handle: create },
  {
    method: 'GET',
    path: 'keys/new',
    action: 'keys.create',
    handle: (view) => createForm(view, view.query, new Map()),
  },
  {
    method: 'GET',
    path: 'keys/:id/revoke',
    action: 'keys.revoke',
    async handle(view) {
      const key = await keyOf(view)
      if (key.status === 'Revoked') return seeOther(view.link('keys'))
      const text = html`<p>The key <code>${key.redacted}</code> stops working immediately. It stays in the list, and can’t be used again.</p>`
      const question = { title: `Revoke “${key.name}”?`, text, button: 'Revoke the key', back: view.link('keys') }
      return confirmPage(view, question, ({ keys }) => keys.revoke(view.id, key.id))
    },
  },
  {
    method: 'POST',
    path: 'keys/:id/revoke',
    action: 'keys.revoke',
    async handle(view) {
      const { id, status } = await keyOf(view)
      if (status === 'Active') await view.acting.keys.revoke(view.id, id)
      return seeOther(view.link('keys', { done: 'revoked' }))
    },
  },
]
