/** Takes records of the outbox over into the SQLite store. */
import type { DatabaseSync } from 'node:sqlite'
import type { EndpointRemoval, EndpointUpsert, EventRecord } from '../../../lib/outbox/record.ts'
import type { Reading } from '../../../lib/outbox/source.ts'
import { noticeEvent } from '../notice-event.ts'
import { endpointOf } from './rows.ts'
import type { Endpoint, Notice, Taken } from './store.ts'

/** Which endpoints an event goes to: those of its network and audience that want its type. A disabled one's events wait. */
export function wants(endpoint: Endpoint, event: EventRecord): boolean {
  return endpoint.audience === event.audience && (endpoint.events === null || endpoint.events.includes(event.event_type))
}

/**
 * The statements and the endpoints in memory for taking readings over. Call `take` inside a transaction, and `reload` when
 * that was rolled back.
 */
export function createTaker(database: DatabaseSync) {
  const insertEvent = database.prepare(
    `INSERT INTO events (event_id, network_id, event_type, event_timestamp, taken, body) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (event_id) DO NOTHING`,
  )
  const insertDelivery = database.prepare(
    `INSERT INTO deliveries (event, endpoint, state, lane, due) VALUES (?, ?, 'pending', 0, ?)`,
  )
  const upsert = database.prepare(
    `INSERT INTO endpoints (network_id, id, url, key, secrets, events, audience, enabled, "order", rate_per_second)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (network_id, id) DO UPDATE SET url = excluded.url, key = excluded.key, secrets = excluded.secrets,
       events = excluded.events, audience = excluded.audience, enabled = excluded.enabled, "order" = excluded."order",
       rate_per_second = excluded.rate_per_second, disabled = NULL, removed_at = NULL
     RETURNING *`,
  )
  const remove = database.prepare(
    `UPDATE endpoints SET removed_at = ?, key = '', secrets = '[]', state = NULL WHERE network_id = ? AND id = ? AND removed_at IS NULL`,
  )
  const drop = database.prepare(`DELETE FROM deliveries WHERE endpoint = ? AND state = 'pending'`)
  const setPosition = database.prepare(
    'INSERT INTO positions VALUES (?, ?) ON CONFLICT DO UPDATE SET position = excluded.position',
  )
  const all = database.prepare('SELECT * FROM endpoints WHERE removed_at IS NULL')

  let endpoints = new Map<string, Map<string, Endpoint>>()

  function remember(endpoint: Endpoint): void {
    const network = endpoints.get(endpoint.network_id) ?? new Map<string, Endpoint>()
    network.set(endpoint.id, endpoint)
    endpoints.set(endpoint.network_id, network)
  }

  function reload(): void {
    endpoints = new Map()
    for (const row of all.all()) remember(endpointOf(row))
  }

  function takeEndpoint(record: EndpointUpsert): Endpoint {
    const row = upsert.get(
      record.network_id,
      record.id,
      record.url,
      record.key,
      JSON.stringify(record.secrets),
      record.events === null ? null : JSON.stringify(record.events),
      record.audience,
      record.enabled ? 1 : 0,
      record.order,
      record.rate_per_second,
    )
    const endpoint = endpointOf(row ?? {})
    remember(endpoint)
    return endpoint
  }

  function takeRemoval(record: EndpointRemoval, now: number): { endpoint: Endpoint; dropped: number } | undefined {
    const endpoint = endpoints.get(record.network_id)?.get(record.id)
    if (!endpoint) return undefined
    endpoints.get(record.network_id)?.delete(record.id)
    remove.run(now, record.network_id, record.id)
    return { endpoint, dropped: Number(drop.run(endpoint.ref).changes) }
  }

  /** Inserts an event with a delivery for each of these endpoints, or nothing when it is known already. */
  function insert(record: EventRecord, receivers: readonly Endpoint[], now: number, due: number): boolean {
    const { event_id, network_id, event_type, event_timestamp } = record
    const body = Buffer.from(record.body)
    const { changes, lastInsertRowid } = insertEvent.run(event_id, network_id, event_type, event_timestamp, now, body)
    if (changes === 0) return false
    for (const { ref } of receivers) insertDelivery.run(lastInsertRowid, ref, due)
    return true
  }

  const receiversOf = (record: EventRecord): readonly Endpoint[] =>
    [...(endpoints.get(record.network_id)?.values() ?? [])].filter((endpoint) => wants(endpoint, record))

  /**
   * Makes notices into events for the host's own endpoints, and gives the refs of those that have something to be sent.
   * Never about such an endpoint itself: one that fails would be told so for ever.
   */
  function tell(notices: readonly Notice[], now: number): readonly number[] {
    return notices.flatMap((notice) => {
      const about = endpoints.get(notice.network_id ?? '')?.get(notice.endpoint_id ?? '')
      const event = about?.audience === 'integration' ? noticeEvent(notice, now) : undefined
      const receivers = event ? receiversOf(event) : []
      if (!event || receivers.length === 0) return []
      insert(event, receivers, now, now)
      return receivers.map(({ ref }) => ref)
    })
  }

  function take(reading: Reading, now: number, firstDelay: number): Taken {
    const deliveries = new Map<number, number>()
    const changed = new Map<number, Endpoint>()
    const removed = new Map<number, Endpoint>()
    const notices: Notice[] = []
    let events = 0
    let duplicates = 0

    for (const record of reading.commits.flat()) {
      if (record.kind === 'event') {
        const receivers = receiversOf(record)
        events++
        if (receivers.length === 0) continue
        if (!insert(record, receivers, now, now + firstDelay)) {
          duplicates++
          continue
        }
        for (const { ref } of receivers) deliveries.set(ref, (deliveries.get(ref) ?? 0) + 1)
      } else if (record.action === 'upsert') {
        const endpoint = takeEndpoint(record)
        changed.set(endpoint.ref, endpoint)
        removed.delete(endpoint.ref)
      } else {
        const gone = takeRemoval(record, now)
        if (!gone) continue
        const { endpoint, dropped } = gone
        removed.set(endpoint.ref, endpoint)
        changed.delete(endpoint.ref)
        deliveries.delete(endpoint.ref)
        notices.push({
          kind: 'endpoint.removed',
          network_id: endpoint.network_id,
          endpoint_id: endpoint.id,
          event_id: null,
          text: `the endpoint was removed; ${dropped} waiting deliveries were dropped`,
        })
      }
    }
    for (const { stream, offset, bytes, reason } of reading.damage) {
      const text = `${stream} at byte ${offset}, ${bytes} bytes: ${reason}`
      notices.push({ kind: 'outbox.damaged', network_id: null, endpoint_id: null, event_id: null, text })
    }
    for (const [stream, position] of Object.entries(reading.positions)) setPosition.run(stream, position)
    return { events, duplicates, deliveries, changed: [...changed.values()], removed: [...removed.values()], notices }
  }

  function markDisabled(ref: number, reason: string): void {
    for (const network of endpoints.values())
      for (const endpoint of network.values()) if (endpoint.ref === ref) remember({ ...endpoint, disabled: reason })
  }

  reload()
  return { take, tell, reload, markDisabled }
}
