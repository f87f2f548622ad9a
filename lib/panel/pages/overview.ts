/** The overview: who is there, what needs somebody, what is sent now, what fails, and what waits. */
import { isoTime } from '../../base/clock.ts'
import type { Endpoint } from '../../host/endpoints/endpoint.ts'
import type { KeyListing } from '../../host/keys.ts'
import { mostCounted, type Overview } from '../../host/overview.ts'
import type { KeyTraffic, Traffic, TrafficHour } from '../../http/traffic.ts'
import { mostOfEndpoint, type RelayActivity, type RelayMinute, type RelayStatus } from '../../relay/relay-admin.ts'
import { callRelay, relayNote } from '../layout/call-relay.ts'
import { endpointNames } from '../layout/endpoint-names.ts'
import { pageOf } from '../layout/layout.ts'
import { activityWords } from '../layout/wording.ts'
import { may } from '../request/access.ts'
import type { PanelResponse } from '../request/respond.ts'
import type { Route, View } from '../route.ts'
import { barChart } from '../ui/chart.ts'
import { type Html, html } from '../ui/html.ts'
import { badge, note, number, own, table, time } from '../ui/parts.ts'
import { addEndpoint, endpointTable } from './webhooks/webhooks.ts'

const figure = (name: string, value: unknown, more?: unknown): Html =>
  html`<div class="card"><div class="soft">${name}</div><div class="big">${value}</div>${more && html`<div class="small">${more}</div>`}</div>`

/** Counts have a bound, at which there may be more. */
const upTo = (count: number): string => `${number(count)}${count >= mostCounted ? '+' : ''}`

function people(view: View, { members, posts, comments, plans }: Overview): Html {
  const rows = plans.map(
    ({ id, name, members: count }) =>
      html`<tr><th scope="row"><a href="${view.link('members', { plan_id: id })}">${own(name)}</a></th><td data-label="Members">${upTo(count)}</td></tr>`,
  )
  const days = 'in 30 days'
  return html`<h2>People</h2><div class="grid">
${figure('Members', html`<a href="${view.link('members', { state: 'active' })}">${upTo(members.now)}</a>`, `${upTo(members.thirty_days_ago)} thirty days ago`)}
${figure('Joined', upTo(members.joined), days)}${figure('Left', upTo(members.left), days)}
${figure('Active in 7 days', upTo(members.active_7_days), `${upTo(members.active_30_days)} ${days}`)}
${figure('Posts', upTo(posts), days)}${figure('Comments', upTo(comments), days)}</div>
${plans.length > 0 && table({ label: 'Plans by members', columns: ['Plan', 'Members'], rows, kind: 'narrow' })}`
}

const reportsNote = (view: View, { open_reports }: Overview): Html | false =>
  open_reports > 0 &&
  note(
    'warn',
    html`<p><a href="${view.link('reports')}">${upTo(open_reports)} open abuse report${open_reports !== 1 && 's'}</a></p>`,
  )

const minutes = 180
const minuteMs = 60_000

/** Every minute of the time shown: one without an attempt has a bar of no height. */
function everyMinute(given: readonly RelayMinute[], now: number): readonly RelayMinute[] {
  const there = new Map(given.map((each) => [Math.floor(Date.parse(each.at) / minuteMs), each]))
  const last = Math.max(Math.floor(now / minuteMs), ...there.keys())
  return Array.from({ length: minutes }, (_, place) => {
    const minute = last - minutes + 1 + place
    return there.get(minute) ?? { at: isoTime(minute * minuteMs), delivered: 0, failed: 0, circuit_changes: 0 }
  })
}

/** Deliveries that nothing sends again by itself, and where they are listed. */
function failedForGood(view: View, { endpoints }: RelayStatus) {
  const failed = endpoints.reduce((all, { dead }) => all + dead, 0)
  const isCapped = endpoints.some(({ dead }) => dead >= mostOfEndpoint)
  return { failed, shown: `${number(failed)}${isCapped ? '+' : ''}`, list: view.link('deliveries', { state: 'dead' }) }
}

