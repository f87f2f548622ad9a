/**
 * The one way in which operations run. HTTP requests, direct calls and notifications of the host make an `OperationRequest`.
 * Here its input is checked, its handler runs in a transaction, and its result becomes the JSON of the answer.
 */
import { isoTime } from '../base/clock.ts'
import type { AnyCall } from '../call.ts'
import type { Principal } from '../context.ts'
import { type ApiError, fail, isApiError, isDeclared, notFound } from '../errors.ts'
import { isForHost } from '../events/catalogue.ts'
import type { Emission } from '../events/envelope.ts'
import { isPaged } from '../fields.ts'
import type { AnyOperation } from '../operation.ts'
import { RecordWriter } from '../records/json/writer.ts'
import type { Settings } from '../settings.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import type { NetworkRow } from '../storage/tables/administration.ts'
import { members } from '../storage/tables/members.ts'
import { parseInput, parseQuery } from './check.ts'
import { type FirstAnswer, firstAnswer, keepAnswer, type Repeatable } from './idempotency.ts'
import { keyStillWorks } from './key.ts'
import { type Paging, readPage, readPaging } from './page.ts'
import { permalinks } from './permalinks.ts'
import type { Transactions, Worked } from './transactions.ts'
import { isOutcomeUnknown } from './trouble.ts'
import { type Address, pageLinks, present, presentText } from './wire.ts'

/**
 * A call that only the host can start. No hook vetoes it, it may emit every event, and its events go out even if no row
 * changes.
 */
export interface NotificationHandler extends Pick<AnyOperation, 'id' | 'status' | 'body' | 'returns' | 'handle'> {
  readonly method: 'POST'
  readonly isNotification: true
}

/** A member in whose name the host acts, by default the network's first host; with every scope. */
export interface Actor {
  readonly as: Id | undefined
}

/** An operation to run, for any caller. Only the caller is checked so far. */
export interface OperationRequest {
  readonly operation: AnyOperation | NotificationHandler
  readonly network: NetworkRow
  readonly caller: Principal | Actor
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  /** Parameters that came in the body of a request that needs none; those of the query go before. */
  readonly queryInBody?: object
  readonly body?: unknown
  /** Whether the answer will be text. */
  readonly asText?: true
  /** Where it was called: for links, and the addresses of stored files. */
  readonly address: Address
  /**
   * Makes sure, with the first statements of the work, that the caller may still call. The result throws if not. By default the
   * key is read again where the operation writes.
   */
  readonly admit?: ((tx: ScopedTx) => () => Promise<void>) | undefined
  /** Reads what a repeated request is recognised by. */
  readonly repeat?: (() => Promise<Repeatable>) | undefined
  /** Counts the bytes that the request holds; both throw ApiError 503 when too much is in flight. */
  readonly usage?: { add(bytes: number): void; requireRoom(): void }
}

/**
 * The result of a request: its JSON value, its text if `asText` asked for it, or the text of a kept answer for an
 * `Idempotency-Key`.
 */
export type Outcome =
  | { readonly kind: 'result'; readonly value: unknown }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'kept'; readonly answer: FirstAnswer; readonly isReplay: boolean }

export type RunOperation = (request: OperationRequest) => Promise<Outcome>

const onlyPage: Paging = { page: 1, per_page: 1, after: undefined }

