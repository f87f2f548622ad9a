/** `folkmoot trigger`: an event with example data, delivered to the endpoints of a network. No record is touched. */
import { counted } from '../../../lib/base/counted.ts'
import { catalogue, type PayloadOf, type WebhookName } from '../../../lib/events/catalogue.ts'
import type { Endpoint } from '../../../lib/index.ts'
import { examplePayload } from '../../../lib/openapi/example-payload.ts'
import { operations } from '../../../lib/operations.ts'
import { matchesFilter } from '../../../lib/outbox/filter.ts'
import { plain } from '../../json.ts'
import type { Output } from '../../output.ts'
import { UsageError } from '../../usage.ts'
import { Previewed } from '../control/calls.ts'
import { eventNamed } from './event-name.ts'
import { filterHint } from './filter-hint.ts'
import { type NetworkFlags, withNetworkChanges } from './operator.ts'
import { showList, showOne } from './show.ts'

export interface TriggerFlags extends NetworkFlags {
  readonly field?: readonly string[]
  readonly changed?: string
  readonly list?: boolean
}

/** `trigger <event>`, or `trigger --list`. */
export async function trigger(given: string | undefined, flags: TriggerFlags, out: Output): Promise<void> {
  if (flags.list) return listEvents(flags, out)
  if (given === undefined) throw new UsageError('name an event, such as PostCreated; `folkmoot trigger --list` shows all')
  const name = eventNamed(given)
  const changes = (flags.field ?? []).map(changeOf)
  const changedFields = flags.changed?.split(',').map((each) => each.trim()) ?? []
  await withNetworkChanges(flags, out, async (operator, network) => {
    const payload = changes.reduce((before, change) => changed(before, change), examplePayload(name, network.id))
    // Checked there by the schema of the event.
    const publication = { network: network.id, event: name, payload: payload as PayloadOf<WebhookName>, changed: changedFields }
    const event_type = `${name}Hook`
    const chosen = (await operator.endpoints.list(network.id)).filter((endpoint) => chooses(endpoint, event_type))
    const endpoints = chosen.filter(({ filter }) => filter === null || matchesFilter(filter, payload, changedFields))
    const ids = endpoints.map(({ id }) => id)
    const explain = (): void => {
      if (flags.json) return
      if (chosen.length === 0)
        out.warn('No endpoint receives it: `folkmoot listen` or `folkmoot endpoints add` registers an endpoint.')
      for (const { id, filter } of chosen)
        if (filter && !ids.includes(id)) out.warn(`Endpoint ${id} is not sent it: ${filterHint(filter, name, payload)}`)
      for (const { id, enabled } of endpoints)
        if (!enabled) out.warn(`Endpoint ${id} is disabled: the event waits, and is sent once you enable the endpoint.`)
    }
    const { event_id } = await operator.publish(publication).catch((error: unknown) => {
      if (error instanceof Previewed) {
        if (!flags.json) for (const { id, url } of endpoints) out.line(plain(`Endpoint ${id} gets it at ${url}.`))
        explain()
      }
      throw error
    })
    const whose = `${counted(endpoints.length, 'endpoint')} of ${network.subdomain}`
    const sentence = `${event_type} is in the outbox as event ${event_id}, for ${whose}.`
    showOne(
      out,
      flags,
      { network_id: network.id, event_id, event_type, endpoints: ids, changed: changedFields, payload },
      sentence,
    )
    explain()
  })
}

// The relay keeps the deliveries of a disabled endpoint.
const chooses = ({ audience, events }: Endpoint, type: string): boolean =>
  audience === 'integration' && (events === null || events.includes(type))

/** Every event and its causes. */
function listEvents(flags: TriggerFlags, out: Output): void {
  const rows = Object.keys(catalogue).map((name) => ({
    event_type: `${name}Hook`,
    operations: operations.filter(({ emits }) => (emits as readonly string[]).includes(name)).map(({ id }) => id),
  }))
  showList(
    out,
    flags,
    rows,
    [
      { title: 'event', cell: ({ event_type }) => event_type, fits: 'whole' },
      { title: 'caused by', cell: (row) => row.operations.join(', ') || 'the host', fits: 'wrap' },
    ],
    'There is no event.',
  )
}

interface FieldChange {
  readonly path: readonly string[]
  readonly text: string
}

/** @throws UsageError */
function changeOf(field: string): FieldChange {
  const [, path, text] = /^([\w.]+)=(.*)$/s.exec(field) ?? []
  if (path === undefined || text === undefined)
    throw new UsageError(`--field must be like title=Hello or member.first_name=Ada, got ${JSON.stringify(field.slice(0, 100))}`)
  return { path: path.split('.'), text }
}

/** The payload with one field changed. @throws UsageError for a field that it does not have */
function changed(payload: unknown, { path, text }: FieldChange, place = 0): unknown {
  const name = path[place]
  if (name === undefined) return valueLike(text, payload)
  const names = typeof payload === 'object' && payload !== null ? Object.keys(payload) : []
  if (!names.includes(name)) {
    const where = path.slice(0, place + 1).join('.')
    throw new UsageError(
      names.length === 0
        ? `--field ${where}: ${path.slice(0, place).join('.')} has no fields`
        : `--field ${where}: there is no such field; there are ${names.join(', ')}`,
    )
  }
  const change = (value: unknown, key: string): unknown => (key === name ? changed(value, { path, text }, place + 1) : value)
  if (Array.isArray(payload)) return payload.map((value, index) => change(value, String(index)))
  return Object.fromEntries(Object.entries(payload as object).map(([key, value]) => [key, change(value, key)]))
}

/** A text stays a text where the example has one; anything else is JSON. */
function valueLike(text: string, example: unknown): unknown {
  if (typeof example === 'string' && text !== 'null') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
