/** `folkmoot-relay status`, `deliveries`, `dead` and `explain`: they work with a running relay, and without one. */
import { inputs } from '../../../../lib/relay/calls.ts'
import type { DeliveryRow, EndpointRef, EndpointStatus, NoticeStatus } from '../../../../lib/relay/relay-admin.ts'
import { jsonLines, plain } from '../../../json.ts'
import type { Paint } from '../../../output.ts'
import { type Column, table, time } from '../../../table.ts'
import { UsageError } from '../../../usage.ts'
import { findEndpoint, type OpenRelayAdmin, relayAdmin } from '../../admin/admin.ts'
import { checkKnown, type FilterFlags, fromFlags } from '../../admin/filter.ts'
import { systemClock } from '../../clock.ts'
import type { Endpoint } from '../../store/endpoint/relay-endpoint.ts'
import { outboxOf } from '../settings/read-settings.ts'

export interface InspectFlags {
  readonly outbox?: string
  readonly json?: boolean
  readonly wide?: boolean
  /** Columns for tables; 100 by default. */
  readonly width?: number | undefined
  readonly paint?: Paint
}

export interface ListFlags extends InspectFlags, FilterFlags {
  readonly limit?: string
}

export interface EndpointFlags extends InspectFlags {
  readonly endpointId?: string
  readonly networkId?: string
}

export async function withAdmin<T>({ outbox }: InspectFlags, work: (admin: OpenRelayAdmin) => Promise<T>): Promise<T> {
  const admin = relayAdmin(outboxOf(outbox))
  try {
    return await work(admin)
  } finally {
    await admin.close()
  }
}

/** Work on one endpoint. @throws UsageError */
export async function onEndpoint<T>(
  command: string,
  { endpointId, networkId, ...flags }: EndpointFlags,
  work: (admin: OpenRelayAdmin, ref: EndpointRef) => Promise<T>,
): Promise<T> {
  if (endpointId === undefined) throw new UsageError(`${command} needs --endpoint-id`)
  return withAdmin(flags, async (admin) => {
    const { network_id } = await findEndpoint(admin, endpointId, networkId)
    return work(admin, { network_id, endpoint_id: endpointId })
  })
}

export async function status(flags: InspectFlags): Promise<string> {
  return withAdmin(flags, async (admin) => {
    const found = await admin.status({})
    const { relays, endpoints } = found
    if (flags.json) return jsonLines([{ ...found, pid: relays[0]?.pid ?? null }])
    const running = relays.map(({ host, pid }) => plain(`a relay is running (process ${pid} on ${host})`))
    const shown = { ...flags, now: systemClock.now() }
    const listed = table(endpointColumns(endpoints), endpoints, { ...shown, empty: 'No endpoint is registered.' })
    const notices = found.notices.slice(0, 5)
    const recent = notices.length === 0 ? '' : `\n${table(noticeColumns, notices, { ...shown, empty: '' })}`
    return `${running.join('\n') || 'no relay is running'}\n\n${listed}${recent}`
  })
}

/** In the words of `activity`, as in the panel. */
const stateOf = ({ disabled, activity }: EndpointStatus): string => (disabled === null ? activity : `disabled: ${disabled}`)

