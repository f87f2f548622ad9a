/** The forms of a webhook endpoint: add and edit. */
import { fail, invalid } from '../../../errors.ts'
import { webhookName } from '../../../events/catalogue.ts'
import type { Endpoint } from '../../../host/endpoints/endpoint.ts'
import type { AttributeChanges } from '../../../outbox/endpoint-attributes.ts'
import type { Filter } from '../../../outbox/filter.ts'
import { hasAuthorization } from '../../../outbox/headers.ts'
import { orders } from '../../../outbox/values.ts'
import { making, onceField, sentBeforePage, wasSentBefore } from '../../layout/form-once.ts'
import { pageOf } from '../../layout/layout.ts'
import { type Form, formOf } from '../../request/form.ts'
import { type PanelResponse, seeOther } from '../../request/respond.ts'
import type { Route, View } from '../../route.ts'
import { type Html, html } from '../../ui/html.ts'
import { check, field, group, input, noProblems, type Problems, problemsOf, search, select, summary } from '../../ui/parts.ts'
import { credentialsPage } from './credentials.ts'
import { eventGroups, exampleLink, noticeNames, wordsOf } from './events.ts'
import { ownEndpointOf } from './webhooks.ts'

/** An attribute of an endpoint in both forms: how it is shown, and how it is read. */
interface FormAttribute<Value> {
  input(view: View, form: Form, problems: Problems): Html
  /** @throws ApiError 422 for what cannot be read; the call checks the value */
  read(form: Form): Value
  /** Sets the fields to the present value. */
  fill(form: URLSearchParams, value: Value): void
}

/** The attributes that the forms leave out: another page pauses an endpoint, and every endpoint of the panel is an integration's. */
type AttributeName = Exclude<keyof AttributeChanges, 'audience' | 'enabled' | 'format'>

/** A text in one line. @param more attributes of its element */
const textLine = (
  name: string,
  label: string,
  hint?: string,
  more: Html = html`maxlength="100"`,
): FormAttribute<string | null> => ({
  input: (_, form, problems) =>
    input({ name, label, hint, problems }, form.get(name), html`type="text" spellcheck="false" ${more}`),
  read: (form) => form.get(name).trim() || null,
  fill: (form, value) => form.set(name, value ?? ''),
})

const orderLabels: Readonly<Record<Endpoint['order'], string>> = {
  ...{ none: 'No order', subject: 'In order for each member or record', fifo: 'One at a time, oldest first' },
}
const [rate, addresses] = [
  textLine('rate_per_second', 'Deliveries per second, at most', 'Empty: no limit.', html`inputmode="decimal"`),
  textLine(
    'allow_addresses',
    'Allowed IP addresses',
    'Events are sent to these alone. Empty: wherever the address above leads.',
    html`placeholder="192.0.2.5, 198.51.100.0/24"`,
  ),
]

/** In the order of the forms. The compiler requires a new one; one that isn't `basic` is folded away. */
const attributes: { readonly [Name in AttributeName]: FormAttribute<Endpoint[Name]> } = {
  url: {
    input: (_, form, problems) =>
      input(
        { name: 'url', label: 'Address', hint: 'An https address that accepts POST.', problems },
        form.get('url'),
        html`type="url" required maxlength="2048" placeholder="https://example.org/webhooks"`,
      ),
    read: (form) => form.get('url').trim(),
    fill: (form, url) => form.set('url', url),
  },
  name: textLine('name', 'Name (optional)', undefined, html`dir="auto" maxlength="255"`),
  order: {
    input: (_, form, problems) =>
      select(
        { name: 'order', label: 'Order', hint: 'An order makes deliveries slower: each waits for the one before.', problems },
        Object.entries(orderLabels),
        form.get('order'),
      ),
    read: (form) => orders.find((each) => each === form.get('order')) ?? 'none',
    fill: (form, order) => form.set('order', order),
  },
  rate_per_second: {
    ...rate,
    read(form) {
      const given = rate.read(form)
      return given === null ? null : Number(given)
    },
    fill: (form, value) => form.set('rate_per_second', String(value ?? '')),
  },
  events: {
    input: eventChoice,
    read(form) {
      if (form.get('which') !== 'chosen') return null
      const chosen = form.all('events')
      return chosen.length > 0 ? chosen : fail(invalid('events'), 'events must have at least one event; else choose every event')
    },
    fill(form, events) {
      form.set('which', events === null ? 'every' : 'chosen')
      for (const type of events ?? []) form.append('events', type)
    },
  },
  filter: {
    input: (_, form, problems) =>
      field(
        {
          name: 'filter',
          label: 'Filter',
          hint: 'Conditions on the content of an event, or on what has changed, as JSON. Empty: each event of those above.',
          problems,
        },
        (given) =>
          html`<textarea ${given} rows="3" autocomplete="off" spellcheck="false" placeholder='{"path":"/space_id","equals":"2001"}'>${form.get('filter')}</textarea>`,
      ),
    read(form) {
      const text = form.get('filter').trim()
      try {
        return text === '' ? null : (JSON.parse(text) as Filter)
      } catch {
        return fail(invalid('filter'), 'filter must be JSON, such as {"path":"/space_id","equals":"2001"}')
      }
    },
    fill: (form, filter) => form.set('filter', filter ? JSON.stringify(filter) : ''),
  },
  allow_addresses: {
    ...addresses,
    // Between commas, blanks or lines.
    read: (form) =>
      addresses
        .read(form)
        ?.split(/[\s,]+/)
        .filter((each) => each !== '') ?? null,
    fill: (form, value) => addresses.fill(form, value?.join(', ') ?? null),
  },
  client_identity: textLine(
    'client_identity',
    'Client certificate',
    'The name of a certificate that the operator of your server has set up. Empty: none is presented.',
  ),
  ca: textLine(
    'ca',
    'Certificate authority',
    'The name of an authority that the operator of your server has set up. Empty: those that browsers trust.',
  ),
}

