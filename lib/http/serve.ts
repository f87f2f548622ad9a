import { isoTime } from '../base/clock.ts'
import { ApiError, fail, isApiError, notFound } from '../errors.ts'
import { isPaged } from '../fields.ts'
import { parseInput, parseQuery } from '../kernel/check.ts'
import { type FirstAnswer, readRepeatable } from '../kernel/idempotency.ts'
import { type Paging, readPaging } from '../kernel/page.ts'
import type { Runner } from '../kernel/run.ts'
import { retryAfter, storageTrouble } from '../kernel/trouble.ts'
import { apiRoot, pageLinks, present } from '../kernel/wire.ts'
import type { AnyOperation, Route } from '../operation.ts'
import type { Settings } from '../settings.ts'
import { authenticator, bearerToken } from './authenticate.ts'
import { authorise } from './authorise.ts'
import { printOf, readForm, readJson, readOptionalJson } from './body.ts'
import { type Answer, type Incoming, jsonAnswer } from './exchange.ts'
import { publicAddress, requireHttps, requireOneHost } from './https.ts'
import { countedBody, type Held, inFlightCounter } from './in-flight.ts'
import { limitRate } from './rate-limit.ts'
import { routeTable } from './routes.ts'

/** Documents that anybody may read, by their path below the base path. */
export type Documents = ReadonlyMap<string, () => string>

const networksRoot = `${apiRoot}/networks/`

/**
 * Makes the function that answers requests. What a request passes, in this order and only here: HTTPS, route, token, network,
 * rate limit, scope, query, body, idempotency, handler with its transaction, answer.
 */
