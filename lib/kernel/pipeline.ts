/**
 * The one way in which operations run. HTTP requests, direct calls and notifications of the host make an `OperationRequest`.
 * Its steps, in this order: the input is checked; the operation prepares; then, in one transaction, a repeated request gets its
 * first response, the hook may veto, and the handler runs; at last the result becomes a value or a text.
 */
import { isoTime } from '../base/clock.ts'
import type { Page } from '../call.ts'
import type { Principal } from '../context.ts'
import { type ApiError, conflict, fail, invalid, isApiError, isDeclared, notFound } from '../errors.ts'
import { isForHost } from '../events/catalogue.ts'
import type { Emission } from '../events/envelope.ts'
import { isPaged } from '../fields.ts'
import type { AnyOperation } from '../operation.ts'
import { RecordWriter } from '../records/json/writer.ts'
import type { Settings } from '../settings.ts'
import { Recorder } from '../storage/recorder.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import { members } from '../storage/tables/members.ts'
import { parseInput, parseQuery } from './check.ts'
import { type FirstResponse, firstResponse, type Repeatable, storeResponse } from './idempotency.ts'
import { makeCall } from './make-call.ts'
import { recordHistory } from './member-history.ts'
import { type Paging, readPaging } from './page.ts'
import { type OpenNetwork, readOnly } from './read-only.ts'
import type { Actor, OperationRequest, Run, Step, TextResult } from './run.ts'
import { isOutcomeUnknown } from './storage-errors.ts'
import type { Kind, Transactions } from './transactions.ts'
import { pageFrame, present, presentText } from './wire.ts'

/** Runs operations for every caller. */
export interface Pipeline {
  /** The result as a value: a record, a page, or `undefined`. */
  value(request: OperationRequest): Promise<unknown>
  /** The result as text: for HTTP. */
  text(request: OperationRequest): Promise<TextResult>
}

const onlyPage: Paging = { page: 1, per_page: 1, after: undefined, isCounted: false }

/**
 * Binds the pipeline to a community.
 * @param actor for whom the host acts in its own calls, for the history of members; null if it names no one
 */
