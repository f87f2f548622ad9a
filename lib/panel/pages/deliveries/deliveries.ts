/** Deliveries: the list with its filter, and one delivery with its attempts. */
import { isoTime } from '../../../base/clock.ts'
import { ApiError, found } from '../../../errors.ts'
import { isForHost } from '../../../events/catalogue.ts'
import type { AttemptRow, DeliveryPage, DeliveryRow, DeliveryState, EndpointStatus } from '../../../relay/relay-admin.ts'
import { callRelay, relayNote, requireValue } from '../../layout/call-relay.ts'
import { endpointNames } from '../../layout/endpoint-names.ts'
import { pageOf } from '../../layout/layout.ts'
import { attemptWords, eventName, latestWords, stateWords } from '../../layout/wording.ts'
import { may } from '../../request/access.ts'
import type { PanelResponse } from '../../request/respond.ts'
import type { Route, View } from '../../route.ts'
import { type Html, html } from '../../ui/html.ts'
import { jsonView } from '../../ui/json-view.ts'
import { badge, breakable, empty, news, nothingListed, number, own, type Tone, table, time } from '../../ui/parts.ts'
import { type FilterQuery, filterForm, filterFrom, hiddenFields } from './filter.ts'
import { tryDelivery } from './try-now.ts'

const pageSize = 50

const tones: Readonly<Record<DeliveryState, Tone>> = { pending: 'warn', delivered: 'good', dead: 'bad', skipped: 'calm' }

const stateOf = ({ state }: Pick<DeliveryRow, 'state'>): Html => badge(tones[state] ?? 'calm', stateWords[state] ?? state)

/** The health of the endpoints by their ids, if any of the deliveries waits. */
async function healthOfEndpoints(view: View, deliveries: readonly DeliveryRow[]): Promise<ReadonlyMap<string, EndpointStatus>> {
  if (deliveries.every(({ state }) => state !== 'pending')) return new Map()
  const result = await callRelay(view, (relay) => relay.status({ network_id: view.id }))
  return new Map((result.there ? result.value.endpoints : []).map((health) => [health.endpoint_id, health]))
}

/** When the next attempt is due, or what a delivery waits for whose endpoint gets nothing now. */
function nextOf({ next_attempt_at }: DeliveryRow, health: EndpointStatus | undefined, now: number): Html | '' {
  if (!next_attempt_at) return ''
  switch (health?.activity) {
    case 'circuit open':
    case 'probing':
      return html`on hold: the receiver keeps failing${health.next_probe_at && html`, next try ${time(health.next_probe_at)}`}`
    case 'paused':
      return html`waits until the endpoint is resumed`
    case 'disabled':
      return html`waits: the endpoint is disabled`
    case 'set aside':
      return html`waits: the relay must be updated for the endpoint`
    case 'unreadable':
      return html`waits: the relay cannot read the key of the endpoint`
    default:
      return Date.parse(next_attempt_at) <= now ? html`due now` : html`next ${time(next_attempt_at)}`
  }
}

const dayMs = 86_400_000

/** Each button has the verb for those who do not see that it stands before all of them. */
const verb = html`<span class="sr">Resend </span>`

/** Resends of what matches: of what failed, unless the filter names another state. Each leads to a question with the count. */
function resendLinks(view: View, query: FilterQuery): readonly Html[] {
  const { state } = query
  if (state === 'pending') return []
  const now = view.settings.clock.now()
  const failedSince = (label: string, from: number) =>
    [`what failed ${label}`, { last_attempt_since: isoTime(from).slice(0, 16) }] as const
  const recent = [
    failedSince('in the last hour', now - dayMs / 24),
    failedSince('since yesterday', Math.floor(now / dayMs) * dayMs - dayMs),
  ]
  const all = [state === undefined ? 'all that failed' : 'all that match', {}] as const
  return [...(state === undefined || state === 'dead' ? recent : []), all].map(
    ([label, more]) =>
      html`<a class="button" href="${view.link('deliveries/resend', { state: 'dead', ...query, ...more, all: '1' })}">${verb}${label}</a>`,
  )
}

