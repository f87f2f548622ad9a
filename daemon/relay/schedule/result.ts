/** The effect of a result on its delivery, its endpoint and the notices to people. */
import type { RelayEvents } from '../events.ts'
import { isEndpointFailure } from '../send/outcome.ts'
import type { Result } from '../store/store.ts'
import { type Batch, noticeOf } from './batch.ts'
import type { ResultEffect } from './endpoint/endpoint-health.ts'
import { isNewsToRecord } from './endpoint/health.ts'
import type { FinishedAttempt } from './in-flight.ts'
import { decideRetry } from './retry-decision.ts'

/** A delivery that has failed this often is worth a word. */
const failingAt = 4

/** The other inputs of a result. */
export interface Circumstances {
  /** The relay's timeline. */
  readonly now: number
  /** Seconds before each attempt. */
  readonly schedule: readonly number[]
  /** From 0 to 1. */
  readonly random: number
  /** Whether the endpoint is still the one that was sent to. If not, its answer neither stops nor pauses the new one. */
  readonly isCurrent: boolean
}

/** Puts what follows from a result, other than `aborted`, into the batch, and into the endpoint at run time. */
export async function applyResult(
  attempt: FinishedAttempt,
  batch: Batch,
  { now, schedule, random, isCurrent }: Circumstances,
  events: Required<RelayEvents>,
): Promise<void> {
  const { run, waiting, ticket, outcome } = attempt
  const { result, pauseUntil, disable } = decideRetry(waiting, outcome, schedule, now, random, ticket.probe)
  const { ref, order, fresh_starts } = run.endpoint
  batch.results.push(result)
  if (order === 'subject') {
    batch.ordered.push(waiting.delivery)
    // The next one of its subject may be in either lane.
    run.expect('first', 0)
    run.expect('retry', 0)
  }
  if (result.state === 'pending') run.expect('retry', result.due)
  if (isCurrent && disable !== undefined) batch.disable.set(ref, { reason: disable, fresh_starts })
  if (isCurrent && pauseUntil !== undefined) run.pauseUntil(pauseUntil)

  const isNews = isNewsToRecord(run.health)
  const effect = await run.learn(waiting, ticket, outcome, now)
  if (outcome.result !== 'delivered' || effect.circuit || isNews) batch.states.set(ref, run.record())
  addNotices(attempt, batch, result, effect, now)
  batch.notifications.push(() => report(attempt, result, now, events))
}

/** The notices about a result. */
function addNotices(
  { run, waiting, outcome, outgoing }: FinishedAttempt,
  batch: Batch,
  result: Result,
  effect: ResultEffect,
  now: number,
): void {
  const add = (kind: Parameters<typeof noticeOf>[1], text: string): void =>
    void batch.notices.push(noticeOf(run, kind, text, outgoing?.event_id))
  const addSometimes = (kind: Parameters<typeof noticeOf>[1], text: string): void => {
    if (run.isNoticeDue(kind, now)) add(kind, text)
  }
  if (effect.circuit === 'opened') add('endpoint.opened', `sending is paused: ${outcome.reason}`)
  if (effect.circuit === 'closed') add('endpoint.recovered', 'sending resumes')
  const isCounted = result.attempts > waiting.attempts
  if (isEndpointFailure(outcome) && isCounted && result.state === 'pending' && result.attempts === failingAt)
    addSometimes('endpoint.failing', `${failingAt} attempts failed: ${outcome.reason}`)
  if (outcome.result === 'damaged') addSometimes('delivery.damaged', `nothing is sent: ${outcome.reason}`)
  else if (result.state === 'dead') addSometimes('delivery.dead', `no attempts are left: ${outcome.reason}`)
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
