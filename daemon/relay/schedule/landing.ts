/** What a result means for its delivery, its endpoint and the people who look after them. */

import type { RelayEvents } from '../events.ts'
import { isEndpointFailure, isRefusal, type Outcome } from '../send/outcome.ts'
import type { EndpointState, Notice, Outgoing, Result, Waiting } from '../store/store.ts'
import type { Ticket, Transition } from './breaker.ts'
import type { EndpointRun } from './endpoint.ts'
import type { Holder } from './shares.ts'
import { judge } from './verdict.ts'

/** A delivery that has failed this often is worth a word. */
const failingAt = 4

/** A delivery on its way. */
export interface Flight {
  readonly run: EndpointRun
  readonly waiting: Waiting
  readonly ticket: Ticket
  readonly outgoing: Outgoing | undefined
  readonly started: number
  /** Whose share of the slots it is in. */
  readonly holder: Holder
}

/** A delivery that is back. */
export interface Landing extends Flight {
  readonly outcome: Outcome
}

/** What a turn gathers before it is written. */
export interface Gathering {
  readonly results: Result[]
  readonly states: Map<number, EndpointState>
  readonly disable: Map<number, string>
  readonly notices: Notice[]
  readonly told: (() => void)[]
  /** Deliveries among the results whose endpoints keep the order of subjects. */
  readonly ordered: number[]
}

/** An empty one; `disable` holds the endpoints that somebody else wants to be disabled. */
export const gather = (disable: Map<number, string> = new Map()): Gathering => ({
  results: [],
  states: new Map(),
  disable,
  notices: [],
  told: [],
  ordered: [],
})

/** What else a result depends on. */
export interface Circumstances {
  /** The relay's timeline. */
  readonly now: number
  /** Seconds before each attempt. */
  readonly schedule: readonly number[]
  /** From 0 to 1. */
  readonly random: number
}

/** Puts what follows from a result into the gathering, and into the endpoint as it runs. */
export async function settleLanding(
  landing: Landing,
  gathering: Gathering,
  { now, schedule, random }: Circumstances,
  events: Required<RelayEvents>,
): Promise<void> {
  const { run, waiting, ticket, outcome, outgoing } = landing
  const verdict = judge(waiting, outcome, schedule, now, random, ticket.probe)
  gathering.results.push(verdict.result)
  if (run.endpoint.order === 'subject') {
    gathering.ordered.push(waiting.delivery)
    // The next one of its subject may be in either lane.
    run.expect('first', 0)
    run.expect('retry', 0)
  }
  if (verdict.result.state === 'pending') run.expect('retry', verdict.result.due)
  if (verdict.disable !== undefined) gathering.disable.set(run.endpoint.ref, verdict.disable)
  if (verdict.pauseUntil !== undefined) run.pausedUntil = Math.max(run.pausedUntil, verdict.pauseUntil)

  const failed = isEndpointFailure(outcome)
  const damaged = outcome.result === 'damaged'
  const tooOld = failed && !ticket.probe && isRefusal(outcome) && run.hasTakenYounger(waiting.event)
  let transition: Transition | undefined
  if (tooOld) run.refusesOld()
  else if (outcome.result === 'blocked' || damaged) run.breaker.release(ticket)
  else
    transition = await run.breaker.record(
      ticket,
      waiting.event,
      failed,
      () => run.hasOther(waiting.event, now).catch(() => false),
      failed && isRefusal(outcome),
    )
  // The first success of all is written too: after a restart it says that the endpoint is quick as a rule.
  const isNews = run.failingSince !== null || run.lastSuccess === null || run.lastError !== null
  if (outcome.result === 'delivered') run.takes(waiting.event)
  if (transition) run.turns(transition, waiting.event)
  // A damaged body says nothing about the endpoint.
  if (!damaged) note(run, ticket, outcome, failed && !tooOld, transition, now)
  if (outcome.result !== 'delivered' || transition || isNews) gathering.states.set(run.endpoint.ref, run.state())

  const { network_id, id } = run.endpoint
  const about = { network_id, endpoint_id: id, event_id: outgoing?.event_id ?? null }
  if (transition === 'opened')
    gathering.notices.push({ ...about, kind: 'endpoint.opened', text: `sending is paused: ${outcome.reason}` })
  if (transition === 'closed') gathering.notices.push({ ...about, kind: 'endpoint.recovered', text: 'sending goes on' })
  const counted = verdict.result.attempts > waiting.attempts
  const failing = failed && counted && verdict.result.state === 'pending' && verdict.result.attempts === failingAt
  if (failing && run.worthTelling('endpoint.failing', now))
    gathering.notices.push({ ...about, kind: 'endpoint.failing', text: `${failingAt} attempts failed: ${outcome.reason}` })
  if (damaged && run.worthTelling('delivery.damaged', now))
    gathering.notices.push({ ...about, kind: 'delivery.damaged', text: `nothing is sent: ${outcome.reason}` })
  if (!damaged && verdict.result.state === 'dead' && run.worthTelling('delivery.dead', now))
    gathering.notices.push({ ...about, kind: 'delivery.dead', text: `no attempts are left: ${outcome.reason}` })
  if (outgoing) gathering.told.push(() => report(landing, outgoing, verdict.result, now, events))
}

/** What the endpoint's own state learns from an attempt. */
function note(
  run: EndpointRun,
  ticket: Ticket,
  outcome: Outcome,
  failed: boolean,
  transition: Transition | undefined,
  now: number,
): void {
  if (transition === 'closed') run.pace.restart()
  else if (outcome.result === 'delivered' && !ticket.probe) run.pace.succeeded()
  if (outcome.result === 'delivered') {
    run.lastSuccess = now
    run.failingSince = null
    run.lastFailure = null
    run.lastError = null
    return
  }
  run.lastError = outcome.status === null ? `${outcome.result}: ${outcome.reason}` : `${outcome.result} ${outcome.status}`
  if (failed) {
    run.failingSince ??= now
    run.lastFailure = now
    run.pace.failed(run.standing === 'doubtful')
  }
}

function report(
  { run, waiting, outcome }: Landing,
  outgoing: Outgoing,
  result: Result,
  now: number,
  events: Required<RelayEvents>,
): void {
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
    state: result.state,
    next_at: result.state === 'pending' ? new Date(result.due).toISOString() : null,
    breaker: run.breaker.permit().kind,
    age: now - outgoing.received_at,
  })
}