async function list(view: View): Promise<PanelResponse> {
  const given = filterFrom(view.query)
  const endpoints = await view.community.endpoints.list(view.id)
  const after = view.query.get('after')
  if (!/^[\x21-\x7e]{0,300}$/.test(after)) throw new ApiError(422, { error: 'This page of the list does not exist.' })
  const paging = { limit: pageSize, ...(after === '' ? {} : { after }) }
  const isWrong = given.problems.size > 0
  const result = await callRelay(view, async (relay): Promise<DeliveryPage> => {
    return isWrong ? { items: [], next: null } : relay.list({ ...given.filter, ...paging, network_id: view.id })
  })
  const { items, next } = result.there ? result.value : { items: [], next: null }
  const nameOfEndpoint = endpointNames(endpoints)
  const healthOf = await healthOfEndpoints(view, items)
  const now = view.settings.clock.now()
  const mayResend = may(view.visitor, 'deliveries.resend') && items.length > 0
  const rows = items.map(
    (each) => html`<tr>
${mayResend && html`<td class="pick">${each.state !== 'pending' && html`<input type="checkbox" name="id" value="${each.id}" form="chosen" aria-label="Select ${eventName(each)} ${each.event_id}">`}</td>`}
<td class="state">${stateOf(each)}</td>
<th scope="row"><a href="${view.link(`deliveries/${encodeURIComponent(each.id)}`)}">${breakable(eventName(each))}</a><br><span class="small soft mono id">${each.event_id}</span></th>
<td data-label="Endpoint" class="free">${own(nameOfEndpoint(each.endpoint_id))}</td>
<td data-label="Outcome">${latestWords(each)}</td>
<td data-label="Attempts">${number(each.attempts)}</td>
<td data-label="Last attempt">${time(each.last_attempt_at, 'none')}${each.next_attempt_at && html`<br><span class="small soft">${nextOf(each, healthOf.get(each.endpoint_id), now)}</span>`}</td></tr>`,
  )
  const select = mayResend ? [html`<span class="sr">Select</span>`] : []
  const columns = [...select, 'State', 'Event', 'Endpoint', 'Outcome', 'Attempts', 'Last attempt']
  const listed = table({ label: 'Deliveries', columns, rows, kind: 'cards wide' })
  const resend =
    mayResend &&
    html`<form id="chosen" method="get" action="${view.link('deliveries/resend')}">${hiddenFields(given.query)}<p class="row"><span aria-hidden="true">Resend</span>${resendLinks(view, given.query)}<button>${verb}the selected</button>
<button type="button" class="plain" data-all="id" data-script hidden>Select all on this page</button></p></form>`
  const isFiltered = Object.keys(given.query).length > 0
  // The relay looks through a bounded number of deliveries for each page.
  const isPartial = next !== null && items.length < pageSize
  const more = 'There are older deliveries to look through: follow “Older”.'
  const none = isPartial
    ? empty('No delivery matches so far', more)
    : isFiltered
      ? empty('No delivery matches', 'Change the filter, or clear it.')
      : empty(
          'No delivery yet',
          'An event that an endpoint wants becomes a delivery.',
          html`<a class="button" href="${view.link('webhooks')}">To the endpoints</a>`,
        )
  return pageOf(
    view,
    'Deliveries',
    html`<div class="head"><h1>Deliveries</h1></div>
${view.query.get('done') === 'nothing' && news('bad', html`<p>Nothing is selected. Select at least one delivery.</p>`)}
${view.query.get('done') === 'none' && news('calm', html`<p>No delivery matches, so nothing is resent. A waiting one is retried by itself, or by “Try now” on its page.</p>`)}
${relayNote(result)}${filterForm(view, given, endpoints)}${resend}
${isWrong ? nothingListed(given.problems) : result.there && (items.length > 0 ? listed : none)}
${isPartial && items.length > 0 && html`<p class="soft">${more}</p>`}<nav class="pager" aria-label="Pages">${after !== '' && html`<a href="${view.link('deliveries', given.query)}">Newest</a>`}${next !== null && html`<a href="${view.link('deliveries', { ...given.query, after: next })}">Older</a>`}</nav>`,
    isWrong ? 422 : 200,
  )
}

/** At most so many of them are on the page of a record. */
const mostAbout = 10

/** The newest deliveries of events with a subject, such as `member:1001`; nothing without a relay. */
export async function deliveriesAbout(view: View, subject: string): Promise<Html | ''> {
  const filter = { network_id: view.id, subject }
  const result = await callRelay(view, (relay) => relay.list({ ...filter, limit: mostAbout }))
  if (!result.there && result.why === 'none') return ''
  const { items, next } = result.there ? result.value : { items: [], next: null }
  const endpoint = endpointNames(items.length > 0 ? await view.community.endpoints.list(view.id) : [])
  const rows = items.map(
    (each) =>
      html`<li><a href="${view.link(`deliveries/${encodeURIComponent(each.id)}`)}">${eventName(each)}</a> ${stateOf(each)}<br><span class="small soft">${own(endpoint(each.endpoint_id))}, ${time(each.event_timestamp)}</span></li>`,
  )
  const none = next === null ? 'The relay has none about them.' : 'None among the newest deliveries of the network.'
  const list = items.length > 0 ? html`<ul class="list">${rows}</ul>` : html`<p class="soft">${none}</p>`
  const all = html`<p><a href="${view.link('deliveries', { subject })}">All deliveries about them</a></p>`
  return html`<section class="card"><h2>Deliveries</h2>${relayNote(result)}${result.there && html`${list}${all}`}</section>`
}

