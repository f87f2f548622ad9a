/** Webhook endpoints: the list, one endpoint, and its changes that need no form (interface.md, 11.1). */
import { isStorableId } from '../../../base/ids.ts'
import { ApiError, found } from '../../../errors.ts'
import { webhookName } from '../../../events/catalogue.ts'
import type { Endpoint } from '../../../host/endpoints/endpoint.ts'
import type { EndpointStatus, RelayStatus } from '../../../relay/relay-admin.ts'
import { addressNote } from '../../layout/address-note.ts'
import { callRelay, relayNote, stateBadge } from '../../layout/call-relay.ts'
import { confirmPage } from '../../layout/confirm.ts'
import { nameOf } from '../../layout/endpoint-names.ts'
import { pageOf } from '../../layout/layout.ts'
import { attemptWords } from '../../layout/wording.ts'
import { may, type PanelAction } from '../../request/access.ts'
import { type PanelResponse, seeOther } from '../../request/respond.ts'
import type { Route, View } from '../../route.ts'
import { type Html, html } from '../../ui/html.ts'
import { breakable, capital, empty, news, note, number, option, own, table, time } from '../../ui/parts.ts'
import { tryEndpoint } from '../deliveries/try-now.ts'
import { eventGroups } from './events.ts'
import { cards, failed, failedNote, lastDay, latestAttempts, waiting } from './health.ts'

export async function endpointOf({ community, id, params }: View): Promise<Endpoint> {
  const given = params['id'] ?? ''
  return found(isStorableId(given) ? await community.endpoints.find(id, given) : undefined, 'Endpoint')
}

/** The host application's own endpoint is changed in its code: without it no mail leaves. */
const isHosts = ({ audience }: Endpoint): boolean => audience === 'host'

/** @throws ApiError 404 for an endpoint that the panel does not change */
export async function ownEndpointOf(view: View): Promise<Endpoint> {
  const endpoint = await endpointOf(view)
  return found(isHosts(endpoint) ? undefined : endpoint, 'Endpoint')
}

const eventsOf = ({ events }: Endpoint): string => (events === null ? 'Every event' : `${number(events.length)} chosen`)

const healthIn = (status: RelayStatus | undefined, id: string): EndpointStatus | undefined =>
  status?.endpoints.find(({ endpoint_id }) => endpoint_id === id)

function row(view: View, endpoint: Endpoint, health: EndpointStatus | undefined): Html {
  return html`<tr ${!endpoint.enabled && html`class="off"`}>
<th scope="row"><a href="${view.link(`webhooks/${endpoint.id}`)}">${own(nameOf(endpoint))}</a><br><span class="small soft url">${breakable(endpoint.url)}</span></th>
<td>${stateBadge(endpoint.enabled, health)}${health?.reason && html`<br><span class="small">${health.reason}</span>`}</td>
<td data-label="Events">${eventsOf(endpoint)}</td>
<td data-label="Failed for good">${health ? failed(health) : '–'}</td>
<td data-label="Waiting">${health ? waiting(health) : '–'}</td>
<td data-label="Oldest">${time(health?.oldest_pending_at)}</td>
<td data-label="Last day">${health ? lastDay(health, view.settings.clock.now()) : '–'}</td>
</tr>`
}

/** The endpoints and how they do, with a link to each. */
export function endpointTable(view: View, endpoints: readonly Endpoint[], status: RelayStatus | undefined): Html {
  const rows = endpoints.map((each) => row(view, each, healthIn(status, each.id)))
  const columns = ['Endpoint', 'State', 'Events', 'Failed for good', 'Waiting', 'Oldest waiting', 'Last day']
  return html`<div data-refresh="15" data-part="endpoints">${table({ label: 'Webhook endpoints', columns, rows, kind: 'cards wide' })}</div>`
}

export const addEndpoint = (view: View): Html | false =>
  may(view.visitor, 'endpoints.create') &&
  html`<a class="button primary" href="${view.link('webhooks/new')}">Add an endpoint</a> <a class="button" href="${view.link('webhooks/channel')}">Notify a channel</a>`

const results = new Map([
  ['removed', 'The endpoint is deleted. Nothing more is sent to it.'],
  ['paused', 'The endpoint is paused. Its events wait until it is resumed.'],
  ['resumed', 'Events are sent to the endpoint again.'],
  ['channel', 'The channel is added. Send a test event to see that its messages arrive.'],
  ['tried', 'Sending to the endpoint begins again, slowly at first.'],
  ['saved', 'The changes are saved. They hold from the next delivery.'],
])

const resultOf = ({ query }: View) => {
  const text = results.get(query.get('done'))
  return text !== undefined && news('good', html`<p>${text}</p>`)
}