export function pipeline(settings: Settings, transactions: Transactions, actor: string | null = null): Pipeline {
  const { hooks, ports, limits, ids, clock, chance } = settings
  const { newId } = transactions

  /** @throws ApiError 400 for a page that cannot be, 422 for a query or a body that its schema refuses */
  function checkInput(request: OperationRequest): Pick<Run, 'api' | 'paging' | 'query' | 'body'> {
    const { operation } = request
    const api = 'isNotification' in operation ? undefined : operation
    return {
      api,
      paging: isPaged(operation.returns) ? readPaging(request.query, operation.returns) : onlyPage,
      query: api?.query ? parseQuery(api.query, { ...request.queryInBody, ...request.query }, limits) : {},
      body: operation.body ? parseInput(operation.body, request.body, limits) : undefined,
    }
  }

  /** Does what the operation does before its transaction, such as storing a file. */
  async function prepare(request: OperationRequest): Promise<Run> {
    // Before anything is stored. The transaction of the operation looks again, and holds the network open.
    if (request.network.read_only && !isRead(request)) throw readOnly()
    const input = checkInput(request)
    const repeat = request.repeat && (await request.repeat())
    const now = isoTime(clock.now())
    const writer = new RecordWriter(ids, request.address.origin)
    const { api, body } = input
    const addBytes = (bytes: number) => request.usage?.add(bytes)
    if (api?.prepare && (request.if !== undefined || settings.recorder))
      fail(invalid('operation'), `${api.id} stores a file, so it has no preview`)
    const recorder = request.if === undefined ? undefined : new Recorder(false)
    const prepared = api?.prepare && (await api.prepare({ body, ports, limits, newName: chance.uuid, addBytes }))
    return { request, ...input, repeat, now, writer, recorder, prepared, refusal: undefined, mayBeWritten: false }
  }

  /** Discards what was prepared, unless it may belong to rows that are written. */
  async function discard({ request, api, prepared, mayBeWritten }: Run): Promise<void> {
    if (mayBeWritten) return
    try {
      await api?.discard?.(prepared, { ports })
    } catch (error) {
      settings.report(error, { operation: request.operation.id, task: 'discard' })
    }
  }

  async function orDiscard<T>(run: Run, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      await discard(run)
      throw error
    }
  }

  function inTransaction<T>(run: Run, kind: Kind, step: Step<T>): Promise<T> {
    const { request } = run
    const { network, caller, recheck, usage } = request
    const work = async (tx: ScopedTx, { row, confirmed }: OpenNetwork) => {
      run.refusal = undefined
      // A read checks when it gets its connection, so that it sees changes made in between.
      if (isRead(request)) usage?.requireRoom()
      const principal = 'scopes' in caller ? caller : await actorOf(tx, caller)
      const again = recheck?.(tx, row)
      const both = async () => {
        await again?.()
        await confirmed()
      }
      return step(tx, { principal, recheck: both })
    }
    return transactions.run(network.id, run, kind, work).catch((error: unknown) => {
      run.mayBeWritten ||= isOutcomeUnknown(error)
      throw error
    })
  }

  function runOnce(run: Run): Promise<unknown> {
    return inTransaction(run, isRead(run.request) ? 'reads' : 'writes', operate(run))
  }

  /** The hook, then the handler. */
  function operate(run: Run): Step<unknown> {
    const step = hooks.before && run.api ? callHook(run, run.api, handle(run)) : handle(run)
    return settings.recorder || run.recorder ? recorded(run, step) : step
  }

  /** @throws ApiError 409 if the step changes anything else than its preview has named */
  function recorded({ request, query, body, recorder }: Run, step: Step<unknown>): Step<unknown> {
    const subject = JSON.stringify([request.operation.id, request.network.id, request.params, query, body])
    return async (tx, caller) => {
      settings.recorder?.note(subject)
      recorder?.note(subject)
      const done = await step(tx, caller)
      const events = done.emissions.map(({ name }) => `${name}Hook`)
      if (recorder && (await recorder.tokenOf(events)) !== request.if) fail(movedOn)
      return done
    }
  }

  function callHook<T>({ request, query, body }: Run, operation: AnyOperation, step: Step<T>): Step<T> {
    return async (tx, caller) => {
      // A hook can have side effects that a rollback can't undo.
      await caller.recheck()
      const { principal } = caller
      const isPreview = settings.recorder?.isPreview === true
      await hooks.before?.({ id: operation.id, operation, params: request.params, query, body, principal, tx, isPreview })
      return step(tx, caller)
    }
  }

  function handle(run: Run): Step<unknown> {
    const { request, api } = run
    return async (tx, { principal, recheck }) => {
      const emissions: Emission[] = []
      const changes = tx.changes
      let result: unknown
      try {
        result = await request.operation.handle(makeCall(settings, run, { tx, principal, newId, emissions }))
      } catch (error) {
        if (!isApiError(error)) throw error
        await recheck()
        run.refusal = error
        if (api) reportUndeclared(api, error)
        throw error
      }
      await recheck()
      // Without a change there are no events. Otherwise integrations that write back each event would never stop. Mail that a
      // request has the host send is still sent.
      const isUnchanged = api !== undefined && tx.changes === changes
      const sent = isUnchanged ? emissions.filter(({ name }) => isForHost(name)) : emissions
      await recordHistory(tx, sent, principal, actor, () => stampOf(run))
      return { result, emissions: sent }
    }
  }

  /** A repeated request gets the response of the first one. A refusal is a response, too. */
  async function runRepeatable(run: Run, repeat: Repeatable): Promise<TextResult> {
    const step = replayOrRun(run, repeat, operate(run))
    try {
      return await inTransaction(run, 'writes', step).catch((error: unknown) => {
        if (!isOutcomeUnknown(error)) throw error
        // The key identifies the request: run again, it finds its response, or does its work for the first time.
        return inTransaction(run, 'writes', step).catch((later: unknown) => {
          throw isApiError(later) ? later : error
        })
      })
    } catch (error) {
      const { refusal } = run
      if (!refusal || refusal !== error) throw error
      const earlier = await keepRefusal(run, repeat, refusal)
      if (!earlier) throw error
      return { ...earlier, isReplay: true }
    }
  }

  function replayOrRun(run: Run, repeat: Repeatable, step: Step<unknown>): Step<TextResult> {
    return async (tx, caller) => {
      const earlier = await firstResponse(tx, repeat, run.now)
      if (earlier) {
        await caller.recheck()
        return { result: { ...earlier, isReplay: true }, emissions: [] }
      }
      const { result, emissions } = await step(tx, caller)
      const text = toTextResult(run, result)
      await storeResponse(tx, repeat, text, stampOf(run))
      return { result: text, emissions }
    }
  }

  /** @returns the response of the same request that ended while this one ran: both get one response */
  function keepRefusal(
    { request, ...run }: Run,
    repeat: Repeatable,
    { status, body }: ApiError,
  ): Promise<FirstResponse | undefined> {
    return transactions.run(request.network.id, run, 'writes', async (tx) => {
      const earlier = await firstResponse(tx, repeat, run.now)
      if (!earlier) await storeResponse(tx, repeat, { status, body: JSON.stringify(body) }, stampOf(run))
      return { result: earlier, emissions: [] }
    })
  }

  const stampOf = ({ now }: Pick<Run, 'now'>) => ({ id: newId(), created_at: now, updated_at: now })

  /**
   * The documents list what an operation declares. An undeclared error is a fault of the operation, though the response is right.
   */
  function reportUndeclared({ id, errors }: AnyOperation, { failure }: ApiError): void {
    if (!failure || isDeclared(failure, errors)) return
    const what = failure.fields?.join(', ') ?? failure.error.slice(0, 100)
    const text = `${id} refuses with a failure that it does not declare: ${failure.status} ${what}`
    settings.report(new Error(text), { operation: id, task: 'undeclared failure' })
  }

  return {
    async value(request) {
      const run = await prepare(request)
      return orDiscard(run, async () => toValue(run, await runOnce(run)))
    },
    async text(request) {
      const run = await prepare(request)
      return orDiscard(run, async () => {
        if (!run.repeat) return toTextResult(run, await runOnce(run))
        const text = await runRepeatable(run, run.repeat)
        if (text.isReplay) await discard(run)
        return text
      })
    },
  }
}

/** Another preview shows what is changed by now. */
export const movedOn = conflict('This would no longer change what its preview has named. Preview it again')

const isRead = ({ operation }: OperationRequest): boolean => operation.method === 'GET'

/** @throws ApiError 404 when the member is not there, or no longer active */
export async function actorOf(tx: ScopedTx, { as }: Actor): Promise<Principal> {
  const member = as === undefined ? await tx.first(members, { state: 'active', role: 'host' }) : await tx.get(members, as)
  if (member?.state !== 'active') fail(notFound('Member'))
  return { key_id: null, member_id: member.id, scopes: ['*'] }
}

const frameOf =
  ({ request, paging }: Run) =>
  (page: Page<unknown>) =>
    pageFrame(request.address, paging, page)

const toValue = (run: Run, result: unknown): unknown => present(run.request.operation.returns, result, run.writer, frameOf(run))

function toTextResult(run: Run, result: unknown): FirstResponse {
  const { returns, status } = run.request.operation
  const body = presentText(returns, result, run.writer, frameOf(run))
  return body === undefined ? { status: 204, body: '' } : { status, body }
}
