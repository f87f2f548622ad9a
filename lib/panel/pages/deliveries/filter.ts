/** The filter of deliveries: in the address, so that a link can be shared. */
import * as v from 'valibot'
import { isDay } from '../../../base/date-time.ts'
import { catalogue, hostCatalogue } from '../../../events/catalogue.ts'
import type { Endpoint } from '../../../host/endpoints/endpoint.ts'
import { deliveryFilter } from '../../../relay/delivery-filter.ts'
import type { DeliveryFilter, DeliveryState } from '../../../relay/relay-admin.ts'
import { endpointNames } from '../../layout/endpoint-names.ts'
import { outcomeWords, stateWords } from '../../layout/wording.ts'
import type { Form } from '../../request/form.ts'
import type { View } from '../../route.ts'
import { type Html, html } from '../../ui/html.ts'
import { filterProblems, input, moment, own, type Problems, select, time } from '../../ui/parts.ts'

const { network_id: _, ...conditions } = deliveryFilter.entries
const schema = v.object(conditions)
type Name = keyof typeof conditions

const labels: Readonly<Record<Name, string>> = {
  ...{ endpoint_id: 'Endpoint', event_type: 'Event', state: 'State', outcome: 'Outcome', http_status: 'HTTP status' },
  min_milliseconds: 'Took at least (milliseconds)',
  last_attempt_since: 'Last attempt since',
  ...{ event_id: 'Event id', subject: 'Subject (member:1001)', since: 'Since', until: 'Until' },
}
const names = v.keyof(schema).options

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

const moments = ['last_attempt_since', 'since', 'until'] as const

/** The moments of a filter, each made into something else. */
const eachMoment = <T>(query: FilterQuery, make: (text: string) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(moments.flatMap((name) => (query[name] ? [[name, make(query[name])]] : [])))

/** The filter of an address. A value that cannot be right is a problem, and never ignored: all would match. */
export function filterFrom(form: Form): GivenFilter {
  const query: Partial<Record<Name, string>> = {}
  const problems = new Map<string, string>()
  for (const name of names) {
    const value = form.get(name).trim()
    if (value !== '') query[name] = value
    if (form.all(name).length > 1) problems.set(name, `${labels[name]} must be given once`)
  }
  const { outcome } = query
  const given = { ...query, ...eachMoment(query, momentOf) }
  const result = v.safeParse(schema, given)
  for (const { path, message } of result.issues ?? []) {
    const name = names.find((each) => each === path?.[0]?.key)
    const says = name === 'state' ? `is one of ${Object.values(stateWords).join(', ')}` : message
    if (name) problems.set(name, `${labels[name]} ${says}`)
  }
  if (outcome !== undefined && !Object.hasOwn(outcomeWords, outcome)) problems.set('outcome', 'Outcome does not exist')
  return { query, problems: filterProblems(problems, query), filter: result.success ? result.output : {} }
}

/** A filter in words, before a change that goes by it. */
export function described(query: FilterQuery, nameOf: (endpoint: string) => string): Html {
  const { endpoint_id, state, outcome } = query
  const words: Readonly<Partial<Record<Name, unknown>>> = {
    ...query,
    ...(endpoint_id === undefined ? {} : { endpoint_id: own(nameOf(endpoint_id)) }),
    ...(state === undefined ? {} : { state: stateWords[state as DeliveryState] }),
    ...(outcome === undefined ? {} : { outcome: outcomeWords[outcome] }),
    ...eachMoment(query, (text) => time(momentOf(text))),
  }
  const given = names.filter((name) => words[name] !== undefined)
  return html`<dl>${given.map((name) => html`<dt>${labels[name]}</dt><dd>${words[name]}</dd>`)}</dl>`
}

export const hiddenFields = (query: FilterQuery): readonly Html[] =>
  names.flatMap((name) => (query[name] === undefined ? [] : [html`<input type="hidden" name="${name}" value="${query[name]}">`]))

export function filterForm(view: View, { query, problems }: GivenFilter, endpoints: readonly Endpoint[]): Html {
  const nameOf = endpointNames(endpoints)
  const value = (name: Name) => query[name] ?? ''
  const given = (name: Name) => ({ name, label: labels[name], problems })
  const choose = (name: Name, options: readonly (readonly [string, string])[]) =>
    select(given(name), [['', 'any'], ...options], value(name))
  const line = (name: Name, size: number) => input(given(name), value(name), html`type="text" size="${size}"`)
  const types = [...Object.keys(catalogue), ...Object.keys(hostCatalogue)].sort().map((name) => [`${name}Hook`, name] as const)
  const open = Object.keys(query).length > 0
  return html`<details class="card" ${open && html`open`}><summary>Filter${open && html` <span class="badge">${Object.keys(query).length} set</span>`}</summary>
<form method="get" class="filter" action="${view.link('deliveries')}">
${choose(
  'endpoint_id',
  endpoints.map(({ id }) => [id, nameOf(id)] as const),
)}${choose('event_type', types)}${choose('state', Object.entries(stateWords))}${choose('outcome', Object.entries(outcomeWords))}
${line('http_status', 5)}${line('min_milliseconds', 7)}${line('event_id', 22)}${line('subject', 18)}${moments.map((name) => moment(given(name), value(name), html`size="20"`))}
<p class="row"><button class="primary">Apply</button>${open && html`<a class="button" href="${view.link('deliveries')}">Clear</a>`}</p></form></details>`
}
