import { ApiError, fail, isApiError, isDeclared, tooLarge } from '../errors.ts'
import { isForHost } from '../events/catalogue.ts'
import { type Emission, envelope } from '../events/envelope.ts'
import { fitsLine } from '../outbox/line.ts'
import type { EventRecord } from '../outbox/record.ts'
import type { CommittedEvent, Settings } from '../settings.ts'
import { isStorageError, isUniqueViolation, type Tx } from '../storage/contract.ts'
import { type ScopedTx, scoped } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import { type Input, makeCall, makeContext } from './context.ts'
import { type FirstAnswer, firstAnswer, keepAnswer, type Repeatable } from './idempotency.ts'
import { keyStillWorks } from './key.ts'
import { isOutcomeUnknown, refusingTrouble } from './trouble.ts'
import { ownOrigin } from './wire.ts'

/** How often a transaction is run at most. */
const mostRuns = 5
/** Events that are written out together. */
const eventsAtOnce = 200

/** What an operation came to: what its handler returned, or the answer that a repeated request had got before. */
export type Outcome =
  | { readonly kind: 'result'; readonly result: unknown }
  | { readonly kind: 'replay'; readonly answer: FirstAnswer }

/** Runs transactions of one network: with its events, and again when a race was lost. */
export interface Runner {
  /** Runs an operation's handler. `answerOf` makes the answer that is kept for an `Idempotency-Key`. */
  run(input: Input, repeat?: { readonly key: Repeatable; readonly answerOf: (result: unknown) => FirstAnswer }): Promise<Outcome>
  /**
   * Runs the host's own work in a transaction of a network, with the events that it emits.
   * @throws ApiError 422 when a unique key is taken, 503 when the storage is in trouble
   */
  work<T>(network_id: Id, now: string, body: (tx: ScopedTx, emit: (emission: Emission) => void) => Promise<T>): Promise<T>
  /** Runs the host's own look at a network, which changes nothing. */
  read<T>(network_id: Id, body: (tx: ScopedTx) => Promise<T>): Promise<T>
  /** Calls `hooks.after` with an event. Nobody waits for it, and it can spoil nothing. */
  tell(event: EventRecord): void
  /** Resolves when the `after` hooks of everything so far have run. */
  settled(): Promise<unknown>
  readonly newId: () => Id
}

/** Runs a transaction, and again when it lost a race. */
export async function again<T>(transaction: () => Promise<T>): Promise<T> {
  for (let run = 1; ; run++)
    try {
      return await transaction()
    } catch (error) {
      if (run >= mostRuns || !isLostRace(error)) throw error
    }
}

/**
 * @param newId makes the ids of new rows
 * @param committed is told of each event once its transaction has committed; by default `hooks.after` is
 */