const names = Object.keys(attributes) as AttributeName[]
/** Those that each endpoint needs. */
const basic: readonly AttributeName[] = ['url', 'name', 'events']
const advanced = names.filter((name) => !basic.includes(name))
/** Those beside which a problem is shown. */
const fields = [...names, 'token', 'secrets', 'headers']

const valuesOf = ({ form }: View) =>
  Object.fromEntries(names.map((name) => [name, attributes[name].read(form)])) as Pick<Endpoint, AttributeName>

/** The attributes of an endpoint as its form has them. */
function formFrom(endpoint: Endpoint): Form {
  const form = new URLSearchParams()
  const fill = <Name extends AttributeName>(name: Name) => attributes[name].fill(form, endpoint[name])
  for (const name of names) fill(name)
  return formOf(form)
}

/** The headers of the form, one per line. The page shows no values, so an empty field keeps those that are there. */
function headersOf(form: Form): { readonly headers?: Readonly<Record<string, string>>; readonly token?: null } {
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
  // It takes the place of the token.
  return { headers: Object.fromEntries(pairs), ...(hasAuthorization(pairs.map(([name]) => ({ name }))) ? { token: null } : {}) }
}

function eventChoice(view: View, form: Form, problems: Problems): Html {
  const chosen = new Set(form.all('events'))
  const isChosen = form.get('which') === 'chosen'
  const groups = [...eventGroups(), ['Failing endpoints', noticeNames] as const].map(
    ([label, names]) =>
      html`<section data-group><h2>${label}</h2><div class="columns">${names.map(
        (name) =>
          html`<div data-item="${`${name} ${wordsOf(name)}`.toLowerCase()}">${check('checkbox', 'events', `${name}Hook`, name, chosen.has(`${name}Hook`))} ${webhookName(name) && exampleLink(view, name)}</div>`,
      )}</div></section>`,
  )
  return group(
    { name: 'events', label: 'Events', problems },
    html`<p>${check('radio', 'which', 'every', 'Every event', !isChosen)}<br>${check('radio', 'which', 'chosen', 'The events chosen below', isChosen)}</p>
<div class="chosen">${search('Search events')}${groups}</div>`,
  )
}

