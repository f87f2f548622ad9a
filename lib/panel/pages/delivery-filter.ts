/** The filter of deliveries: in the address, so that a link can be shared. */
import { isDay } from '../../base/date-time.ts'
import { catalogue, hostCatalogue } from '../../events/catalogue.ts'
import type { Endpoint } from '../../host/endpoint.ts'
import type { DeliveryFilter, DeliveryState } from '../../relay/relay-admin.ts'
import { endpointNames } from '../layout/endpoint-names.ts'
import { outcomeWords, stateWords } from '../layout/wording.ts'
import type { Form } from '../request/form.ts'
import type { View } from '../route.ts'
import { type Html, html } from '../ui/html.ts'
import { field, momentField, momentLabel, option, own, type Problems, time } from '../ui/parts.ts'

const states = Object.keys(stateWords) as readonly DeliveryState[]
const names = ['endpoint', 'type', 'state', 'outcome', 'status', 'slower', 'event', 'since', 'until'] as const

type Name = (typeof names)[number]

const labels: Readonly<Record<Name, string>> = {
  ...{ endpoint: 'Endpoint', type: 'Event', state: 'State', outcome: 'Outcome', status: 'HTTP status' },
  slower: 'Took at least (seconds)',
  ...{ event: 'Event id', since: 'Since', until: 'Until' },
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
  const { endpoint, type, state, outcome, status, slower, event, since, until } = query
  if (endpoint !== undefined && !/^\d{1,20}$/.test(endpoint)) problems.set('endpoint', 'endpoint must be an id of digits')
  if (type !== undefined && !/^\w{1,100}$/.test(type)) problems.set('type', 'event type must be a name such as PostCreated')
  const chosen = states.find((each) => each === state)
  if (state !== undefined && !chosen) problems.set('state', `state must be one of ${states.join(', ')}`)
  if (outcome !== undefined && !Object.hasOwn(outcomeWords, outcome)) problems.set('outcome', 'outcome does not exist')
  if (status !== undefined && !/^[1-5]\d\d$/.test(status)) problems.set('status', 'HTTP status must be a number from 100 to 599')
  if (slower !== undefined && !(/^\d{1,4}(?:\.\d{1,3})?$/.test(slower) && Number(slower) <= 3600))
    problems.set('slower', 'the duration must be seconds, from 0 to 3600')
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
      ...(slower === undefined ? {} : { min_milliseconds: Math.round(Number(slower) * 1000) }),
      ...(from ? { since: from } : {}),
      ...(to ? { until: to } : {}),
    },
  }
}

/** A filter in words, before a change that goes by it. */
export function described(query: FilterQuery, nameOf: (endpoint: string) => string): Html {
  const { endpoint, state, outcome, since, until } = query
  const words: Readonly<Partial<Record<Name, unknown>>> = {
    ...query,
    ...(endpoint === undefined ? {} : { endpoint: own(nameOf(endpoint)) }),
    ...(state === undefined ? {} : { state: stateWords[state as DeliveryState] }),
    ...(outcome === undefined ? {} : { outcome: outcomeWords[outcome] }),
    ...(since === undefined ? {} : { since: time(momentOf(since)) }),
    ...(until === undefined ? {} : { until: time(momentOf(until)) }),
  }
  const given = names.filter((name) => words[name] !== undefined)
  return html`<dl>${given.map((name) => html`<dt>${labels[name]}</dt><dd>${words[name]}</dd>`)}</dl>`
}

export const hiddenFields = (query: FilterQuery): readonly Html[] =>
  names.flatMap((name) => (query[name] === undefined ? [] : [html`<input type="hidden" name="${name}" value="${query[name]}">`]))

export function filterForm(view: View, { query, problems }: GivenFilter, endpoints: readonly Endpoint[]): Html {
  const nameOf = endpointNames(endpoints)
  const value = (name: Name) => query[name] ?? ''
  const select = (name: Name, options: readonly (readonly [string, string])[]) =>
    field(
      { name, label: labels[name], problems },
      (attributes) =>
        html`<select ${attributes}>${option('', 'any', value(name))}${options.map(([key, label]) => option(key, label, value(name)))}</select>`,
    )
  const input = (name: Name, size: number) =>
    field(
      { name, label: labels[name], problems },
      (attributes) => html`<input ${attributes} type="text" size="${size}" value="${value(name)}" autocomplete="off">`,
    )
  const moment = (name: Name) =>
    field(
      { name, label: momentLabel(labels[name]), problems },
      (attributes) => html`<input ${attributes} ${momentField} size="20" value="${value(name)}">`,
    )
  const types = [...Object.keys(catalogue), ...Object.keys(hostCatalogue)].sort().map((name) => [`${name}Hook`, name] as const)
  const open = Object.keys(query).length > 0
  return html`<details class="card" ${open && html`open`}><summary>Filter${open && html` <span class="badge">${Object.keys(query).length} set</span>`}</summary>
<form method="get" class="filter" action="${view.link('deliveries')}">
${select(
  'endpoint',
  endpoints.map(({ id }) => [id, nameOf(id)] as const),
)}${select('type', types)}${select('state', Object.entries(stateWords))}${select('outcome', Object.entries(outcomeWords))}
${input('status', 5)}${input('slower', 5)}${input('event', 22)}${moment('since')}${moment('until')}
<p class="row"><button class="primary">Apply</button>${open && html`<a class="button" href="${view.link('deliveries')}">Clear</a>`}</p></form></details>`
}
