/** What several databases need, derived from costs that were measured in one run: arithmetic without any measurement. */
import type { Spread } from './figures.ts'

/** The costs of `npm run bench:scale`. Processor time is in microseconds, sizes are in bytes. */
export interface ScaleCosts {
  readonly conditions: Readonly<Record<string, string | number>>
  /** A post over HTTP with its event: of the API's process, and of PostgreSQL. */
  readonly post: Readonly<Record<'api' | 'postgres' | 'wal' | 'xids' | 'perSecond', Spread>>
  /** A member read by id. */
  readonly read: Readonly<Record<'api' | 'postgres' | 'perSecond', Spread>>
  /** Posts a second into one space ÷ into fifty. */
  readonly oneSpace: Spread
  /** What a post leaves in the tables of the API, and in the outbox until a relay has ingested its event. */
  readonly stored: Readonly<Record<'rows' | 'bytes' | 'events' | 'waiting', number>>
  /** An event from the outbox table to the response of its receiver: of the relay's process, and of PostgreSQL. */
  readonly delivery: Readonly<Record<'relay' | 'postgres' | 'wal' | 'xids' | 'perSecond', Spread>>
  /** From the outbox table to those of the relays, without sending: one relay at a time does it. */
  readonly ingest: Readonly<Record<'relay' | 'postgres' | 'perSecond', Spread>>
  /** Processor time of a delivery out of a backlog four times as large ÷ out of the usual one. */
  readonly largerBacklog: number
  /** What a delivery leaves in the tables of the relays. */
  readonly kept: Readonly<Record<'rows' | 'bytes', number>>
  /** An endpoint that gets nothing: memory of the relay, and processor time in a second of the relay and of PostgreSQL. */
  readonly idleEndpoint: Readonly<Record<'bytes' | 'relay' | 'postgres', number>>
}

/** What is assumed, because no benchmark can know it. */
export interface Deployment {
  readonly networks: number
  /** Events in a second, in the busiest hour. Each is a post that one endpoint wants. */
  readonly events: number
  /** The mean of a day ÷ that. */
  readonly mean: number
  /** Seconds that a receiver takes. */
  readonly receiver: number
  /** How busy a core, a relay and the ingest may be in the busiest hour. */
  readonly load: number
  /** Cores of the server of a database. */
  readonly cores: number
  /** Days for which the relays keep delivered events. */
  readonly keepDelivered: number
  /** Bytes of a database that can still be restored from a backup in a night. */
  readonly bytes: number
}

/** The defaults of the settings `maxInFlight` and `maxInFlightPerEndpoint`. */
export const [inFlight, inFlightPerEndpoint] = [256, 8]
/** PostgreSQL's default `autovacuum_freeze_max_age`. */
const freezeAge = 200e6
const second = 1e6
const day = 86_400

/** By Zipf's law: the second largest network has half as many events as the largest one, the third a third, and so on. */
export function tailOf(networks: number, events: number) {
  let harmonic = 0
  for (let rank = 1; rank <= networks; rank++) harmonic += 1 / rank
  const largest = events / harmonic
  return {
    /** Events a second of the largest network. */
    largest,
    /** How many networks have more events a second than this. */
    above: (rate: number): number => Math.min(networks, Math.floor(largest / rate)),
  }
}

/** @param pick the figure of the rounds that counts: the median, or the dearest round as the other end of what one run can say */
export function deploymentOf(costs: ScaleCosts, { events, load, ...given }: Deployment, pick: 'median' | 'highest' = 'median') {
  const { post, delivery, ingest, stored, kept, idleEndpoint } = costs
  const postgres = post.postgres[pick] + delivery.postgres[pick]
  /** Events a second of one database at full load. */
  const processor = (given.cores * second) / postgres
  // The relay and PostgreSQL take turns.
  const ingesting = second / (ingest.relay[pick] + ingest.postgres[pick])
  const database = load * Math.min(processor, ingesting)
  const databases = Math.ceil(events / database)
  const relay = { processor: second / delivery.relay[pick], inFlight: inFlight / given.receiver }
  const ofRelay = Math.min(relay.processor, relay.inFlight)
  const relays = databases * Math.ceil(events / databases / (load * ofRelay))
  const tail = tailOf(given.networks, events)
  const endpoint = { usual: inFlightPerEndpoint / given.receiver, fifo: 1 / given.receiver }
  const capacity = Math.min(databases * processor, databases * ingesting, relays * ofRelay)
  const idle = (cost: number): number => (cost * given.networks) / second
  const cores = {
    api: (events * post.api[pick]) / second / load,
    postgres: ((events * postgres) / second + idle(idleEndpoint.postgres)) / load,
    relays: ((events * delivery.relay[pick]) / second + idle(idleEndpoint.relay)) / load,
  }
  const aDay = day * events * given.mean
  const [posts, relayed] = [aDay * stored.bytes, aDay * kept.bytes * given.keepDelivered]
  return {
    databases,
    /** Events a second in the busiest hour that one database takes, and what limits it. */
    database,
    limits: { processor: load * processor, ingest: load * ingesting },
    relays,
    relay: { processor: load * relay.processor, inFlight: load * relay.inFlight },
    cores,
    disk: {
      aDay: posts,
      relays: relayed,
      wal: aDay * (post.wal[pick] + delivery.wal[pick]),
      daysUntilFull: (databases * given.bytes - relayed) / posts,
    },
    tail: {
      ...{ largest: tail.largest, endpoint },
      aboveUsual: tail.above(endpoint.usual),
      aboveFifo: tail.above(endpoint.fifo),
      inFlight: Math.ceil((tail.largest * given.receiver) / load),
    },
    /** An outage of an hour in the busiest hours. */
    outage: {
      events: 3600 * events,
      bytes: 3600 * events * stored.waiting,
      capacity,
      minutes: (60 * events) / (capacity - events),
    },
    freezeHours: freezeAge / ((events * given.mean) / databases) / (post.xids[pick] + delivery.xids[pick]) / 3600,
    idle: { bytes: idleEndpoint.bytes * given.networks, relay: idle(idleEndpoint.relay) },
  }
}