function endpointForm(view: View, form: Form, problems: Problems, isNew: boolean, back: string): Promise<PanelResponse> {
  const title = isNew ? 'Add an endpoint' : 'Edit the endpoint'
  const [label, hint] = isNew
    ? ['Token', 'Sent as Authorization: Bearer. Empty: a random token is made and shown.']
    : ['Token for another server', 'An address at another server needs the token and the headers again. Empty: the token stays.']
  const key = input({ name: 'token', label, hint, problems }, form.get('token'), html`type="text" spellcheck="false"`)
  const isSigned = form.get('sent') === '' || form.has('secrets')
  const signature = html`${group(
    { name: 'secrets', label: 'Signature', hint: 'The receiver checks with the secret that a delivery is yours.', problems },
    html`${check('checkbox', 'secrets', 'make', 'Make a signing secret', isSigned)}<br>
${check('checkbox', 'pair', 'make', 'As a key pair (ed25519): the receiver gets the public key', form.has('pair'))}`,
  )}`
  const headers = html`${field(
    {
      name: 'headers',
      label: 'Headers',
      hint: isNew
        ? 'Sent with every delivery. One per line. Values are not shown again. An Authorization header takes the place of the token.'
        : 'One per line. They replace all that are there; empty keeps those. An Authorization header replaces the token.',
      problems,
    },
    (attributes) =>
      html`<textarea ${attributes} rows="3" autocomplete="off" spellcheck="false" placeholder="X-Api-Key: value">${form.get('headers')}</textarea>`,
  )}
${!isNew && html`<p>${check('checkbox', 'remove_headers', 'yes', 'Remove all headers', form.has('remove_headers'))}</p>`}`
  const inputs = (those: readonly AttributeName[]) => those.map((name) => attributes[name].input(view, form, problems))
  const folded = [...advanced, 'token', 'headers', 'pair', 'remove_headers']
  const isOpen =
    (isNew && !isSigned) ||
    folded.some((name) => problems.has(name) || !['', 'none'].includes(form.get(name))) ||
    problems.has('secrets')
  return pageOf(
    view,
    title,
    html`<h1>${title}</h1>${summary(problems)}
<form method="post" action="${isNew ? view.link('webhooks') : ''}">${isNew && html`${onceField()}<input type="hidden" name="sent" value="1">`}
${inputs(basic)}
<details class="card" ${isOpen && html`open`}><summary>Advanced <span class="soft small">all optional</span></summary>
${key}${isNew && signature}${headers}${inputs(advanced)}</details>
<p class="row"><button class="primary">${isNew ? 'Add the endpoint' : 'Save'}</button> <a class="button" href="${back}">Cancel</a></p>
</form>`,
    problems.size > 0 ? 422 : 200,
  )
}

/** Adds the endpoint of a form. @throws ApiError 422 for a value that is refused */
async function addedBy(view: View) {
  const { form, id } = view
  const values = valuesOf(view)
  const given = URL.parse(values.url)?.href ?? values.url
  const taken = (await view.community.endpoints.list(id)).some(({ url }) => url === given)
  if (taken) fail(invalid('url'), 'url has already been taken by another endpoint')
  const token = form.get('token').trim()
  return view.acting.endpoints.upsert({
    ...{ network: id, ...values, token: true, ...headersOf(form), ...(token === '' ? {} : { token }) },
    ...(form.has('pair') ? { secrets: 'ed25519' } : form.has('secrets') ? { secrets: true } : {}),
  })
}

async function add(view: View): Promise<PanelResponse> {
  const { form } = view
  if (await wasSentBefore(view))
    return sentBeforePage(view, 'Open the endpoint to see its token and secret.', view.link('webhooks'))
  try {
    const made = await making(view, () => addedBy(view))
    return credentialsPage(view, 'The endpoint is added', made, made, 201)
  } catch (error) {
    return endpointForm(view, form, problemsOf(error, fields), true, view.link('webhooks'))
  }
}

export const webhookFormRoutes: readonly Route[] = [
  { method: 'POST', path: 'webhooks', action: 'endpoints.create', handle: add },
  {
    method: 'GET',
    path: 'webhooks/new',
    action: 'endpoints.create',
    handle: (view) => endpointForm(view, view.query, noProblems, true, view.link('webhooks')),
  },
  {
    method: 'GET',
    path: 'webhooks/:id/edit',
    action: 'endpoints.update',
    async handle(view) {
      const endpoint = await ownEndpointOf(view)
      return endpointForm(view, formFrom(endpoint), noProblems, false, view.link(`webhooks/${endpoint.id}`))
    },
  },
  {
    method: 'POST',
    path: 'webhooks/:id/edit',
    action: 'endpoints.update',
    async handle(view) {
      const { id } = await ownEndpointOf(view)
      try {
        const token = view.form.get('token').trim()
        const changes = { ...valuesOf(view), ...headersOf(view.form), ...(token === '' ? {} : { token }) }
        await view.acting.endpoints.update(view.id, id, changes)
        return seeOther(view.link(`webhooks/${id}`, { done: 'saved' }))
      } catch (error) {
        return endpointForm(view, view.form, problemsOf(error, fields), false, view.link(`webhooks/${id}`))
      }
    },
  },
]