/** Binds `runOperation` to a community. */
export function pipeline(settings: Settings, transactions: Transactions): RunOperation {
  const { hooks, ports, limits, ids, clock, chance } = settings
  const { newId } = transactions

  return async function runOperation(request) {
    const { operation, network, params, address, usage } = request
    const api = 'isNotification' in operation ? undefined : operation
    const reads = operation.method === 'GET'
    const paging = isPaged(operation.returns) ? readPaging(request.query) : onlyPage
    const query = api?.query ? parseQuery(api.query, { ...request.queryInBody, ...request.query }, limits) : {}
    const body = operation.body ? parseInput(operation.body, request.body, limits) : undefined
    // Promises are awaited where there are any: a read has none of these.
    const repeat = request.repeat && (await request.repeat())
    const now = isoTime(clock.now())
    const writer = new RecordWriter(ids, address.origin)
    const at = { now, writer }
    const stamp = () => ({ id: newId(), created_at: now, updated_at: now })
    const prepared =
      api?.prepare && (await api.prepare({ body, ports, limits, newName: chance.uuid, addBytes: (bytes) => usage?.add(bytes) }))

    const linksOf = (after: string | null) => pageLinks(address, paging, after)
    const answerOf = (result: unknown): FirstAnswer => {
      const body = presentText(operation.returns, result, writer, linksOf)
      return body === undefined ? { status: 204, body: '' } : { status: operation.status, body }
    }

    // A hook may wait for anything.
    const kind = reads ? 'reads' : api?.adds && !hooks.before ? 'adds' : 'writes'
    // Only what the operation itself refuses is an answer worth keeping; a veto or a fault may be gone at the next try.
    let refusal: ApiError | undefined
    const work = async (tx: ScopedTx): Promise<Worked<{ result: unknown } | { kept: FirstAnswer; isReplay: boolean }>> => {
      refusal = undefined
      // A read asks when it gets its connection, so that it sees changes made meanwhile.
      if (reads) usage?.requireRoom()
      const principal = 'scopes' in request.caller ? request.caller : await actorOf(tx, request.caller)
      const { key_id } = principal
      const admitted =
        request.admit?.(tx) ?? (reads || key_id === null ? undefined : keyStillWorks(tx, key_id, () => clock.now()))
      const earlier = repeat && (await firstAnswer(tx, repeat, now))
      if (earlier) {
        await admitted?.()
        return { result: { kept: earlier, isReplay: true }, emissions: [] }
      }
      if (api && hooks.before) {
        // A hook may do what no transaction undoes.
        await admitted?.()
        await hooks.before({ id: api.id, operation: api, params, query, body, principal, tx })
      }
      const emissions: Emission[] = []
      const call: AnyCall = {
        tx,
        network,
        principal,
        now,
        newId,
        stamp,
        touch: () => ({ updated_at: now }),
        permalink: permalinks(settings, network),
        ports,
        limits,
        newMembersConsent: settings.newMembersConsent,
        params,
        query,
        body,
        prepared,
        emit(name, payload) {
          if (api && !api.emits.includes(name)) throw new Error(`${api.id} does not declare the event ${name}`)
          emissions.push({ name, payload })
        },
        async page(table, query, presentRows) {
          const { items, after } = await readPage(tx, table, paging, query)
          return { items: presentRows ? await presentRows(items) : items, after }
        },
        whole: (items) => ({ items: paging.page === 1 ? items : [], after: null }),
      }
      const changes = tx.changes
      let result: unknown
      try {
        result = await operation.handle(call)
      } catch (error) {
        if (!isApiError(error)) throw error
        await admitted?.()
        refusal = error
        if (api) reportUndeclared(api, error)
        throw error
      }
      if (admitted) await admitted()
      // Without a change there are no events. Otherwise integrations that write back each event would never stop. Mail that a
      // request asks the host to send is still sent.
      const isUnchanged = api !== undefined && tx.changes === changes
      const announced = isUnchanged ? emissions.filter(({ name }) => isForHost(name)) : emissions
      if (!repeat) return { result: { result }, emissions: announced }
      const answer = answerOf(result)
      await keepAnswer(tx, repeat, answer, stamp())
      return { result: { kept: answer, isReplay: false }, emissions: announced }
    }

    /** If a commit may have happened, the prepared file may belong to it. */
    let mayBeWritten = false
    const discard = async () => {
      if (mayBeWritten) return
      try {
        await api?.discard?.(prepared, { ports })
      } catch (error) {
        settings.report(error, { operation: operation.id, task: 'discard' })
      }
    }
    /** The key identifies the request: run again, the work finds its answer, or does it for the first time. */
    const runRepeatable = () =>
      transactions.run(network.id, at, 'writes', work).catch((error: unknown) => {
        if (!isOutcomeUnknown(error)) throw error
        mayBeWritten = true
        return transactions.run(network.id, at, 'writes', work).catch((later: unknown) => {
          throw isApiError(later) ? later : error
        })
      })
    try {
      const outcome = await (repeat ? runRepeatable() : transactions.run(network.id, at, kind, work))
      if ('result' in outcome) {
        const { result } = outcome
        const text = request.asText && presentText(operation.returns, result, writer, linksOf)
        return text === undefined
          ? { kind: 'result', value: present(operation.returns, result, writer, linksOf) }
          : { kind: 'text', text }
      }
      if (outcome.isReplay) await discard()
      return { kind: 'kept', answer: outcome.kept, isReplay: outcome.isReplay }
    } catch (error) {
      mayBeWritten ||= isOutcomeUnknown(error)
      await discard()
      if (!repeat || !refusal || refusal !== error) throw error
      // The same request may have been answered while this one ran: two of them get one answer.
      const refused: FirstAnswer = { status: refusal.status, body: JSON.stringify(refusal.body) }
      const earlier = await transactions.run(network.id, at, 'writes', async (tx) => {
        const answer = await firstAnswer(tx, repeat, now)
        if (!answer) await keepAnswer(tx, repeat, refused, stamp())
        return { result: answer, emissions: [] }
      })
      if (!earlier) throw error
      return { kind: 'kept', answer: earlier, isReplay: true }
    }
  }

  /**
   * The documents list what an operation declares. An undeclared error is a fault of the operation, though the answer is right.
   */
  function reportUndeclared({ id, errors }: AnyOperation, { failure }: ApiError): void {
    if (!failure || isDeclared(failure, errors)) return
    const what = failure.fields?.join(', ') ?? failure.error.slice(0, 100)
    const text = `${id} refuses with a failure that it does not declare: ${failure.status} ${what}`
    settings.report(new Error(text), { operation: id, task: 'undeclared failure' })
  }
}

/** @throws ApiError 404 when the member is not there, or no longer active */
async function actorOf(tx: ScopedTx, { as }: Actor): Promise<Principal> {
  const member = as === undefined ? await tx.first(members, { state: 'active', role: 'host' }) : await tx.get(members, as)
  if (member?.state !== 'active') fail(notFound('Member'))
  return { key_id: null, member_id: member.id, scopes: ['*'] }
}