function charts(view: View, activity: RelayActivity, status: RelayStatus) {
  const now = view.settings.clock.now()
  const { failed: dead, shown: deadShown, list } = failedForGood(view, status)

  const shown = everyMinute(activity.minutes, now)
  const sum = (of: (minute: RelayMinute) => number) => shown.reduce((all, each) => all + of(each), 0)
  const [delivered, failed, changes] = [
    sum((each) => each.delivered),
    sum((each) => each.failed),
    sum((each) => each.circuit_changes),
  ]
  const labelOf = (each: RelayMinute) =>
    `${number(each.delivered)} delivered, ${number(each.failed)} failed, ${number(each.circuit_changes)} put on hold or resumed`
  const bars = shown.map((each) => ({
    at: each.at,
    label: labelOf(each),
    parts: [
      { value: each.delivered, kind: 'good' as const },
      { value: each.failed, kind: 'bad' as const },
    ],
    marked: each.circuit_changes > 0,
  }))
  const { pending } = activity
  return html`<h2>Deliveries</h2><div class="grid">
${figure('Failed for good', deadShown, dead > 0 ? html`<a href="${list}">not tried again</a>` : 'no attempt left')}
${figure('Delivered', number(delivered), 'in 3 hours')}
${figure('Failed attempts', number(failed), 'in 3 hours')}
${figure('Waiting', `${number(pending.count)}${pending.exact ? '' : '+'}`, activity.oldest_pending_at && html`oldest ${time(activity.oldest_pending_at)}`)}
${figure('Put on hold or resumed', number(changes), 'in 3 hours')}</div>
<h2>Deliveries per minute</h2><div class="card">${
    delivered + failed + changes === 0
      ? html`<p class="soft">No attempt in the last 3 hours.</p>`
      : html`${barChart({
          title: `The last 3 hours: ${number(delivered)} delivered, ${number(failed)} failed, ${number(changes)} put on hold or resumed`,
          ...{ bars, width: 720, height: 110 },
        })}<p class="small soft">${badge('good', 'delivered')} ${badge('bad', 'failed')} ${badge('warn', 'put on hold or resumed')}</p>`
  }</div>`
}

const mostTroubles = 10

/** Endpoints and deliveries that need a person. */
function troubles(view: View, status: RelayStatus, nameOf: (id: string) => string): Html {
  const { running, endpoints } = status
  const { failed, shown, list } = failedForGood(view, status)
  const stopped = endpoints.filter(({ activity }) => !['delivering', 'paused'].includes(activity))
  const items = stopped
    .slice(0, mostTroubles)
    .map(
      ({ endpoint_id, activity, reason, last_error, last_success_at }) =>
        html`<li><a href="${view.link(`webhooks/${endpoint_id}`)}">${own(nameOf(endpoint_id))}</a>: ${activityWords[activity] ?? activity}${(reason ?? last_error) && ` (${reason ?? last_error})`}, last success ${time(last_success_at, 'never')}</li>`,
    )
  const more = stopped.length - items.length
  const box = note(
    'bad',
    html`<p>${number(stopped.length)} of ${number(endpoints.length)} endpoints ${stopped.length === 1 ? 'gets' : 'get'} no events now:</p>
<ul class="list">${items}${more > 0 && html`<li><a href="${view.link('webhooks')}">${number(more)} more</a></li>`}</ul>`,
  )
  return html`${
    failed > 0 &&
    note(
      'bad',
      html`<p><a href="${list}">${shown} ${failed === 1 ? 'delivery' : 'deliveries'} failed for good</a>, and ${failed === 1 ? 'is' : 'are'} not tried again.</p>`,
    )
  }${!running && note('warn', html`<p>No relay runs now. Events wait.</p>`)}${stopped.length > 0 && box}`
}

const mostEndpoints = 10

/** The endpoints, first those that need a person, and the way to one more. */
function endpointsOf(view: View, endpoints: readonly Endpoint[], status: RelayStatus | undefined): Html {
  const healthOf = new Map((status?.endpoints ?? []).map((health) => [health.endpoint_id, health]))
  const isWell = ({ id }: Endpoint): number => {
    const { dead = 0, activity = 'delivering' } = healthOf.get(id) ?? {}
    return dead > 0 || !['delivering', 'paused'].includes(activity) ? 0 : 1
  }
  const shown = endpoints.toSorted((one, other) => isWell(one) - isWell(other)).slice(0, mostEndpoints)
  const more = endpoints.length - shown.length
  return html`<div class="head"><h2>Endpoints</h2><div class="end">${addEndpoint(view)}</div></div>
${shown.length > 0 ? endpointTable(view, shown, status) : html`<p class="soft">No endpoint yet: add the address of a program that receives events.</p>`}
${more > 0 && html`<p><a href="${view.link('webhooks')}">${number(more)} more</a></p>`}`
}

const findMember = (view: View): Html =>
  html`<form method="get" action="${view.link('members')}" role="search" class="row"><input type="search" name="q" dir="auto" maxlength="200" aria-label="Name, address or id of a member" placeholder="Member" autocomplete="off"><button>Find</button></form>`

