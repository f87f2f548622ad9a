/** The forms of a webhook endpoint: add and edit. */
import { fail, invalid } from '../../errors.ts'
import type { Endpoint } from '../../host/endpoint.ts'
import type { AttributeChanges } from '../../outbox/endpoint-attributes.ts'
import type { Filter } from '../../outbox/filter.ts'
import { hasAuthorization } from '../../outbox/headers.ts'
import { orders } from '../../outbox/values.ts'
import { making, onceField, sentBeforePage, wasSentBefore } from '../layout/form-once.ts'
import { layout } from '../layout/layout.ts'
import { type Form, formOf } from '../request/form.ts'
import { type PanelAnswer, page, seeOther } from '../request/respond.ts'
import type { Route, View } from '../route.ts'
import { type Html, html } from '../ui/html.ts'
import { check, field, group, noProblems, option, type Problems, problemsOf, search, summary } from '../ui/parts.ts'
import { credentialsPage } from './webhook-credentials.ts'
import { eventGroups, exampleLink, wordsOf } from './webhook-events.ts'
import { ownEndpointOf } from './webhooks.ts'

const fields = [
  'url',
  'name',
  'events',
  'order',
  'rate_per_second',
  'key',
  'secrets',
  'headers',
  'filter',
  'allow_addresses',
  'client_identity',
  'ca',
]

/** The attributes that the forms leave out: another page pauses an endpoint, and every endpoint of the panel is an integration's. */
type Elsewhere = 'audience' | 'enabled'

/** The attributes that both forms have. The compiler asks for a new one. */
function valuesOf({ form }: View) {
  const [name, rate, order] = [form.get('name').trim(), form.get('rate_per_second').trim(), form.get('order')]
  if (form.get('which') === 'chosen' && form.all('events').length === 0)
    fail(invalid('events'), 'events must have at least one event; else choose every event')
  return {
    url: form.get('url').trim(),
    name: name === '' ? null : name,
    events: form.get('which') === 'chosen' ? form.all('events') : null,
    order: orders.find((each) => each === order) ?? 'none',
    rate_per_second: rate === '' ? null : Number(rate),
    filter: filterOf(form),
    allow_addresses: addressesOf(form),
    client_identity: textOf(form, 'client_identity'),
    ca: textOf(form, 'ca'),
  } satisfies Record<Exclude<keyof AttributeChanges, Elsewhere>, unknown>
}

const textOf = (form: Form, name: string): string | null => form.get(name).trim() || null

/** Addresses and ranges, between commas, blanks or lines. */
function addressesOf(form: Form): readonly string[] | null {
  const given = form
    .get('allow_addresses')
    .split(/[\s,]+/)
    .filter((each) => each !== '')
  return given.length > 0 ? given : null
}

function filterOf(form: Form): Filter | null {
  const text = form.get('filter').trim()
  if (text === '') return null
  try {
    // The call checks it.
    return JSON.parse(text) as Filter
  } catch {
    return fail(invalid('filter'), 'filter must be JSON, such as {"path":"/space_id","equals":"2001"}')
  }
}

/** The headers of the form, one per line. The page shows no values, so an empty field keeps those that are there. */
function headersOf(form: Form): { readonly headers?: Readonly<Record<string, string>>; readonly key?: null } {
  if (form.has('remove_headers')) return { headers: {} }
  const lines = form.get('headers').split(/\r?\n/)
  const filled = lines.filter((line) => line.trim() !== '')
  const pairs = filled.map((line) => {
    const colon = line.indexOf(':')
    if (colon < 1) fail(invalid('headers'), 'headers must be one per line, each a name, a colon and a value')
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const
  })
  const names = pairs.map(([name]) => name)
  if (new Set(names).size < names.length) fail(invalid('headers'), 'headers must have each name once')
  if (filled.length === 0) return {}
  // It takes the place of the key.
  return { headers: Object.fromEntries(pairs), ...(hasAuthorization(pairs.map(([name]) => ({ name }))) ? { key: null } : {}) }
}

/** The attributes of an endpoint as its form has them. */
function formFrom({ url, name, events, order, rate_per_second, filter, allow_addresses, client_identity, ca }: Endpoint): Form {
  const which = events === null ? 'every' : 'chosen'
  const form = new URLSearchParams({ url, name: name ?? '', which, order, rate_per_second: String(rate_per_second ?? '') })
  if (filter) form.set('filter', JSON.stringify(filter))
  form.set('client_identity', client_identity ?? '')
  form.set('ca', ca ?? '')
  if (allow_addresses) form.set('allow_addresses', allow_addresses.join(', '))
  for (const type of events ?? []) form.append('events', type)
  return formOf(form)
}

