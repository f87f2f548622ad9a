import { systemChance } from '../base/chance.ts'
import { pause } from '../base/timeout.ts'
import { ApiError, fail, tooLarge } from '../errors.ts'
import type { CommittedEvent } from '../events/catalogue.ts'
import { committedEvent, type Emission, envelope } from '../events/envelope.ts'
import { fitsLine } from '../outbox/line.ts'
import type { OutboxRecord } from '../outbox/record.ts'
import { RecordWriter } from '../records/json/writer.ts'
import type { Settings } from '../settings.ts'
import { isStorageError, isUniqueViolation, type Tx } from '../storage/contract.ts'
import type { Recorder } from '../storage/recorder.ts'
import { type HostTx, hostScoped, type ScopedTx, scoped } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import { anyNetwork, keepOpen, type OpenNetwork } from './read-only.ts'
import { refusingTrouble } from './storage-errors.ts'
import { type Walks, walksOf } from './walks.ts'
import { ownOrigin } from './wire.ts'

/** How often a transaction is run at most, and one that meets a taken key: it may not be a race at all. */
const [maxRuns, maxRunsForKey] = [16, 5]
/** Runs that follow without a pause: most races are over then. */
const promptRuns = 4
/** Milliseconds that are added to the longest pause before each later run. */
const pauseStep = 20
/** Events that are written out together. */
const eventBatch = 200

/** When a transaction happens, and what writes the records of its events. */
export interface Moment {
  readonly now: string
  readonly writer: RecordWriter
  /** Records what the transaction changes. */
  readonly recorder?: Recorder | undefined
}

export type Kind = 'reads' | 'writes'

/** The result of work in a transaction, and the events that go out if it commits. */
export interface TxResult<T> {
  readonly result: T
  readonly emissions: readonly Emission[]
}

type Work<X, T> = (tx: X, network: OpenNetwork) => Promise<TxResult<T>>

/** Transactions of one network: with their events, and again when a race was lost. */
export interface Transactions {
  /**
   * Runs work in a transaction. Its events are written with it; `hooks.after` gets them when it has committed.
   * @param work has its network confirmed before side effects that a rollback can't undo
   * @throws ApiError 422 when a unique key is taken, 503 when it writes and the network is read-only
   */
  run<T>(network_id: Id, at: Moment, kind: Kind, work: Work<ScopedTx, T>): Promise<T>
  /**
   * Runs the host's own work in a transaction of a network, with the events that it emits.
   * @param isAlways whether it is done while the network is read-only, too
   * @throws ApiError 422 when a unique key is taken, 503 when the network is read-only or the storage is in trouble
   */
  write<T>(
    network_id: Id,
    now: string,
    body: (tx: HostTx, emit: (emission: Emission) => void) => Promise<T>,
    isAlways?: boolean,
  ): Promise<T>
  /** Runs a read of a network for the host, which changes nothing. */
  read<T>(network_id: Id, body: (tx: ScopedTx) => Promise<T>): Promise<T>
  /** Calls `hooks.after` with an event. It is not awaited, and it can spoil nothing. */
  announce(event: CommittedEvent): void
  /** Resolves when the `after` hooks of everything so far have run. */
  settled(): Promise<unknown>
  readonly newId: () => Id
  /** Walks through many pages in one state, where the storage can. */
  readonly walks: Walks
}

/** Runs a transaction, and again when it lost a race: after some runs with pauses of chance, so that the others come through. */
export function retryOnConflict<T>(transaction: () => Promise<T>, run = 1): Promise<T> {
  return transaction().catch(async (error: unknown) => {
    if (!isLostRace(error) || run >= (isUniqueViolation(error) ? maxRunsForKey : maxRuns)) throw error
    if (run >= promptRuns) await pause(systemChance.below(pauseStep * (run - promptRuns + 1)))
    return retryOnConflict(transaction, run + 1)
  })
}