function requestsOf({ hours, since }: Traffic): Html {
  const sum = (of: (hour: TrafficHour) => number) => number(hours.reduce((all, each) => all + of(each), 0))
  const wordsOf = (requests: string, refused: string, failed: string) =>
    `${requests} requests, ${refused} refused, ${failed} failed`
  const bars = hours.map(({ at, requests, refused, failed }) => ({
    at,
    label: wordsOf(number(requests), number(refused), number(failed)),
    parts: [
      { value: requests - refused - failed, kind: 'calm' as const },
      { value: refused, kind: 'warn' as const },
      { value: failed, kind: 'bad' as const },
    ],
  }))
  const all = wordsOf(
    sum(({ requests }) => requests),
    sum(({ refused }) => refused),
    sum(({ failed }) => failed),
  )
  const isIdle = hours.every(({ requests }) => requests === 0)
  return html`<h2>Requests per hour</h2><div class="card">${!isIdle && barChart({ title: `The last 24 hours: ${all}`, bars, width: 720, height: 110 })}
<p class="small soft">${all} in the last 24 hours. “Refused” are responses of 400 to 499, “failed” those of 500 to 599.
This process has counted since ${time(since)}; others count for themselves.</p></div>`
}

/** The share of the rate limit that a key has used in its minute. */
function rateOf(use: KeyTraffic | undefined, name: string, now: number): Html | string {
  if (!use) return '–'
  if (!use.limit) return 'no limit'
  const { per_minute, remaining, resets_at } = use.limit
  const used = Date.parse(resets_at) <= now ? 0 : per_minute - remaining
  return html`<meter aria-label="Rate limit of ${name}" min="0" max="${per_minute}" high="${Math.ceil(per_minute * 0.8)}" value="${used}"></meter>
<span class="small keep">${number(used)} of ${number(per_minute)}</span>`
}

/** The active keys among the newest that were used last. */
async function keysInUse(view: View, traffic: Traffic): Promise<Html> {
  const { items } = await view.community.keys.page(view.id, { status: 'Active', limit: 100 })
  const active = items.filter(({ expired }) => !expired)
  if (active.length === 0) return html`<p class="soft">No key is active. <a href="${view.link('keys')}">API keys</a></p>`
  const uses = new Map(traffic.keys.map((use) => [use.key, use]))
  const now = view.settings.clock.now()
  const usedAt = ({ id, last_used_at }: KeyListing) => uses.get(id)?.last_request_at ?? last_used_at ?? ''
  const used = active.toSorted((one, other) => (usedAt(one) < usedAt(other) ? 1 : -1)).slice(0, 10)
  const rows = used.map((key) => {
    const use = uses.get(key.id)
    return html`<tr><th scope="row">${own(key.name)}</th><td><code class="keep">${key.redacted}</code></td>
<td data-label="Last used">${time(usedAt(key), 'never')}</td><td data-label="Requests">${use ? number(use.requests) : '–'}</td>
<td data-label="Rate limit">${rateOf(use, key.name, now)}</td></tr>`
  })
  const columns = ['Name', 'Key', 'Last used', 'Requests, last hour in use', 'Rate limit, this minute']
  return table({ label: 'Recently used keys', columns, rows, kind: 'cards wide', stop: true })
}

const readOnlySwitch = (view: View): Html | false =>
  may(view.visitor, 'network.read_only') &&
  !view.network.read_only &&
  html`<h2>Maintenance</h2><p><a class="button" href="${view.link('read-only')}" data-dialog>Make the network read-only</a></p>`

async function show(view: View): Promise<PanelResponse> {
  const result = await callRelay(view, async (relay) => ({
    activity: await relay.activity({ network_id: view.id, minutes }),
    status: await relay.status({ network_id: view.id }),
  }))
  const endpoints = await view.community.endpoints.list(view.id)
  const status = result.there ? result.value.status : undefined
  const network = await view.community.overview(view.id)
  const traffic = await view.community.traffic(view.id)
  const keys = await keysInUse(view, traffic)
  return pageOf(
    view,
    'Overview',
    html`<div class="head"><h1>Overview</h1><div class="end">${findMember(view)}</div></div>${relayNote(result)}
<div data-refresh="30" data-part="troubles">${status && troubles(view, status, endpointNames(endpoints))}</div>${reportsNote(view, network)}
${endpointsOf(view, endpoints, status)}
${people(view, network)}
<div data-refresh="30" data-part="overview">${result.there && charts(view, result.value.activity, result.value.status)}</div>
<div data-refresh="30" data-part="traffic">${requestsOf(traffic)}
</div>
<div class="head"><h2>Recently used keys</h2><div class="end">${may(view.visitor, 'keys.create') && html`<a class="button" href="${view.link('keys/new')}">Create a key</a>`}</div></div>
<div data-refresh="30" data-part="keys">${keys}</div>${readOnlySwitch(view)}`,
  )
}

export const overviewRoutes: readonly Route[] = [
  { method: 'GET', path: 'overview', label: 'Overview', action: 'visit', handle: show },
]