function eventChoice(view: View, form: Form, problems: Problems): Html {
  const chosen = new Set(form.all('events'))
  const isChosen = form.get('which') === 'chosen'
  const groups = eventGroups().map(
    ([label, names]) =>
      html`<section data-group><h2>${label}</h2><div class="columns">${names.map(
        (name) =>
          html`<div data-item="${`${name} ${wordsOf(name)}`.toLowerCase()}">${check('checkbox', 'events', `${name}Hook`, name, chosen.has(`${name}Hook`))} ${exampleLink(view, name)}</div>`,
      )}</div></section>`,
  )
  return group(
    { name: 'events', label: 'Events', problems },
    html`<p>${check('radio', 'which', 'every', 'Every event', !isChosen)}<br>${check('radio', 'which', 'chosen', 'The events chosen below', isChosen)}</p>
<div class="chosen">${search('Search events')}${groups}</div>`,
  )
}

function endpointForm(view: View, form: Form, problems: Problems, isNew: boolean, back: string): Html {
  const title = isNew ? 'Add an endpoint' : 'Edit the endpoint'
  const moved = field(
    {
      name: 'key',
      label: 'Key (only for an address at another server)',
      hint: 'Another server gets neither the key nor the headers that are there: give both again. Empty: the key stays.',
      problems,
    },
    (attributes) => html`<input ${attributes} type="text" autocomplete="off" spellcheck="false" value="${form.get('key')}">`,
  )
  const credentials = html`${field(
    {
      name: 'key',
      label: 'Key (optional)',
      hint: 'Sent as Authorization: Bearer. Empty: a random key is made and shown once, unless you give an Authorization header below.',
      problems,
    },
    (attributes) => html`<input ${attributes} type="text" autocomplete="off" spellcheck="false" value="${form.get('key')}">`,
  )}
${group(
  { name: 'secrets', label: 'Signature', hint: 'The receiver checks with the secret that a delivery is yours.', problems },
  html`${check('checkbox', 'secrets', 'make', 'Make a signing secret', form.get('sent') === '' || form.has('secrets'))}<br>
${check('checkbox', 'pair', 'make', 'As a key pair (ed25519): the receiver gets the public key', form.has('pair'))}`,
)}<input type="hidden" name="sent" value="1">`
  return layout(
    view,
    title,
    html`<h1>${title}</h1>${summary(problems)}
<form method="post" action="${isNew ? view.link('webhooks') : ''}">
${field(
  { name: 'url', label: 'Address', hint: 'An https address that accepts POST.', problems },
  (attributes) =>
    html`<input ${attributes} type="url" required maxlength="2048" placeholder="https://example.org/webhooks" value="${form.get('url')}">`,
)}
${field(
  { name: 'name', label: 'Name (optional)', problems },
  (attributes) =>
    html`<input ${attributes} type="text" dir="auto" maxlength="255" autocomplete="off" value="${form.get('name')}">`,
)}
${isNew ? html`${credentials}${onceField()}` : moved}
${field(
  { name: 'order', label: 'Order', hint: 'An order makes deliveries slower: each waits for the one before.', problems },
  (attributes) =>
    html`<select ${attributes}>${option('none', 'No order', form.get('order'))}${option('subject', 'In order for each member or record', form.get('order'))}${option('fifo', 'One at a time, oldest first', form.get('order'))}</select>`,
)}
${field(
  { name: 'rate_per_second', label: 'Deliveries per second, at most (optional)', problems },
  (attributes) => html`<input ${attributes} type="text" inputmode="decimal" value="${form.get('rate_per_second')}">`,
)}
${field(
  {
    name: 'headers',
    label: 'Headers (optional)',
    hint: isNew
      ? 'Sent with every delivery. One per line, such as X-Api-Key: value. Values are not shown again.'
      : 'One per line. They replace all that are there; empty keeps those. An Authorization header replaces the key.',
    problems,
  },
  (attributes) =>
    html`<textarea ${attributes} rows="3" autocomplete="off" spellcheck="false" placeholder="X-Api-Key: value">${form.get('headers')}</textarea>`,
)}
${!isNew && html`<p>${check('checkbox', 'remove_headers', 'yes', 'Remove all headers', form.has('remove_headers'))}</p>`}
${eventChoice(view, form, problems)}
${field(
  {
    name: 'filter',
    label: 'Filter (optional)',
    hint: 'Conditions on the payload, as JSON. It holds for later events.',
    problems,
  },
  (attributes) =>
    html`<textarea ${attributes} rows="3" autocomplete="off" spellcheck="false" placeholder='{"path":"/space_id","equals":"2001"}'>${form.get('filter')}</textarea>`,
)}
${field(
  {
    name: 'allow_addresses',
    label: 'Allowed addresses (optional)',
    hint: 'It is sent to these addresses alone, of those that the relay allows.',
    problems,
  },
  (attributes) =>
    html`<input ${attributes} type="text" autocomplete="off" spellcheck="false" placeholder="192.0.2.5, 198.51.100.0/24" value="${form.get('allow_addresses')}">`,
)}
${field(
  {
    name: 'client_identity',
    label: 'Client certificate (optional)',
    hint: 'The name of a certificate in the settings of the relay, which then presents it. Usually empty.',
    problems,
  },
  (attributes) =>
    html`<input ${attributes} type="text" autocomplete="off" spellcheck="false" maxlength="100" value="${form.get('client_identity')}">`,
)}
${field(
  {
    name: 'ca',
    label: 'Private authority (optional)',
    hint: 'The name of an authority in the settings of the relay, if the receiver has a certificate of your own. Usually empty.',
    problems,
  },
  (attributes) =>
    html`<input ${attributes} type="text" autocomplete="off" spellcheck="false" maxlength="100" value="${form.get('ca')}">`,
)}
<p class="row"><button class="primary">${isNew ? 'Add the endpoint' : 'Save'}</button> <a class="button" href="${back}">Cancel</a></p>
</form>`,
  )
}