export function server(operations: readonly AnyOperation[], settings: Settings, runner: Runner, documents: Documents) {
  const { basePath, clock, limits } = settings
  const match = routeTable(operations)
  const { authenticate, settled } = authenticator(settings)
  const inFlight = inFlightCounter(limits)

  /** Answers any request; never rejects. */
  async function serve(incoming: Incoming): Promise<Answer> {
    let held: Held | undefined
    try {
      held = inFlight.begin()
      const answered = await answerHeld(incoming, held)
      held.becomeAnswer(answered.body?.length ?? 0)
      return answered
    } catch (error) {
      return failureAnswer(error, {}, undefined)
    } finally {
      if (held && incoming.whenSent) incoming.whenSent(held.end)
      else held?.end()
    }
  }

  async function answerHeld(incoming: Incoming, held: Held): Promise<Answer> {
    const headers: Record<string, string> = {}
    let route: Route | undefined
    try {
      requireHttps(incoming, settings)
      requireOneHost(incoming)
      const path = incoming.path.startsWith(basePath) ? incoming.path.slice(basePath.length) : ''
      const address = splitPath(path)
      const document = address ? undefined : documents.get(withoutSlash(path))
      if (document) {
        held.requireRoom()
        return readDocument(incoming, document)
      }
      const matched = address && match(incoming.method, address.below)
      if (!address || matched?.kind === 'unknown') return fail({ status: 404, error: `There is no path ${shown(incoming.path)}` })
      if (matched?.kind === 'wrong method') throw wrongMethod(incoming, matched.allow)
      if (matched?.kind !== 'route') return fail(notFound('Path'))
      route = matched.route
      return await answerRoute(incoming, route, matched.params, address.network, headers, held)
    } catch (error) {
      return failureAnswer(error, headers, route)
    }
  }

  async function answerRoute(
    incoming: Incoming,
    { operation, id, method }: Route,
    params: Readonly<Record<string, string>>,
    networkName: string,
    headers: Record<string, string>,
    held: Held,
  ): Promise<Answer> {
    const caller = await authenticate(bearerToken(incoming.header('authorization')), networkName)
    held.countFor(caller.network.id)
    await limitRate(settings.rateLimiter, caller.countedBy, caller.network, limits, headers)
    // Counted first: who tries other networks' addresses uses up the limit of the key.
    if (!caller.isAddressed) fail(notFound('Network'))
    authorise(caller.principal.scopes, operation.scope)

    const search: Record<string, string> = incoming.search === '' ? {} : Object.fromEntries(new URLSearchParams(incoming.search))
    const paging = isPaged(operation.returns) ? readPaging(search) : noPaging
    const writes = method !== 'GET'
    const sent = writes ? countedBody(incoming, held) : incoming
    const body = operation.form
      ? await readForm(sent, limits)
      : operation.body
        ? await readJson(sent, limits.bodyBytes)
        : undefined
    const stray = writes && !operation.body && operation.query ? await readOptionalJson(sent, limits.bodyBytes) : undefined
    const called = publicAddress(incoming, settings)
    const { origin } = called
    const input = {
      operation,
      params,
      query: operation.query ? parseQuery(operation.query, { ...objectOrNothing(stray), ...search }, limits) : {},
      body: operation.body ? parseInput(operation.body, body, limits) : undefined,
      paging,
      principal: caller.principal,
      network: caller.network,
      now: isoTime(clock.now()),
      origin,
      // A read asks at the moment in which it gets its connection: what others have made meanwhile counts.
      ...(writes ? { hold: held.take } : { admit: () => held.requireRoom() }),
    }

    const bodyOf = (result: unknown): FirstAnswer => {
      if (result === undefined) return { status: 204, body: '' }
      const address = { ...called, search: incoming.search }
      const links = (after: string | null) => pageLinks(address, paging, after)
      return { status: operation.status, body: JSON.stringify(present(operation.returns, result, settings.ids, links, origin)) }
    }
    const key =
      method === 'POST'
        ? await readRepeatable(incoming.header('idempotency-key'), caller.countedBy, [
            id,
            // With and without a trailing slash it is the same request.
            withoutSlash(incoming.path),
            incoming.search,
            operation.form ? await printOf(body) : (body ?? stray),
          ])
        : undefined
    const outcome = await runner.run(input, key && { key, answerOf: bodyOf })
    if (outcome.kind === 'replay') return answer(outcome.answer, { ...headers, 'idempotency-replayed': 'true' })
    return answer(bodyOf(outcome.result), headers)
  }

  function failureAnswer(error: unknown, headers: Readonly<Record<string, string>>, route: Route | undefined): Answer {
    if (isApiError(error)) return jsonAnswer(error.status, JSON.stringify(error.body), { ...headers, ...error.headers })
    const request_id = crypto.randomUUID()
    settings.report(error, { request_id, ...(route ? { operation: route.id } : {}) })
    const later = storageTrouble(error)
    if (later) return jsonAnswer(503, JSON.stringify({ error: later, request_id }), { ...headers, 'retry-after': retryAfter })
    return jsonAnswer(500, JSON.stringify({ error: 'Internal server error', request_id }), headers)
  }

  return { serve, settled, inFlight: inFlight.figures }
}

const noPaging: Paging = { page: 1, per_page: 1, after: undefined }

const objectOrNothing = (value: unknown): object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}

const answer = ({ status, body }: FirstAnswer, headers: Readonly<Record<string, string>>): Answer =>
  body === '' ? { status, headers, body: null } : jsonAnswer(status, body, headers)

const splitPath = (path: string): { network: string; below: string } | undefined => {
  if (!path.startsWith(networksRoot)) return undefined
  const end = path.indexOf('/', networksRoot.length)
  const network = path.slice(networksRoot.length, end === -1 ? undefined : end)
  return network === '' ? undefined : { network, below: end === -1 ? '/' : path.slice(end) }
}

// Not by /\/+$/: on a path of nothing but slashes its cost grows with the square of their number, before any token is seen.
const withoutSlash = (path: string): string => (path.endsWith('/') ? path.slice(0, -1) : path)

const shown = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path)

const readDocument = (incoming: Incoming, document: () => string): Answer => {
  if (incoming.method !== 'GET' && incoming.method !== 'HEAD') throw wrongMethod(incoming, 'GET, HEAD')
  return jsonAnswer(200, document())
}

const wrongMethod = (incoming: Incoming, allow: string): ApiError =>
  new ApiError(405, { error: `${incoming.method} is not allowed here. Allowed: ${allow}.` }, { allow })
