/** The filter of deliveries: in the address, so that a link can be shared. */
import { isDay } from '../../base/moments.ts'
import { catalogue, hostCatalogue } from '../../events/catalogue.ts'
import type { Endpoint } from '../../host/endpoint.ts'
import type { Form } from '../entry/form.ts'
import { type Html, html } from '../look/html.ts'
import { field, option, type Problems } from '../look/parts.ts'
import type { DeliveryFilter, DeliveryState } from '../relay/relay-view.ts'
import type { View } from '../route.ts'

const states: readonly DeliveryState[] = ['pending', 'delivered', 'dead', 'skipped']
const outcomes = [
  ...['delivered', 'status', 'redirect', 'timeout', 'dns', 'refused', 'reset'],
  ...['unreachable', 'tls', 'protocol', 'blocked', 'damaged', 'aborted', 'fault'],
]
const names = ['endpoint', 'type', 'state', 'outcome', 'status', 'event', 'since', 'until'] as const

type Name = (typeof names)[number]

const labels: Readonly<Record<Name, string>> = {
  ...{ endpoint: 'Endpoint', type: 'Event', state: 'State', outcome: 'Outcome', status: 'HTTP status' },
  ...{ event: 'Event id', since: 'Since (UTC)', until: 'Until (UTC)' },
}

/** A filter as the address has it. */
export type FilterQuery = Readonly<Partial<Record<Name, string>>>

export interface GivenFilter {
  readonly query: FilterQuery
  readonly filter: DeliveryFilter
  readonly problems: Problems
}

/** A moment of a `datetime-local` field, in UTC. */
const momentOf = (text: string): string | undefined =>
  /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?Z?$/.test(text) &&
  isDay(text.slice(0, 10)) &&
  !Number.isNaN(Date.parse(`${text.replace('Z', '')}Z`))
    ? new Date(`${text.replace('Z', '')}Z`).toISOString()
    : undefined

/** The filter of an address. A value that cannot be right is a problem, and never ignored: all would match. */
export function filterFrom(form: Form): GivenFilter {
  const query: Partial<Record<Name, string>> = {}
  const problems = new Map<string, string>()
  for (const name of names) {
    const value = form.get(name).trim()
    if (value !== '') query[name] = value
    if (form.all(name).length > 1) problems.set(name, `${labels[name]} must be given once`)
  }
  const { endpoint, type, state, outcome, status, event, since, until } = query
  if (endpoint !== undefined && !/^\d{1,20}$/.test(endpoint)) problems.set('endpoint', 'endpoint must be an id of digits')
  if (type !== undefined && !/^\w{1,100}$/.test(type)) problems.set('type', 'event type must be a name such as PostCreated')
  const chosen = states.find((each) => each === state)
  if (state !== undefined && !chosen) problems.set('state', `state must be one of ${states.join(', ')}`)
  if (outcome !== undefined && !outcomes.includes(outcome)) problems.set('outcome', 'outcome does not exist')
  if (status !== undefined && !/^[1-5]\d\d$/.test(status)) problems.set('status', 'HTTP status must be a number from 100 to 599')
  if (event !== undefined && !/^[\x21-\x7e]{1,200}$/.test(event))
    problems.set('event', 'event id must have 1 to 200 printable characters')
  const [from, to] = [since && momentOf(since), until && momentOf(until)]
  if (since && !from) problems.set('since', 'since must be a date and time, such as 2026-11-20T10:00')
  if (until && !to) problems.set('until', 'until must be a date and time, such as 2026-11-20T10:00')
  return {
    query,
    problems,
    filter: {
      ...(endpoint === undefined ? {} : { endpoint_id: endpoint }),
      ...(type === undefined ? {} : { event_type: type.endsWith('Hook') ? type : `${type}Hook` }),
      ...(event === undefined ? {} : { event_id: event }),
      ...(chosen === undefined ? {} : { state: chosen }),
      ...(outcome === undefined ? {} : { outcome }),
      ...(status === undefined ? {} : { http_status: Number(status) }),
      ...(from ? { since: from } : {}),
      ...(to ? { until: to } : {}),
    },
  }
}

/** A filter in words, before a change that goes by it. */
export function described(query: FilterQuery): Html {
  const given = names.flatMap((name) => (query[name] === undefined ? [] : [[labels[name], query[name]]]))
  if (given.length === 0) return html`<p>No filter: <strong>every delivery of this network</strong>.</p>`
  return html`<dl>${given.map(([label, value]) => html`<dt>${label}</dt><dd>${value}</dd>`)}</dl>`
}

export const hiddenFields = (query: FilterQuery): readonly Html[] =>
  names.flatMap((name) => (query[name] === undefined ? [] : [html`<input type="hidden" name="${name}" value="${query[name]}">`]))

export const endpointName = (endpoints: readonly Endpoint[], id: string): string => {
  const found = endpoints.find((each) => each.id === id)
  return found ? (found.name ?? new URL(found.url).host) : `endpoint ${id}`
}

export function filterForm(view: View, { query, problems }: GivenFilter, endpoints: readonly Endpoint[]): Html {
  const value = (name: Name) => query[name] ?? ''
  const select = (name: Name, options: readonly (readonly [string, string])[]) =>
    field(
      { name, label: labels[name], problems },
      (attributes) =>
        html`<select ${attributes}>${option('', 'any', value(name))}${options.map(([key, label]) => option(key, label, value(name)))}</select>`,
    )
  const input = (name: Name, type: string, size: number) =>
    field(
      { name, label: labels[name], problems },
      (attributes) => html`<input ${attributes} type="${type}" size="${size}" value="${value(name)}" autocomplete="off">`,
    )
  const same = (list: readonly string[]) => list.map((each) => [each, each] as const)
  const types = [...Object.keys(catalogue), ...Object.keys(hostCatalogue)].sort().map((name) => [`${name}Hook`, name] as const)
  const open = Object.keys(query).length > 0
  return html`<details class="card" ${open && html`open`}><summary>Filter${open && html` <span class="badge">${Object.keys(query).length} set</span>`}</summary>
<form method="get" class="filter" action="${view.link('deliveries')}">
${select(
  'endpoint',
  endpoints.map(({ id }) => [id, endpointName(endpoints, id)] as const),
)}${select('type', types)}${select('state', same(states))}${select('outcome', same(outcomes))}
${input('status', 'text', 5)}${input('event', 'text', 22)}${input('since', 'datetime-local', 20)}${input('until', 'datetime-local', 20)}
<p class="row"><button class="primary">Apply</button>${open && html`<a class="button" href="${view.link('deliveries')}">Clear</a>`}</p></form></details>`
}
