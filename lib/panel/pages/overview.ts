/** The overview: what is sent now, what fails, and what waits. */
import { isoTime } from '../../base/clock.ts'
import { barChart } from '../chart.ts'
import { html } from '../html.ts'
import { layout } from '../layout.ts'
import { badge, note, number, time } from '../parts.ts'
import { askRelay, relayNote } from '../relay.ts'
import type { RelayActivity, RelayMinute, RelayStatus } from '../relay-view.ts'
import { type PanelAnswer, page } from '../respond.ts'
import type { Route, View } from '../route.ts'

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

function charts(activity: RelayActivity, now: number) {
  const shown = everyMinute(activity.minutes, now)
  const sum = (of: (minute: RelayMinute) => number) => shown.reduce((all, each) => all + of(each), 0)
  const [delivered, failed, changes] = [
    sum((each) => each.delivered),
    sum((each) => each.failed),
    sum((each) => each.circuit_changes),
  ]
  const labelOf = ({ at, ...each }: RelayMinute) =>
    `${at.slice(11, 16)} UTC: ${number(each.delivered)} delivered, ${number(each.failed)} failed, ${number(each.circuit_changes)} circuit changes`
  const bars = shown.map((each) => ({
    label: labelOf(each),
    parts: [
      { value: each.delivered, kind: 'good' as const },
      { value: each.failed, kind: 'bad' as const },
    ],
    marked: each.circuit_changes > 0,
  }))
  const { pending } = activity
  return html`<div class="grid">
<div class="card"><div class="soft">Delivered</div><div class="big">${number(delivered)}</div><div class="small">in 3 hours</div></div>
<div class="card"><div class="soft">Failed attempts</div><div class="big">${number(failed)}</div><div class="small">in 3 hours</div></div>
<div class="card"><div class="soft">Waiting</div><div class="big">${number(pending.count)}${!pending.exact && '+'}</div><div class="small">oldest ${time(activity.oldest_pending_at)}</div></div>
<div class="card"><div class="soft">Circuit changes</div><div class="big">${number(changes)}</div><div class="small">in 3 hours</div></div></div>
<h2>Deliveries per minute</h2><div class="card">${barChart({
    title: `The last 3 hours: ${number(delivered)} delivered, ${number(failed)} failed, ${number(changes)} circuit changes`,
    bars,
    width: 720,
    height: 110,
  })}<p class="small soft">${badge('good', 'delivered')} ${badge('bad', 'failed')} ${badge('warn', 'a circuit opened or closed')}</p></div>`
}

/** Endpoints that need a person. */
function troubles(view: View, { running, endpoints }: RelayStatus) {
  const stopped = endpoints.filter(({ activity }) => !['delivering', 'paused'].includes(activity))
  return html`${!running && note('warn', html`<p>No relay runs now. Events wait.</p>`)}
${stopped.map(({ endpoint_id, activity, reason }) =>
  note(
    'bad',
    html`<p><a href="${view.link(`webhooks/${endpoint_id}`)}">Endpoint ${endpoint_id}</a>: ${activity}${reason && ` (${reason})`}</p>`,
  ),
)}`
}

async function show(view: View): Promise<PanelAnswer> {
  const asked = await askRelay(view, async (relay) => ({
    activity: await relay.activity(view.id, minutes),
    status: await relay.status(view.id),
  }))
  const keys = (await view.community.keys.list(view.id)).filter(({ status, expired }) => status === 'Active' && !expired)
  const used = keys.toSorted((one, other) => ((one.last_used_at ?? '') < (other.last_used_at ?? '') ? 1 : -1)).slice(0, 10)
  const rows = used.map(
    ({ name, redacted, last_used_at }) =>
      html`<tr><th scope="row">${name}</th><td><code class="keep">${redacted}</code></td><td data-label="Last used">${time(last_used_at, 'never')}</td></tr>`,
  )
  return page(
    layout(
      view,
      'Overview',
      html`<div class="head"><h1>Overview</h1></div>${relayNote(asked)}
<div data-refresh="30" data-part="overview">${asked.there && html`${troubles(view, asked.value.status)}${charts(asked.value.activity, view.settings.clock.now())}`}</div>
<h2>Keys in use</h2>
${rows.length === 0 ? html`<p class="soft">No key is active. <a href="${view.link('keys')}">API keys</a></p>` : html`<div class="scroll" role="region" aria-label="Keys in use" tabindex="0"><table class="cards"><thead><tr><th scope="col">Name</th><th scope="col">Key</th><th scope="col">Last used</th></tr></thead><tbody>${rows}</tbody></table></div>`}`,
    ),
  )
}

export const overviewRoutes: readonly Route[] = [{ method: 'GET', path: 'overview', handle: show }]