/** The name of an endpoint; else its host, with the end of its path if another endpoint has the same host. */
function nameOf({ name, origin, path }: EndpointStatus, all: readonly EndpointStatus[]): string {
  if (name !== null) return name
  const host = origin.replace(/^https?:\/\//, '')
  return all.filter((each) => each.origin === origin).length > 1 ? `${path} ${host}` : host
}

const endpointColumns = (all: readonly EndpointStatus[]): readonly Column<EndpointStatus>[] => [
  {
    title: 'network',
    cell: (each) => each.network_id,
    fits: 'whole',
    shown: new Set(all.map(({ network_id }) => network_id)).size > 1 ? 'always' : 'wide',
  },
  { title: 'endpoint', cell: (each) => each.endpoint_id, fits: 'whole' },
  { title: 'name', cell: (each) => nameOf(each, all), least: 20 },
  { title: 'state', cell: stateOf, fits: 'wrap', isState: true },
  { title: 'pending', cell: (each) => each.pending },
  { title: 'next', cell: (each) => time(each.next_attempt_at) },
  { title: 'dead', cell: (each) => each.dead },
  { title: 'last error', cell: (each) => each.unreadable ?? each.last_error, fits: 'wrap' },
  { title: 'oldest', cell: (each) => time(each.oldest_pending_at), shown: 'spare' },
  { title: 'last success', cell: (each) => time(each.last_success_at), shown: 'spare' },
  { title: 'address', cell: (each) => `${each.origin}${each.path}`, shown: 'wide' },
  { title: 'circuit', cell: (each) => each.circuit, shown: 'wide' },
  { title: 'next probe', cell: (each) => time(each.next_probe_at), shown: 'wide' },
  { title: 'failing since', cell: (each) => time(each.failing_since), shown: 'wide' },
]

const noticeColumns: readonly Column<NoticeStatus>[] = [
  { title: 'when', cell: (each) => time(each.at) },
  { title: 'notice', cell: (each) => each.kind, fits: 'whole' },
  { title: 'endpoint', cell: (each) => each.endpoint_id, fits: 'whole' },
  { title: 'what', cell: (each) => each.text, fits: 'wrap' },
]

/** The name of the endpoint of a delivery; else its host. */
function nameIn(endpoints: readonly Endpoint[], { network_id, endpoint_id }: DeliveryRow): string | null {
  const endpoint = endpoints.find((each) => each.network_id === network_id && each.id === endpoint_id)
  return endpoint ? (endpoint.name ?? URL.parse(endpoint.url)?.host ?? null) : null
}

const deliveryColumns = (endpoints: readonly Endpoint[]): readonly Column<DeliveryRow>[] => [
  { title: 'state', cell: (each) => each.state, isState: true },
  { title: 'event', cell: (each) => each.event_id, fits: 'whole' },
  { title: 'type', cell: (each) => each.event_type.replace(/Hook$/, '') },
  { title: 'endpoint', cell: (each) => each.endpoint_id, fits: 'whole' },
  { title: 'name', cell: (each) => nameIn(endpoints, each), least: 12, shown: 'spare' },
  { title: 'outcome', cell: (each) => each.last_outcome && [each.last_outcome, each.last_status].filter(Boolean).join(' ') },
  // The next attempt of one that waits, and the last one of any other.
  { title: 'attempt', cell: (each) => time(each.next_attempt_at ?? each.last_attempt_at), fits: 'whole' },
  { title: 'attempts', cell: (each) => each.attempts, shown: 'spare' },
  { title: 'last attempt', cell: (each) => time(each.last_attempt_at), shown: 'wide' },
  { title: 'network', cell: (each) => each.network_id, shown: 'wide' },
  { title: 'delivery', cell: (each) => each.id, shown: 'wide' },
]

/** Deliveries, the newest first; as JSON with each of their attempts. */
export async function deliveries(flags: ListFlags): Promise<string> {
  const { limit = 50, ...filter } = fromFlags(inputs.list, flags)
  return withAdmin(flags, async (admin) => {
    const store = await admin.store()
    await checkKnown(store, filter)
    const found = await store.deliveries({ ...filter, limit })
    if (!flags.json) {
      const empty = filter.state === 'dead' ? 'No delivery is dead.' : 'No delivery matches.'
      const columns = deliveryColumns(await store.knownEndpoints())
      return table(columns, found, { ...flags, now: systemClock.now(), empty })
    }
    const records: object[] = []
    for (const each of found) records.push({ ...each, history: await store.attempts(Number(each.id)) })
    return jsonLines(records)
  })
}

export const dead = (flags: ListFlags): Promise<string> => deliveries({ ...flags, state: 'dead' })

export interface ExplainFlags extends EndpointFlags {
  readonly eventId?: string
}

/** Works with a running relay, and without one. @throws UsageError */
export async function explain(flags: ExplainFlags): Promise<string> {
  const { eventId: event_id, endpointId } = flags
  if (!event_id || !endpointId) throw new UsageError('explain needs --event-id and --endpoint-id')
  return onEndpoint('explain', flags, async (admin, ref) => {
    const found = await admin.explain({ ...ref, event_id })
    if (flags.json) return jsonLines([{ event_id, ...ref, ...found }])
    const lines = (found?.delivery?.history ?? []).map(
      ({ number, at, outcome, status, reason, milliseconds }) =>
        `  attempt ${number} at ${at}: ${[outcome, status, reason].filter((each) => each !== null).join(' ')}, ${milliseconds} ms`,
    )
    return `${[`${found?.reason}: ${found?.text}`, ...lines.reverse()].join('\n')}\n`
  })
}