/**
 * @param newId makes the ids of new rows
 * @param committed is called with each event once its transaction has committed; by default `hooks.after` is
 */
export function transactionsOf(settings: Settings, newId: () => Id, committed?: (event: CommittedEvent) => void): Transactions {
  const { storage, hooks, ids, chance } = settings
  const pending = new Set<Promise<void>>()

  /** @param work with the storage's own transaction, which it wraps for the work */
  async function run<T>(network_id: Id, at: Moment, kind: Kind, work: Work<Tx, T>, isAlways = false): Promise<T> {
    // Reads cause no events.
    if (kind === 'reads')
      return (await retryOnConflict(() => storage.transaction((tx) => work(tx, anyNetwork), { readOnly: true }))).result
    let events: CommittedEvent[] = []
    const worked = async (tx: Tx) => {
      const network = isAlways ? anyNetwork : keepOpen(tx, network_id)
      const { result, emissions } = await work(tx, network).catch(async (error: unknown) => {
        await network.confirmed()
        throw error
      })
      await network.confirmed()
      // The work may have run before.
      events = []
      at.writer.forget()
      // Some at a time: a commit may have many thousands.
      for (let begin = 0; begin < emissions.length; begin += eventBatch)
        await tx.append(recordsOf(emissions.slice(begin, begin + eventBatch), network_id, at, events))
      return result
    }
    try {
      const result = await retryOnConflict(() => storage.transaction(worked, { readOnly: false }))
      for (const event of events) (committed ?? announce)(event)
      return result
    } catch (error) {
      throw isUniqueViolation(error) ? keyTaken(error.key) : error
    }
  }

  /** @param events gets those of a hook */
  function recordsOf(
    emissions: readonly Emission[],
    network_id: Id,
    { now, writer }: Moment,
    events: CommittedEvent[],
  ): OutboxRecord[] {
    return emissions.map((emission) => {
      const record = envelope(emission, { network_id, now, writer, chance })
      if (!fitsLine(record)) fail(tooLarge(`The event ${record.event_type} is larger than the limit of 16 MiB`))
      if (hooks.after) events.push(committedEvent(record))
      return record
    })
  }

  function announce(event: CommittedEvent): void {
    const { event_id } = event
    const announced = Promise.resolve()
      .then(() => hooks.after?.(event))
      .catch((error: unknown) => settings.report(error, { task: 'hooks.after', event_id }))
      .finally(() => pending.delete(announced))
    pending.add(announced)
  }

  const read: Transactions['read'] = (network_id, body) =>
    refusingTrouble(() => retryOnConflict(() => storage.transaction((tx) => body(scoped(tx, network_id)), { readOnly: true })))

  return {
    run: (network_id, at, kind, work) =>
      run(network_id, at, kind, (tx, network) => work(scoped(at.recorder?.over(tx) ?? tx, network_id), network)),
    write(network_id, now, body, isAlways) {
      const work = async (tx: Tx) => {
        const emissions: Emission[] = []
        return { result: await body(hostScoped(tx, network_id), (emission) => emissions.push(emission)), emissions }
      }
      const at = { now, writer: new RecordWriter(ids, ownOrigin(settings)) }
      return refusingTrouble(() => run(network_id, at, 'writes', work, isAlways))
    },
    read,
    walks: walksOf(storage, read),
    announce,
    settled: () => Promise.all(pending),
    newId,
  }
}

// A unique violation on a key that was free a moment ago is a lost race, so the work runs again. It then draws a new id, finds
// the response of an idempotency key, or sees the other row.
const isLostRace = (error: unknown): boolean => (isStorageError(error) && error.code === 'conflict') || isUniqueViolation(error)

// For a handler that never looks, but leaves it to the key.
const keyTaken = (key: readonly string[]): ApiError => {
  const field = key.at(-1)?.replace(/_key$/, '') ?? 'The value'
  return new ApiError(422, { error: `${field} has already been taken` })
}
