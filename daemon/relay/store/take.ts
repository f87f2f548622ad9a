/**
 * Which deliveries records of the outbox make, whatever the store is made of.
 *
 * A walk goes over records in their order and asks the store for one step after another; the store answers each with what
 * came of it. So SQLite, which answers at once, and PostgreSQL, which answers later, share one set of rules.
 */
import { subjectOf } from '../../../lib/events/subjects.ts'
import { refused, type Unusable } from '../../../lib/outbox/check.ts'
import type { EndpointUpsert, EventRecord, OutboxRecord } from '../../../lib/outbox/record.ts'
import { type Damage, damageText } from '../../../lib/outbox/source.ts'
import { noticeEvent } from './notice-event.ts'
import type { Endpoint, Ingested, Notice, SetAside } from './store.ts'

/**
 * What an event is about. Records of earlier versions do not say so: then its payload does. Events of which nobody knows what they
 * are about share one subject, so that none of them overtakes another.
 */
export function subjectOfRecord({ subject, event_type, body }: EventRecord): string {
  if (subject !== undefined) return subject
  const { payload } = JSON.parse(body) as { readonly payload?: unknown }
  return subjectOf(event_type, payload) ?? ''
}

/** An event and the endpoints that it goes to. */
export interface Addressed {
  readonly record: EventRecord
  readonly receivers: readonly Endpoint[]
}

/** What a walk asks the store for. */
export type Step =
  /** Insert these events with a delivery for each receiver, unless they are there. Answered with the ids of those inserted. */
  | { readonly kind: 'events'; readonly events: readonly Addressed[] }
  /** Write an endpoint. Answered with it, as it stands now. */
  | { readonly kind: 'upsert'; readonly record: EndpointUpsert }
  /** Remove an endpoint and what waits for it. Answered with how many deliveries that were. */
  | { readonly kind: 'remove'; readonly endpoint: Endpoint }

export type Walk<T> = Generator<Step, T, never>

/** A step that the store cannot do because of the record itself: the others go on without it. */
export class RefusedRecord extends Error {
  override readonly name = 'RefusedRecord'
}

/** What is ingested. */
export interface Load {
  readonly records: readonly OutboxRecord[]
  readonly damage: readonly Damage[]
  /** One record at a time, each of which the store may answer with `RefusedRecord`. Only after a whole load has failed. */
  readonly oneByOne: boolean
}

/** Which endpoints an event goes to: those of its network and audience that want its type. A disabled one's events wait. */
const wants = (endpoint: Endpoint, event: EventRecord): boolean =>
  endpoint.audience === event.audience && (endpoint.events === null || endpoint.events.includes(event.event_type))

/** The endpoints that are there, by network: what decides where an event goes. */
export class Directory {
  readonly #networks = new Map<string, Map<string, Endpoint>>()

  constructor(endpoints: Iterable<Endpoint> = []) {
    for (const endpoint of endpoints) this.set(endpoint)
  }

  get(network_id: string | null, id: string | null): Endpoint | undefined {
    return this.#networks.get(network_id ?? '')?.get(id ?? '')
  }

  set(endpoint: Endpoint): void {
    const network = this.#networks.get(endpoint.network_id) ?? new Map<string, Endpoint>()
    network.set(endpoint.id, endpoint)
    this.#networks.set(endpoint.network_id, network)
  }

  delete({ network_id, id }: Pick<Endpoint, 'network_id' | 'id'>): void {
    this.#networks.get(network_id)?.delete(id)
  }

  receiversOf(record: EventRecord): readonly Endpoint[] {
    return [...(this.#networks.get(record.network_id)?.values() ?? [])].filter((endpoint) => wants(endpoint, record))
  }
}

/** Asks for a step; the store answers it with what the kind of step says, or refuses the record. */
function* ask<T>(step: Step): Walk<T | RefusedRecord> {
  return (yield step) as T | RefusedRecord
}

/** Takes records over, in their order. */
export function* takeOver({ records, damage, oneByOne }: Load, directory: Directory): Walk<Ingested> {
  const deliveries = new Map<number, number>()
  const changed = new Map<number, Endpoint>()
  const removed = new Map<number, Endpoint>()
  const notices: Notice[] = []
  const setAside: SetAside[] = []
  let events = 0
  let duplicates = 0
  let waiting: Addressed[] = []

  function passOver({ reason, network_id = null, endpoint_id = null, event_id = null }: Told, content?: string): void {
    notices.push({ kind: 'outbox.damaged', network_id, endpoint_id, event_id, text: reason })
    if (content !== undefined) setAside.push({ reason, network_id, endpoint_id, event_id, content })
  }

  function refuse(record: OutboxRecord, why: RefusedRecord): void {
    passOver(refused(record, why.message), written(record))
  }

  /** Events go together, as far as no endpoint changes between them. */
  function* insert(): Walk<void> {
    const [first] = waiting
    if (!first) return
    const inserted = yield* ask<Iterable<string>>({ kind: 'events', events: waiting })
    if (inserted instanceof RefusedRecord) {
      waiting = []
      return refuse(first.record, inserted)
    }
    const fresh = new Set(inserted)
    for (const { record, receivers } of waiting) {
      // An event that stands twice among them was inserted once.
      if (!fresh.delete(record.event_id)) duplicates++
      else for (const { ref } of receivers) deliveries.set(ref, (deliveries.get(ref) ?? 0) + 1)
    }
    waiting = []
  }

  for (const record of records) {
    if (record.kind === 'event') {
      const receivers = directory.receiversOf(record)
      events++
      if (receivers.length > 0) waiting.push({ record, receivers })
      if (oneByOne) yield* insert()
      continue
    }
    yield* insert()
    if (record.action === 'upsert') {
      const endpoint = yield* ask<Endpoint>({ kind: 'upsert', record })
      if (endpoint instanceof RefusedRecord) {
        refuse(record, endpoint)
        continue
      }
      directory.set(endpoint)
      changed.set(endpoint.ref, endpoint)
      removed.delete(endpoint.ref)
    } else {
      const endpoint = directory.get(record.network_id, record.id)
      if (!endpoint) continue
      const dropped = yield* ask<number>({ kind: 'remove', endpoint })
      if (dropped instanceof RefusedRecord) {
        refuse(record, dropped)
        continue
      }
      directory.delete(record)
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
  yield* insert()
  for (const each of damage) passOver({ ...each, reason: damageText(each) }, each.content)
  return { events, duplicates, deliveries, changed: [...changed.values()], removed: [...removed.values()], notices, setAside }
}

type Told = Pick<Unusable, 'reason'> & Partial<Unusable>

/** A record as text. Fields that nobody knows may be nested deeper than can be written. */
function written(record: OutboxRecord): string {
  try {
    return JSON.stringify(record)
  } catch {
    return ''
  }
}

/**
 * The events that notices are for the host's own endpoints of their network. Never about such an endpoint itself: one that
 * fails would be told so for ever.
 */
export function noticeEvents(notices: readonly Notice[], directory: Directory, now: number): readonly Addressed[] {
  return notices.flatMap((notice) => {
    const about = directory.get(notice.network_id, notice.endpoint_id)
    const record = about?.audience === 'integration' ? noticeEvent(notice, now) : undefined
    const receivers = record ? directory.receiversOf(record) : []
    return record && receivers.length > 0 ? [{ record, receivers }] : []
  })
}