/** @param isOpen whether it is why the delivery fails */
function responseOf({ answer, answer_headers }: AttemptRow, isOpen: boolean): Html | string {
  if (!answer && !answer_headers) return '–'
  return html`<details ${isOpen && html`open`}><summary>${answer ? html`${number(answer.length)} characters` : 'headers only'}</summary>${answer && html`<pre tabindex="0">${answer}</pre>`}${answer_headers && html`<pre tabindex="0">${answer_headers}</pre>`}</details>`
}

async function show(view: View): Promise<PanelResponse> {
  const id = view.params['id'] ?? ''
  const delivery = found(requireValue(await callRelay(view, (relay) => relay.get({ network_id: view.id, id }))), 'Delivery')
  const health = (await healthOfEndpoints(view, [delivery])).get(delivery.endpoint_id)
  const endpoints = await view.community.endpoints.list(view.id)
  const path = `deliveries/${encodeURIComponent(delivery.id)}`
  const showsBody = view.query.get('body') === '1'
  const attempts = delivery.history.map(
    (
      each,
      place,
    ) => html`<tr><th scope="row" class="keep" data-label="No.">${each.number}</th><td>${time(each.at)}</td><td data-label="Outcome" class="free">${attemptWords(each.outcome, null)}${each.reason !== null && `: ${each.reason}`}</td><td data-label="Status">${each.status ?? '–'}</td>
<td data-label="Duration" class="keep">${number(each.milliseconds)} ms</td><td data-label="Response">${responseOf(each, place === 0 && each.outcome !== 'delivered')}</td></tr>`,
  )
  const body =
    delivery.body === null
      ? html`<p class="soft">The body is no longer kept.</p>`
      : isForHost(eventName(delivery))
        ? html`<p class="soft">This event is for the host application, and its body is not shown. It has addresses that the API keeps back.</p>`
        : showsBody
          ? html`${jsonView(delivery.body, view.settings.masked)}<p><a href="${view.link(path)}">Hide the body</a></p>`
          : html`<p>It may contain personal data. <a href="${view.link(path, { body: '1' })}">Show the body</a></p>`
  const resend =
    may(view.visitor, 'deliveries.resend') &&
    delivery.state !== 'pending' &&
    html`<form method="post" action="${view.link(`${path}/resend`)}"><button class="primary">Resend</button></form>`
  return pageOf(
    view,
    'Delivery',
    html`<div class="head"><h1>${breakable(eventName(delivery))}</h1>${stateOf(delivery)}<div class="end">${tryDelivery(view, delivery, health)}${resend}</div></div>
${view.query.get('done') === 'resent' && news('good', html`<p>The delivery is queued again. Reload the page in a moment to see the new attempt.</p>`)}
<dl><dt>Event id</dt><dd class="mono">${delivery.event_id}</dd><dt>Event time</dt><dd>${time(delivery.event_timestamp)}</dd>
<dt>Endpoint</dt><dd><a href="${view.link(`webhooks/${delivery.endpoint_id}`)}">${own(endpointNames(endpoints)(delivery.endpoint_id))}</a></dd>
<dt>Attempts</dt><dd>${number(delivery.attempts)}</dd>
<dt>Last attempt</dt><dd>${latestWords(delivery)}${delivery.milliseconds !== null && ` in ${number(delivery.milliseconds)} ms`}, ${time(delivery.last_attempt_at, 'never')}</dd>
${delivery.next_attempt_at && html`<dt>Next attempt</dt><dd>${nextOf(delivery, health, view.settings.clock.now())}</dd>`}</dl>
<h2>Attempts</h2>
${attempts.length === 0 ? html`<p class="soft">No attempt is kept.</p>` : table({ label: 'Attempts', columns: ['No.', 'Time', 'Outcome', 'Status', 'Duration', 'Response'], rows: attempts, kind: 'cards wide', stop: true })}
<h2>Body</h2>${body}`,
  )
}

export const deliveryRoutes: readonly Route[] = [
  { method: 'GET', path: 'deliveries', label: 'Deliveries', action: 'visit', handle: list },
  { method: 'GET', path: 'deliveries/:id', action: 'visit', handle: show },
]
