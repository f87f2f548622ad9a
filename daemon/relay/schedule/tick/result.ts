/** The effect of a result on its delivery, its endpoint and the notices to people. */
import type { RelayEvents } from '../../events.ts'
import { isEndpointFailure } from '../../send/outcome.ts'
import type { Settings } from '../../settings.ts'
import type { Notice } from '../../store/notice.ts'
import type { Result } from '../../store/store.ts'
import type { FinishedAttempt } from '../choose/in-flight.ts'
import { isNewsToRecord } from '../endpoint/attempt-health.ts'
import type { CircuitChange } from '../endpoint/circuit.ts'
import { type Batch, noticeOf, unannounced } from './batch.ts'
import { decideRetry } from './retry-decision.ts'

/** A delivery that has failed this often is worth a word. */
const failingAt = 4
const day = 86_400_000

export interface Circumstances {
  /** The relay's timeline. */
  readonly now: number
  readonly settings: Pick<Settings, 'retrySchedule' | 'disableAfter' | 'hostEvents'>
  /** From 0 to 1. */
  readonly random: number
  /** Whether the endpoint is still the one that was sent to. If not, its response neither stops nor pauses the new one. */
  readonly isCurrent: boolean
  /** Whether the proxy fails for every endpoint: one notice says so, and none names the endpoints. */
  readonly isProxyDown: boolean
}

/** Puts what follows from a result, other than `aborted`, into the batch, and into the endpoint at run time. */
export function applyResult(
  attempt: FinishedAttempt,
  batch: Batch,
  { now, settings, random, isCurrent, isProxyDown }: Circumstances,
  events: Required<RelayEvents>,
): void {
  const { run, waiting, ticket, outcome } = attempt
  const { result, pauseUntil, disable } = decideRetry(waiting, outcome, settings.retrySchedule, now, random, ticket.probe)
  const { ref, order, fresh_starts } = run.endpoint
  batch.results.push(result)
  if (order === 'subject') {
    batch.ordered.push(waiting.delivery)
    // The next one of its subject may be in either lane.
    run.queue.expect('first', 0)
    run.queue.expect('retry', 0)
  }
  if (result.state === 'pending') run.queue.expect('retry', result.due)
  if (isCurrent && disable !== undefined) batch.disable.set(ref, { reason: disable, fresh_starts })
  if (isCurrent && pauseUntil !== undefined) run.health.pauseUntil(pauseUntil)

  const isNews = isNewsToRecord(run.health.current)
  // The circuit of an earlier registration is gone.
  const circuit = isCurrent ? attempt.circuit : undefined
  run.recordOutcome(ticket, outcome, circuit, now)
  addNotices(attempt, batch, result, circuit, { now, settings, isProxyDown })
  if (outcome.result !== 'delivered' || circuit || isNews) batch.states.set(ref, run.record())
  batch.notifications.push(() => report(attempt, result, now, events))
}

function addNotices(
  { run, waiting, outcome, outgoing }: FinishedAttempt,
  batch: Batch,
  result: Result,
  circuit: CircuitChange | undefined,
  { now, settings: { hostEvents, disableAfter }, isProxyDown }: Pick<Circumstances, 'now' | 'settings' | 'isProxyDown'>,
): void {
  const add = (kind: Notice['kind'], text: string, announced = true): void => {
    const notice = noticeOf(run, kind, text, outgoing?.event_id)
    batch.notices.push(announced ? notice : unannounced(notice))
  }
  const addSometimes = (kind: Notice['kind'], text: string): void => {
    const omitted = run.noticeDue(kind, now)
    if (omitted !== undefined) add(kind, omitted === 0 ? text : `${text}; ${omitted} more since the last such notice`)
  }
  const news = run.circuitNews
  if (circuit === 'opened') {
    const rest = news.opened(now)
    add('endpoint.opened', `sending is paused: ${outcome.reason}${rest ?? ''}`, rest !== undefined)
  }
  const late = circuit === 'reopened' ? news.stillOpen(now) : undefined
  if (late !== undefined) add('endpoint.opened', `sending is still paused: ${outcome.reason}${late}`)
  if (circuit === 'closed') add('endpoint.recovered', 'sending resumes', news.closed())
  const isCounted = result.attempts > waiting.attempts
  if (isEndpointFailure(outcome) && isCounted && result.state === 'pending' && result.attempts === failingAt)
    addSometimes('endpoint.failing', `${failingAt} attempts failed: ${outcome.reason}`)
  if (outcome.result === 'proxy_failed' && !isProxyDown) addSometimes('proxy.failed', `its deliveries wait: ${outcome.reason}`)
  if (outcome.result === 'damaged') addSometimes('delivery.damaged', `nothing is sent: ${outcome.reason}`)
  else if (result.state === 'dead') {
    const addNotice = hostEvents.includes('exhausted') ? add : addSometimes
    addNotice('delivery.dead', `no attempts are left: ${outcome.reason}`)
  }
  const { failingSince, reminded } = run.health.current
  const isDue = failingSince !== null && now - failingSince >= (disableAfter - 1) * day
  if (disableAfter > 1 && isDue && !reminded && hostEvents.includes('disabling')) {
    run.health.markReminded()
    add('endpoint.disabling', 'without a success within a day it is disabled')
  }
}

function report(
  { run, waiting, outcome, outgoing }: FinishedAttempt,
  result: Result,
  now: number,
  events: Required<RelayEvents>,
): void {
  if (!outgoing) return
  events.onAttempt({
    network_id: run.endpoint.network_id,
    endpoint_id: run.endpoint.id,
    event_id: outgoing.event_id,
    event_type: outgoing.event_type,
    bytes: outgoing.body.length,
    attempt: waiting.attempts + 1,
    outcome: outcome.result,
    status: outcome.status,
    reason: outcome.reason,
    milliseconds: outcome.milliseconds,
    ...(outcome.repeated ? { repeated: true as const } : {}),
    state: result.state,
    next_at: result.state === 'pending' ? new Date(result.due).toISOString() : null,
    breaker: run.circuit,
    age: now - outgoing.received_at,
  })
}