export function runner(settings: Settings, newId: () => Id, committed?: (event: EventRecord) => void): Runner {
  const { storage, hooks, ids } = settings
  const pending = new Set<Promise<void>>()

  async function transact<T>(work: (tx: Tx, commit: EventRecord[]) => Promise<T>, readOnly: boolean): Promise<T> {
    let events: EventRecord[] = []
    try {
      const result = await again(() => {
        events = []
        return storage.transaction((tx) => work(tx, events), { readOnly })
      })
      for (const event of events) (committed ?? tell)(event)
      return result
    } catch (error) {
      throw isUniqueViolation(error) ? taken(error.key) : error
    }
  }

  function tell(event: EventRecord): void {
    if (!hooks.after) return
    const { network_id, event_id, event_type, event_timestamp } = event
    const { payload } = JSON.parse(event.body) as { payload: unknown }
    const told = Promise.resolve()
      .then(() => hooks.after?.({ network_id, event_id, event_type, event_timestamp, payload } as CommittedEvent))
      .catch((error: unknown) => settings.report(error, { task: 'hooks.after', event_id }))
      .finally(() => pending.delete(told))
    pending.add(told)
  }

  async function publish(
    tx: ScopedTx,
    emissions: readonly Emission[],
    { now, origin }: Pick<Input, 'now' | 'origin'>,
    commit: EventRecord[],
  ): Promise<void> {
    // Some at a time: a commit may have many thousands.
    for (let begin = 0; begin < emissions.length; begin += eventsAtOnce) {
      const some = emissions.slice(begin, begin + eventsAtOnce)
      const records = some.map((emission) => envelope(emission, { network_id: tx.network_id, now, ids, origin }))
      for (const record of records) {
        if (!fitsLine(record)) fail(tooLarge(`The event ${record.event_type} is larger than the limit of 16 MiB`))
        if (hooks.after) commit.push(record)
      }
      await tx.append(records)
    }
  }

  async function run(input: Input, repeat?: Parameters<Runner['run']>[1]): Promise<Outcome> {
    const { operation, network, principal, now } = input
    const { prepare } = operation
    const prepared =
      prepare &&
      (await prepare({
        body: input.body,
        ports: settings.ports,
        limits: settings.limits,
        hold: input.hold ?? (() => {}),
      } as never))
    // Only what the operation itself refuses is an answer worth keeping; a veto or a fault may be gone at the next try.
    let refusal: ApiError | undefined
    const work = async (storageTx: Tx, commit: EventRecord[]): Promise<Outcome> => {
      refusal = undefined
      input.admit?.()
      const tx = scoped(storageTx, network.id)
      const admitted = keyStillWorks(tx, operation.method === 'GET' ? null : principal.key_id, () => settings.clock.now())
      const answer = repeat && (await firstAnswer(tx, repeat.key, now))
      if (answer) {
        await admitted()
        return { kind: 'replay', answer }
      }
      // A hook may do what no transaction undoes.
      if (hooks.before) await admitted()
      const context = makeContext(settings, newId, tx, input)
      if (hooks.before)
        await hooks.before({
          id: operation.id,
          operation,
          params: input.params,
          query: input.query,
          body: input.body,
          principal,
          tx,
        })
      const { call, emissions } = makeCall(context, input, prepared)
      const before = tx.changes
      let result: unknown
      try {
        result = await operation.handle(call as never)
      } catch (error) {
        if (!isApiError(error)) throw error
        await admitted()
        refusal = error
        checkDeclared(operation, error)
        throw error
      }
      await admitted()
      // Nothing changed, nothing to tell: integrations that write back what they hear of would go on for ever. What the host is
      // asked to send was asked for.
      const told = tx.changes === before ? emissions.filter(({ name }) => isForHost(name)) : emissions
      if (told.length > 0) await publish(tx, told, input, commit)
      if (repeat) await keepAnswer(tx, repeat.key, repeat.answerOf(result), context.stamp())
      return { kind: 'result', result }
    }
    /** Once a commit may have come through, what was prepared may belong to it. */
    let mayBeWritten = false
    const undo = async () => {
      if (mayBeWritten) return
      try {
        await operation.discard?.(prepared as never, { ports: settings.ports } as never)
      } catch (error) {
        settings.report(error, { operation: operation.id, task: 'discard' })
      }
    }
    const attempt = async (): Promise<Outcome> => {
      try {
        return await transact(work, operation.method === 'GET')
      } catch (error) {
        mayBeWritten = isOutcomeUnknown(error)
        if (!mayBeWritten || !repeat) throw error
        // The key stands for what was sent: run again, the work finds its answer, or does it for the first time.
        return await transact(work, false).catch((later: unknown) => {
          throw isApiError(later) ? later : error
        })
      }
    }
    try {
      const outcome = await attempt()
      if (outcome.kind === 'replay') await undo()
      return outcome
    } catch (error) {
      await undo()
      if (!repeat || !refusal || refusal !== error) throw error
      // The same request may have been answered while this one ran: two of them get one answer.
      const earlier = await keepRefusal(input, repeat.key, refusal)
      if (!earlier) throw error
      return { kind: 'replay', answer: earlier }
    }
  }

  /** The documents list what an operation declares. What it does not declare is a fault of ours, though the answer is right. */
  function checkDeclared({ id, errors }: Input['operation'], { failure }: ApiError): void {
    if (!failure || isDeclared(failure, errors)) return
    const what = failure.fields?.join(', ') ?? failure.error.slice(0, 100)
    const text = `${id} refuses with a failure that it does not declare: ${failure.status} ${what}`
    settings.report(new Error(text), { operation: id, task: 'undeclared failure' })
  }

  /** Keeps a refusal, unless there is an answer by now: then gives that. */
  async function keepRefusal({ network, now }: Input, key: Repeatable, refusal: ApiError): Promise<FirstAnswer | undefined> {
    const answer = { status: refusal.status, body: JSON.stringify(refusal.body) }
    const stamp = { id: newId(), created_at: now, updated_at: now }
    return transact(async (tx) => {
      const network_tx = scoped(tx, network.id)
      const earlier = await firstAnswer(network_tx, key, now)
      if (!earlier) await keepAnswer(network_tx, key, answer, stamp)
      return earlier
    }, false)
  }

  return {
    run,
    newId,
    work: (network_id, now, body) =>
      refusingTrouble(() =>
        transact(async (storageTx, commit) => {
          const tx = scoped(storageTx, network_id)
          const emissions: Emission[] = []
          const result = await body(tx, (emission) => emissions.push(emission))
          if (emissions.length > 0) await publish(tx, emissions, { now, origin: ownOrigin(settings) }, commit)
          return result
        }, false),
      ),
    read: (network_id, body) => refusingTrouble(() => transact((storageTx) => body(scoped(storageTx, network_id)), true)),
    tell,
    settled: () => Promise.all(pending),
  }
}

// Whoever meets a unique key that was free a moment ago has lost a race: a new id is drawn, an idempotency key has its answer,
// and a handler that looks again finds the other's row and says so in its own words, or sees that nothing is left to do.
const isLostRace = (error: unknown): boolean => (isStorageError(error) && error.code === 'conflict') || isUniqueViolation(error)

// For a handler that never looks, but leaves it to the key.
const taken = (key: readonly string[]): ApiError => {
  const field = key.at(-1)?.replace(/_key$/, '') ?? 'The value'
  return new ApiError(422, { error: `${field} has already been taken` })
}
