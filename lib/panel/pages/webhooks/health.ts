/** How an endpoint does: what failed for good, what waits, its attempts, and how long its receiver takes. */
import { isoTime } from '../../../base/clock.ts'
import { durationAt, durationBounds } from '../../../relay/durations.ts'
import { type DeliveryRow, type EndpointStatus, type HourCount, mostOfEndpoint } from '../../../relay/relay-admin.ts'
import { callRelay } from '../../layout/call-relay.ts'
import { attemptWords, eventName } from '../../layout/wording.ts'
import { may } from '../../request/access.ts'
import type { View } from '../../route.ts'
import { type Bar, barChart } from '../../ui/chart.ts'
import { type Html, html } from '../../ui/html.ts'
import { note, number, table, time } from '../../ui/parts.ts'

export const waiting = ({ pending }: EndpointStatus): string => `${number(pending)}${pending < mostOfEndpoint ? '' : '+'}`

export const failed = ({ dead }: EndpointStatus): string => `${number(dead)}${dead < mostOfEndpoint ? '' : '+'}`

const hourMs = 3_600_000

/** The 24 hours up to now: one without an attempt has a bar of no height. */
function everyHour(given: readonly HourCount[], now: number): readonly HourCount[] {
  const there = new Map(given.map((each) => [Math.floor(Date.parse(each.at) / hourMs), each]))
  const last = Math.floor(now / hourMs)
  return Array.from({ length: 24 }, (_, place) => {
    const hour = last - 23 + place
    return there.get(hour) ?? { at: isoTime(hour * hourMs), delivered: 0, failed: 0, durations: [], slowest: 0 }
  })
}

const spark = (title: string, figure: unknown, bars: readonly Bar[]): Html =>
  html`<span class="keep"><span class="rate">${figure}</span> ${barChart({ title, bars, width: 128, height: 26, kind: 'spark' })}</span>`

/** The share of attempts of the last day that were delivered, with a chart of its hours. */
export function lastDay(health: EndpointStatus, now: number): Html {
  const hours = everyHour(health.hours, now)
  const delivered = hours.reduce((all, hour) => all + hour.delivered, 0)
  const failed = hours.reduce((all, hour) => all + hour.failed, 0)
  if (delivered + failed === 0) return html`<span class="soft">no attempt</span>`
  const rate = `${Math.floor((delivered / (delivered + failed)) * 1000) / 10} %`
  const bars = hours.map((hour) => ({
    at: hour.at,
    label: `${number(hour.delivered)} delivered, ${number(hour.failed)} failed`,
    parts: [
      { value: hour.delivered, kind: 'good' as const },
      { value: hour.failed, kind: 'bad' as const },
    ],
  }))
  return spark(`Last day: ${number(delivered)} delivered, ${number(failed)} failed`, rate, bars)
}

interface Durations {
  readonly half: number
  readonly most: number
  readonly slowest: number
}

/** The durations that half of the responses and 95 % of them did not exceed; `undefined` if there was none. */
function durationsOf(hours: readonly HourCount[]): Durations | undefined {
  const slowest = Math.max(0, ...hours.map((hour) => hour.slowest))
  const sums = [...durationBounds, 0].map((_, place) => hours.reduce((sum, { durations }) => sum + (durations[place] ?? 0), 0))
  const [half, most] = [durationAt(sums, slowest, 0.5), durationAt(sums, slowest, 0.95)]
  return half === undefined || most === undefined ? undefined : { half, most, slowest }
}

const ms = (value: number): string => `${number(value)} ms`
const inWords = ({ half, most, slowest }: Durations): string => `p50 ${ms(half)}, p95 ${ms(most)}, slowest ${ms(slowest)}`

/** How long the receiver took within the last day, with a chart of its hours. */
function responseTime(health: EndpointStatus, now: number): Html {
  const hours = everyHour(health.hours, now)
  const day = durationsOf(hours)
  if (!day) return html`<span class="soft">no response</span>`
  const bars = hours.map((hour) => {
    const durations = durationsOf([hour])
    const label = durations ? inWords(durations) : 'no response'
    return { at: hour.at, label, parts: [{ value: durations?.most ?? 0, kind: 'calm' as const }] }
  })
  return html`${spark(`Response time of the last day, p95 of each hour: ${inWords(day)}`, ms(day.half), bars)}
<div class="small">half within <span class="keep">${ms(day.half)}</span> (p50), 95 % within <span class="keep">${ms(day.most)}</span> (p95), slowest <span class="keep">${ms(day.slowest)}</span></div>`
}