async function list(view: View): Promise<PanelResponse> {
  const endpoints = await view.community.endpoints.list(view.id)
  const status = await callRelay(view, (relay) => relay.status({ network_id: view.id }))
  const add = addEndpoint(view)
  const isDown = status.there && !status.value.running
  return pageOf(
    view,
    'Webhooks',
    html`<div class="head"><h1>Webhooks</h1><div class="end">${endpoints.length > 0 && add}</div></div>
<p class="soft">Each event of this network is posted to every endpoint that subscribes to it. <a href="${view.link('webhooks/events')}">All events</a></p>
${resultOf(view)}${relayNote(status)}${isDown && note('warn', html`<p>No relay runs now. Events wait.</p>`)}
${endpoints.length > 0 ? endpointTable(view, endpoints, status.there ? status.value : undefined) : empty('No endpoint yet', 'Add the address of a program that receives events.', add)}`,
  )
}

const action = (view: View, id: string, name: string, label: string, tone = ''): Html =>
  html`<form method="post" action="${view.link(`webhooks/${id}/${name}`)}"><button class="${tone}">${label}</button></form>`

/** A test, and the event that it is of. */
const testForm = (view: View, id: string): Html =>
  html`<form method="post" action="${view.link(`webhooks/${id}/test`)}" class="row"><select name="event_type" aria-label="Event of the test">${option('', 'Test event', '')}${eventGroups().map(
    ([label, names]) => html`<optgroup label="${label}">${names.map((name) => option(`${name}Hook`, name, ''))}</optgroup>`,
  )}</select><button class="primary">Send a test event</button></form>`

function buttons(view: View, endpoint: Endpoint, health: EndpointStatus | undefined): Html {
  const { visitor, link } = view
  const { id, enabled } = endpoint
  const isOwn = !isHosts(endpoint)
  const isStandard = endpoint.format === 'standard'
  const stopped = !enabled || health?.activity === 'disabled'
  return html`
${may(visitor, 'endpoints.test') && view.settings.relay && testForm(view, id)}
${tryEndpoint(view, health)}
${isOwn && may(visitor, 'endpoints.update') && html`<a class="button" href="${link(`webhooks/${id}/edit`)}">Edit</a>`}
${isOwn && isStandard && may(visitor, 'endpoints.rotate') && html`<a class="button" href="${link(`webhooks/${id}/rotate`)}">Rotate</a>`}
${isOwn && isStandard && may(visitor, 'endpoints.reveal') && action(view, id, 'reveal', 'Show token and secret')}
${isOwn && may(visitor, 'endpoints.pause') && (stopped ? action(view, id, 'resume', 'Resume') : action(view, id, 'pause', 'Pause'))}
${isOwn && may(visitor, 'endpoints.remove') && html`<a class="button danger" href="${link(`webhooks/${id}/remove`)}" data-dialog>Delete</a>`}`
}

const orders = { none: 'No order: quickest', fifo: 'One at a time, oldest first', subject: 'In order for each member or record' }

async function show(view: View): Promise<PanelResponse> {
  const endpoint = await endpointOf(view)
  const status = await callRelay(view, (relay) => relay.status({ network_id: view.id }))
  const health = status.there ? healthIn(status.value, endpoint.id) : undefined
  return pageOf(
    view,
    nameOf(endpoint),
    html`<div class="head"><h1>${own(nameOf(endpoint))}</h1>${stateBadge(endpoint.enabled, health)}<div class="end">${buttons(view, endpoint, health)}</div></div>
<p class="mono">${endpoint.url}</p>${resultOf(view)}${view.query.get('done') === 'saved' && addressNote(view, endpoint.url)}${relayNote(status)}
${isHosts(endpoint) && note('calm', html`<p>This is the host application’s own endpoint. It is changed in its code.</p>`)}
${health && failedNote(view, health)}${health?.reason && note('bad', html`<p>${health.reason}</p>`)}
${health && cards(view, health)}${status.there && (await latestAttempts(view, endpoint.id))}
<h2>Settings</h2>
<dl><dt>Events</dt><dd>${endpoint.events === null ? 'Every event' : endpoint.events.map((name) => name.replace(/Hook$/, '')).join(', ')}</dd>
${endpoint.filter && html`<dt>Filter</dt><dd class="mono">${JSON.stringify(endpoint.filter)}</dd>`}
${endpoint.allow_addresses && html`<dt>Allowed addresses</dt><dd class="mono">${endpoint.allow_addresses.join(', ')}</dd>`}
${endpoint.client_identity && html`<dt>Client certificate</dt><dd>${endpoint.client_identity}</dd>`}
${endpoint.ca && html`<dt>Private authority</dt><dd>${endpoint.ca}</dd>`}
<dt>Order</dt><dd>${orders[endpoint.order]}</dd>
<dt>Rate</dt><dd>${endpoint.rate_per_second === null ? 'No limit' : `At most ${endpoint.rate_per_second} a second`}</dd>
${endpoint.header_names.length > 0 && html`<dt>Headers</dt><dd>${endpoint.header_names.join(', ')}</dd>`}
${endpoint.format === 'standard' ? html`<dt>Signature</dt><dd>${endpoint.signed ? 'Signed' : 'Not signed'}</dd>` : html`<dt>Format</dt><dd>Messages for ${capital(endpoint.format)}</dd>`}
${endpoint.public_keys.length > 0 && html`<dt>Public key</dt><dd class="mono">${endpoint.public_keys.join(', ')}</dd>`}
${endpoint.old_token_until && html`<dt>Old token</dt><dd>Valid until ${time(endpoint.old_token_until)}</dd>`}
${endpoint.old_secrets_until && html`<dt>Old secret</dt><dd>Valid until ${time(endpoint.old_secrets_until)}</dd>`}
<dt>Added</dt><dd>${time(endpoint.created_at)}</dd></dl>
<p><a href="${view.link('audit', { subject: `endpoint:${endpoint.id}` })}">Changes of this endpoint</a></p>`,
  )
}

