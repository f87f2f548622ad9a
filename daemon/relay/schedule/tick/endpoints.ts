/** The endpoints that this relay sends to, and what is still to be recorded about them. */
import type { CredentialsReader, Reading } from '../../send/credentials.ts'
import type { Endpoint, StoredEndpoint } from '../../store/endpoint/relay-endpoint.ts'
import type { Notice } from '../../store/notice.ts'
import type { Disabling } from '../../store/store.ts'
import type { Ready } from '../choose/ready.ts'
import type { SubjectOrder } from '../choose/subject-order.ts'
import type { EndpointRun } from '../endpoint/endpoint-run.ts'
import { type Batch, noticeOf, unannounced } from './batch.ts'

export interface EndpointsParts {
  readonly ready: Ready<EndpointRun>
  readonly order: SubjectOrder
  readonly credentials: Pick<CredentialsReader<EndpointRun>, 'read'>
  readonly newRun: (stored: StoredEndpoint) => EndpointRun
  readonly onNotice: (notice: Notice) => void
  readonly onRemoved: (ref: number) => void
}

export interface Endpoints {
  get(ref: number): EndpointRun | undefined
  values(): Iterable<EndpointRun>
  add(stored: StoredEndpoint): void
  /** Takes on how an endpoint is defined now; one that is not here is passed over. */
  define(endpoint: Endpoint): void
  remove(ref: number): void
  /** The store has something new for an endpoint. */
  expect(ref: number): void
  /** Another process changed the pending deliveries of an endpoint. */
  refresh(ref: number): void
  /** Another relay is to have an endpoint. */
  want(ref: number): void
  /** Takes out the endpoints that another relay is to have and of which nothing is in flight. */
  takeLeaving(): readonly number[]
  credentialsChanged(run: EndpointRun, reading: Reading): void
  announce(notice: Notice): void
  /** Stops sending to an endpoint. @returns the notice, unless it is disabled already, or was reset in between */
  disable(ref: number, disabling: Disabling): Notice | undefined
  /** Adds what is still to be recorded, and the notices about it. */
  recordInto(batch: Batch): void
}

/** The notice about an endpoint whose credentials became readable, or unreadable. */
const readingNotice = (run: EndpointRun): Notice =>
  run.unreadable === null
    ? noticeOf(run, 'endpoint.readable', 'what it needs is there: sending resumes')
    : noticeOf(run, 'endpoint.unreadable', `nothing is sent, and its deliveries wait: ${run.unreadable}`)

export function createEndpoints({ ready, order, credentials, newRun, onNotice, onRemoved }: EndpointsParts): Endpoints {
  const runs = new Map<number, EndpointRun>()
  const leaving = new Set<EndpointRun>()
  /** Runs whose days of failure are over, and whether a reset closed their circuits. */
  const failuresCleared = new Map<EndpointRun, boolean>()
  /** Those whose credentials can be read from now on, or cannot. */
  const readingChanged = new Set<EndpointRun>()

  let announced: Notice[] = []

  const isHere = (run: EndpointRun): boolean => runs.get(run.endpoint.ref) === run

  function remove(ref: number): void {
    const run = runs.get(ref)
    if (!run) return
    run.transition({ kind: 'removed' })
    run.queue.refresh()
    runs.delete(ref)
    leaving.delete(run)
    onRemoved(ref)
  }

  return {
    get: (ref) => runs.get(ref),
    values: () => runs.values(),
    add(stored) {
      const run = newRun(stored)
      runs.set(stored.endpoint.ref, run)
      if (run.health.circuitClosedAtStart) failuresCleared.set(run, true)
      order.orderAll(run)
      ready.add(run)
      credentials.read(run)
    },
    define(endpoint) {
      const run = runs.get(endpoint.ref)
      // A reading from before the latest definition is outdated.
      if (!run || endpoint.fresh_starts < run.endpoint.fresh_starts) return
      const effect = run.define(endpoint)
      if (effect.failuresCleared) failuresCleared.set(run, effect.circuitClosed || failuresCleared.get(run) === true)
      credentials.read(run)
      order.orderAll(run)
      ready.add(run)
    },
    remove,
    expect(ref) {
      const run = runs.get(ref)
      if (!run) return
      run.queue.expect('first', 0)
      order.orderArrivals(run)
      ready.add(run)
    },
    refresh(ref) {
      const run = runs.get(ref)
      if (!run) return
      run.queue.refresh()
      order.orderArrivals(run)
      ready.add(run)
    },
    want(ref) {
      const run = runs.get(ref)
      if (!run) return
      run.transition({ kind: 'wanted' })
      leaving.add(run)
    },
    takeLeaving() {
      const refs = [...leaving].filter(({ isIdle }) => isIdle).map(({ endpoint }) => endpoint.ref)
      for (const ref of refs) remove(ref)
      return refs
    },
    credentialsChanged(run, reading) {
      const before = run.unreadable
      run.transition(reading)
      if (reading.kind === 'reading') return
      // A state from before this process is logged, and not recorded again.
      if (run.unreadable !== before) readingChanged.add(run)
      else if (before !== null) onNotice(readingNotice(run))
      if (isHere(run)) ready.add(run)
    },
    disable(ref, { reason, fresh_starts }) {
      const run = runs.get(ref)
      if (!run || run.endpoint.disabled !== null || run.endpoint.fresh_starts !== fresh_starts) return undefined
      run.transition({ kind: 'disabled', reason })
      return noticeOf(run, 'endpoint.disabled', `the endpoint is disabled: ${reason}; its events are kept`)
    },
    announce(notice) {
      announced.push(notice)
    },
    recordInto({ states, notices }) {
      notices.push(...announced)
      announced = []
      for (const [run, circuitClosed] of failuresCleared) {
        if (circuitClosed) {
          // The relay that sends reads that there was a reset, and not its cause.
          const cause = 'a delivered test, an operator or a new registration closed the circuit'
          const notice = noticeOf(run, 'endpoint.recovered', `sending resumes: ${cause}`)
          notices.push(run.circuitNews.closed() ? notice : unannounced(notice))
        }
        states.set(run.endpoint.ref, run.record())
      }
      failuresCleared.clear()
      for (const run of readingChanged) {
        if (!isHere(run)) continue
        states.set(run.endpoint.ref, run.record())
        notices.push(readingNotice(run))
      }
      readingChanged.clear()
    },
  }
}
