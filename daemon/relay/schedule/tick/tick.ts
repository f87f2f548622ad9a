/**
 * One tick: takes the results that have come in, chooses what to send next, records both and only then sends.
 *
 * So nothing is sent in a slot before the result that it waited for is recorded. After a kill at most the deliveries in flight
 * repeat.
 */
import type { Tracing } from '../../../../lib/base/tracing.ts'
import type { RelayContext } from '../../context.ts'
import type { Sender } from '../../send/sender.ts'
import type { Endpoint } from '../../store/endpoint/relay-endpoint.ts'
import type { Notice } from '../../store/notice.ts'
import { type Disabling, LeaseLost, type RelayStore } from '../../store/store.ts'
import { chooseNext } from '../choose/choose-next.ts'
import type { FinishedAttempt, InFlight, InFlightAttempt } from '../choose/in-flight.ts'
import type { ReadAhead } from '../choose/read-ahead.ts'
import type { Ready } from '../choose/ready.ts'
import type { SubjectOrder } from '../choose/subject-order.ts'
import type { EndpointRun } from '../endpoint/endpoint-run.ts'
import { type Batch, newBatch } from './batch.ts'
import type { Endpoints } from './endpoints.ts'
import { makeAttempt } from './make-attempt.ts'
import type { Recorder } from './recording.ts'
import { applyResult } from './result.ts'

export interface TickParts extends RelayContext {
  readonly store: RelayStore
  readonly sender: Sender
  readonly tracing?: Tracing | undefined
  readonly random: () => number
  readonly endpoints: Endpoints
  readonly ready: Ready<EndpointRun>
  readonly order: SubjectOrder
  readonly inFlight: InFlight
  readonly recorder: Recorder
  readonly readAhead: ReadAhead
  readonly isStopping: () => boolean
  readonly lacking?: (endpoint: Endpoint) => string | undefined
  readonly reread: (run: EndpointRun) => void
  readonly wake: () => void
}

/**
 * @param disable the endpoints to disable for a reason from outside of the tick
 * @throws LeaseLost
 */
export async function runTick(parts: TickParts, disable: Map<number, Disabling>): Promise<void> {
  const { endpoints, events, inFlight, ready } = parts
  const now = parts.timeline()
  const batch = newBatch(disable)
  endpoints.recordInto(batch)
  const finished = inFlight.takeFinished()
  for (const attempt of finished) settle(parts, attempt, batch, now)
  for (const [ref, disabling] of batch.disable) {
    const notice = endpoints.disable(ref, disabling)
    if (notice) batch.notices.push(notice)
  }

  const isSimple = canWait(finished, batch)
  const notices = isSimple ? [] : await record(parts, batch, finished, now)
  ready.awake(now)
  if (!parts.isStopping()) await putInOrder(parts)
  const starting = parts.isStopping() ? [] : await chooseNext(parts, now)
  if (isSimple) await record(parts, batch, finished, now)
  else if (starting.length > 0) await record(parts, newBatch(), [], now)

  for (const notify of batch.notifications) notify()
  for (const notice of notices) events.onNotice(notice)
  for (const attempt of starting) begin(parts, attempt)
  parts.readAhead.sentTo(starting)
}

/** Takes a result into its endpoint and the batch. */
function settle(parts: TickParts, attempt: FinishedAttempt, batch: Batch, now: number): void {
  const { run, waiting, outcome, resets } = attempt
  const { endpoints, events, inFlight, random, ready, sender, settings } = parts
  inFlight.end(attempt)
  run.attemptEnded(waiting, outcome)
  ready.add(run)
  if (outcome.result === 'aborted') {
    // It leaves its delivery as it was.
    run.queue.expect(waiting.lane, waiting.due)
    return
  }
  const { ref, fresh_starts } = run.endpoint
  const isCurrent = endpoints.get(ref) === run && fresh_starts === resets
  const isProxyDown = sender.proxy.isDown
  try {
    applyResult(attempt, batch, { now, random: random(), isCurrent, isProxyDown, settings: settings() }, events)
  } catch (error) {
    events.onFault('a result cannot be classified', error)
  }
}

/**
 * Whether results may be recorded together with what is sent next: when all were delivered. After anything else the pending
 * deliveries have to be read from the store, which has a result only once it is recorded.
 */
function canWait(finished: readonly FinishedAttempt[], { notices, disable }: Batch): boolean {
  if (notices.length > 0 || disable.size > 0) return false
  return finished.every(
    ({ run, outcome }) => outcome.result === 'delivered' && run.endpoint.order === 'none' && run.circuit === 'closed',
  )
}

/** @returns the notices that are true */
async function record(
  { recorder, endpoints }: TickParts,
  batch: Batch,
  finished: readonly FinishedAttempt[],
  now: number,
): Promise<readonly Notice[]> {
  const { refs, notices } = await recorder.record(batch, now)
  for (const ref of refs) endpoints.expect(ref)
  for (const { run, waiting } of finished) run.recorded(waiting)
  return notices
}

async function putInOrder({ order, inFlight, ready, events, wake }: TickParts): Promise<void> {
  try {
    for (const run of await order.settle(inFlight.deliveries)) ready.add(run)
    if (order.isDue) wake()
  } catch (error) {
    if (error instanceof LeaseLost) throw error
    events.onFault('waiting deliveries cannot be sorted', error)
  }
}

/** Sends what is recorded to be sent. Its outcome is for a later tick. */
function begin(parts: TickParts, attempt: InFlightAttempt): void {
  const { inFlight, wake } = parts
  void attempt.ticket
    .run(() => makeAttempt(attempt, parts))
    .then((attempted) => {
      inFlight.finish(attempt, attempted)
      wake()
    })
}