/** Sends the test event; the response is a page that a reload would send again, so that nothing is kept. */
async function test(view: View): Promise<PanelResponse> {
  const endpoint = await endpointOf(view)
  const event_type = view.form.get('event_type')
  if (event_type !== '' && !webhookName(event_type)) throw new ApiError(422, { error: 'There is no event of this type.' })
  const of = event_type === '' ? {} : { event_type }
  const sent = await callRelay(view, (relay) => relay.test({ network_id: view.id, endpoint_id: endpoint.id, ...of }))
  const result = sent.there ? sent.value : undefined
  const back = html`<p class="row"><a class="button" href="${view.link(`webhooks/${endpoint.id}`)}">Back to the endpoint</a></p>`
  const unknown = sent.there && note('warn', html`<p>The relay does not know this endpoint yet. Try again in a moment.</p>`)
  const shown =
    result &&
    html`${result.outcome === 'delivered' ? news('good', html`<p>The endpoint accepted the event.</p>`) : news('bad', html`<p>The endpoint did not accept the event.</p>`)}
<dl>${event_type !== '' && html`<dt>Event</dt><dd>${event_type}, with example data</dd>`}<dt>Outcome</dt><dd>${attemptWords(result.outcome, null)}</dd><dt>HTTP status</dt><dd>${result.status ?? 'no response'}</dd>
<dt>Duration</dt><dd>${number(result.milliseconds)} ms</dd>${result.reason !== String(result.status) && html`<dt>Reason</dt><dd>${result.reason}</dd>`}</dl>
${(result.answer || result.answer_headers) && html`<h2>Response</h2>${result.answer_headers && html`<pre tabindex="0">${result.answer_headers}</pre>`}${result.answer && html`<pre tabindex="0">${result.answer}</pre>`}`}`
  const content = html`<h1>Test of ${own(nameOf(endpoint))}</h1><p class="mono">${endpoint.url}</p>${relayNote(sent)}${shown ?? unknown}${back}`
  return pageOf(view, 'Test event', content)
}

/** A change of one endpoint by a button: the same for every endpoint but the host's own. */
const change = (
  verb: string,
  action: PanelAction,
  done: string,
  make: (view: View, id: string) => Promise<unknown>,
  next = (id: string) => `webhooks/${id}`,
): Route => ({
  ...{ method: 'POST', path: `webhooks/:id/${verb}`, action },
  async handle(view) {
    const { id } = await ownEndpointOf(view)
    await make(view, id)
    return seeOther(view.link(next(id), { done }))
  },
})

async function confirmRemoval(view: View): Promise<PanelResponse> {
  const endpoint = await ownEndpointOf(view)
  const text = html`<p class="mono">${endpoint.url}</p><p>Nothing more is sent to it. Events that wait for it are not delivered.</p>`
  const back = view.link(`webhooks/${endpoint.id}`)
  const question = { title: `Delete ${nameOf(endpoint)}?`, text, button: 'Delete the endpoint', back }
  return confirmPage(view, question, ({ endpoints }) => endpoints.remove(view.id, endpoint.id))
}

export const webhookRoutes: readonly Route[] = [
  { method: 'GET', path: 'webhooks', label: 'Webhooks', action: 'visit', handle: list },
  { method: 'GET', path: 'webhooks/:id', action: 'visit', handle: show },
  { method: 'POST', path: 'webhooks/:id/test', action: 'endpoints.test', handle: test },
  change('pause', 'endpoints.pause', 'paused', (view, id) => view.acting.endpoints.disable(view.id, id)),
  change('resume', 'endpoints.pause', 'resumed', (view, id) => view.acting.endpoints.enable(view.id, id)),
  { method: 'GET', path: 'webhooks/:id/remove', action: 'endpoints.remove', handle: confirmRemoval },
  change(
    'remove',
    'endpoints.remove',
    'removed',
    (view, id) => view.acting.endpoints.remove(view.id, id),
    () => 'webhooks',
  ),
]