/** Adds the endpoint of a form. @throws ApiError 422 for a value that is refused */
async function addedBy(view: View) {
  const { form, id } = view
  const values = valuesOf(view)
  const given = URL.parse(values.url)?.href ?? values.url
  const taken = (await view.community.endpoints.list(id)).some(({ url }) => url === given)
  if (taken) fail(invalid('url'), 'url has already been taken by another endpoint')
  const key = form.get('key').trim()
  return view.acting.endpoints.upsert({
    ...{ network_id: id, ...values, key: true, ...headersOf(form), ...(key === '' ? {} : { key }) },
    ...(form.has('pair') ? { secrets: 'ed25519' } : form.has('secrets') ? { secrets: true } : {}),
  })
}

async function add(view: View): Promise<PanelAnswer> {
  const { form } = view
  if (await wasSentBefore(view))
    return sentBeforePage(view, 'If a value is lost, open the endpoint and rotate its key and secret.', view.link('webhooks'))
  try {
    const made = await making(view, () => addedBy(view))
    const [signing] = made.secrets
    return page(credentialsPage(view, 'The endpoint is added', made, made.key ?? undefined, signing), 201)
  } catch (error) {
    return page(endpointForm(view, form, problemsOf(error, fields), true, view.link('webhooks')), 422)
  }
}

export const webhookFormRoutes: readonly Route[] = [
  { method: 'POST', path: 'webhooks', action: 'endpoints.create', handle: add },
  {
    method: 'GET',
    path: 'webhooks/new',
    action: 'endpoints.create',
    handle: async (view) => page(endpointForm(view, view.query, noProblems, true, view.link('webhooks'))),
  },
  {
    method: 'GET',
    path: 'webhooks/:id/edit',
    action: 'endpoints.update',
    async handle(view) {
      const endpoint = await ownEndpointOf(view)
      return page(endpointForm(view, formFrom(endpoint), noProblems, false, view.link(`webhooks/${endpoint.id}`)))
    },
  },
  {
    method: 'POST',
    path: 'webhooks/:id/edit',
    action: 'endpoints.update',
    async handle(view) {
      const { id } = await ownEndpointOf(view)
      try {
        const key = view.form.get('key').trim()
        const changes = { ...valuesOf(view), ...headersOf(view.form), ...(key === '' ? {} : { key }) }
        await view.acting.endpoints.update(view.id, id, changes)
        return seeOther(view.link(`webhooks/${id}`, { done: 'saved' }))
      } catch (error) {
        return page(endpointForm(view, view.form, problemsOf(error, fields), false, view.link(`webhooks/${id}`)), 422)
      }
    },
  },
]