/** What nothing sends again by itself, and the way to it. */
export function failedNote(view: View, health: EndpointStatus): Html {
  const { endpoint_id, dead } = health
  const query = { endpoint_id, state: 'dead' }
  const box = note(
    'bad',
    html`<p><a href="${view.link('deliveries', query)}">${failed(health)} ${dead === 1 ? 'delivery' : 'deliveries'} failed for good</a>, and ${dead === 1 ? 'is' : 'are'} not tried again.
${may(view.visitor, 'deliveries.resend') && html`<a class="button" href="${view.link('deliveries/resend', { ...query, all: '1' })}" data-dialog>Resend failed (${failed(health)})</a>`}</p>`,
  )
  return html`<div data-refresh="10" data-part="failed">${dead > 0 && box}</div>`
}

export function cards(view: View, health: EndpointStatus): Html {
  const now = view.settings.clock.now()
  const next = health.next_probe_at
    ? html`next try ${time(health.next_probe_at)}`
    : health.next_attempt_at && html`next attempt ${time(health.next_attempt_at)}`
  return html`<div class="grid" data-refresh="10" data-part="health">
<div class="card"><div class="soft">Waiting</div><div class="big">${waiting(health)}</div>${health.oldest_pending_at && html`<div class="small">oldest ${time(health.oldest_pending_at)}</div>`}</div>
<div class="card"><div class="soft">Last day</div>${lastDay(health, now)}<div class="small">last success ${time(health.last_success_at, 'never')}</div></div>
<div class="card"><div class="soft">Response time, last day</div>${responseTime(health, now)}</div>
<div class="card"><div class="soft">Last error</div><div>${health.last_error ?? (health.dead > 0 ? 'none since the last delivery' : 'none')}</div>
<div class="small">${next}</div></div></div>`
}

/** The newest deliveries that are looked at for their latest attempts, and how many of those are shown. */
const lookedAt = 50
const shownAttempts = 10

const attemptRow = (
  view: View,
  { id, event_type, last_attempt_at, last_outcome, last_status, milliseconds }: DeliveryRow,
): Html =>
  html`<tr><td>${time(last_attempt_at)}</td>
<th scope="row"><a href="${view.link(`deliveries/${encodeURIComponent(id)}`)}">${eventName({ event_type })}</a></th>
<td data-label="Outcome">${attemptWords(last_outcome ?? '', null)}</td><td data-label="Status">${last_status ?? '–'}</td>
<td data-label="Duration" class="keep">${milliseconds === null ? '–' : ms(milliseconds)}</td></tr>`

/** The latest attempts among the newest deliveries of an endpoint, each with a link to its delivery. */
export async function latestAttempts(view: View, endpoint_id: string): Promise<Html | ''> {
  const result = await callRelay(view, (relay) => relay.list({ network_id: view.id, endpoint_id, limit: lookedAt }))
  // The page says once why there is no relay.
  if (!result.there) return ''
  const rows = result.value.items
    .filter(({ last_attempt_at, attempts }) => last_attempt_at !== null && attempts > 0)
    .toSorted((one, other) => ((one.last_attempt_at ?? '') < (other.last_attempt_at ?? '') ? 1 : -1))
    .slice(0, shownAttempts)
    .map((delivery) => attemptRow(view, delivery))
  const columns = ['Time', 'Event', 'Outcome', 'Status', 'Duration']
  return html`<h2>Latest attempts</h2><div data-refresh="10" data-part="attempts">${
    rows.length > 0 ? table({ label: 'Latest attempts', columns, rows }) : html`<p class="soft">No attempt yet.</p>`
  }</div><p><a href="${view.link('deliveries', { endpoint_id })}">Deliveries of this endpoint</a></p>`
}
