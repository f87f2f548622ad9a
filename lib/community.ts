import { type Chance, systemChance } from './base/chance.ts'
import { idGenerator } from './base/ids.ts'
import { type Metric, metricsText } from './base/metric.ts'
import type { CommittedEvent } from './events/catalogue.ts'
import { type Audit, actorOf, auditOf } from './host/audit/audit.ts'
import { changesOf, historyActor, lineIds } from './host/audit/changes.ts'
import { type Actor, hostActor } from './host/audit/line.ts'
import { type ConsumeOnce, consumeOnceOf, type GiveBack } from './host/consume-once.ts'
import { type AnyDirectCall, directCalls } from './host/direct-calls.ts'
import { type Endpoints, endpointsOf } from './host/endpoints/endpoints.ts'
import { type Exports, exportsOf } from './host/export/export.ts'
import { failingLast } from './host/host-transaction.ts'
import { type Keys, keysOf } from './host/keys.ts'
import { bulkOf } from './host/members/bulk.ts'
import { importOf, type RowCalls } from './host/members/import.ts'
import { type AcceptInvite, acceptInviteOf } from './host/members/invites.ts'
import { type Members, membersOf } from './host/members/members.ts'
import { togetherOf } from './host/members/together.ts'
import { type Networks, networksOf } from './host/networks.ts'
import { notificationsOf } from './host/notifications/define.ts'
import { type Notify, notifyOf } from './host/notifications/index.ts'
import { type OverviewOf, overviewOf } from './host/overview.ts'
import { type Preview, rehearsalOf, requireWriting, tokenIn } from './host/preview.ts'
import { type Publish, publishOf } from './host/publish.ts'
import { type Reports, reportsOf } from './host/reports.ts'
import { type Tags, tagsOf } from './host/tags.ts'
import { addressOf, cutsUnread, discardBody, fromRequest, type HttpResponse, type Incoming, toResponse } from './http/exchange.ts'
import { type InFlight, inFlightCounter } from './http/in-flight.ts'
import { previews } from './http/previews.ts'
import { requestMetrics } from './http/request-metrics.ts'
import { server } from './http/serve.ts'
import type { Traffic } from './http/traffic.ts'
import { pipeline } from './kernel/pipeline.ts'
import { refusingTrouble } from './kernel/storage-errors.ts'
import { type Transactions, transactionsOf } from './kernel/transactions.ts'
import { apiRoot } from './kernel/wire.ts'
import { apiDocument } from './openapi/document.ts'
import { webhooksDocument } from './openapi/webhooks.ts'
import type { AnyOperation } from './operation.ts'
import { type OperationId, type OperationInput, type OperationResult, operations } from './operations.ts'
import { type Options, settings as settingsOf } from './options.ts'
import type { Settings, Warn } from './settings.ts'
import type { Id } from './storage/table.ts'
import { joinedTo } from './storage/with-tables.ts'

const webhooksSpec = '/webhooks/v1/spec.json'

/** The member who acts in a direct call. */
export interface CallOptions {
  /** The network, by id or subdomain. */
  readonly network: Id | number
  /** The member who acts; by default the network's first host. */
  readonly as?: Id | number
  /** The `token` of a preview: the operation is done only if it still changes what that has named, else it is a 409. */
  readonly if?: string
}

/** The calls of a host without HTTP. */
export interface HostCalls extends Exports {
  /**
   * Runs an operation without HTTP, with every scope; hooks, validation, transaction and events as in a request.
   * @param id the operation, such as `'tags.update'`
   * @param input the network, the acting member, and the `params`, `query` and `body` of the request
   * @returns the record or the page of the response; `undefined` if the response has no body
   * @throws TypeError when there is no such operation
   * @throws ApiError as the request would have been refused
   */
  call<Name extends OperationId>(id: Name, input: OperationInput<Name> & CallOptions): Promise<OperationResult<Name>>
  /**
   * Publishes an event that no operation causes: course progress, purchases, join requests, … (interface.md, 10.1).
   * @throws ApiError 422 when the payload is not what the event's webhook carries
   */
  readonly publish: Publish
  /**
   * Notifies the community of what happened in the host application: payments, course progress, requests, reports, plans,
   * profiles. Each notification is one transaction with the events that it causes.
   */
  readonly notify: Notify
  /**
   * Accepts an invite: the invitee becomes a member of the network, or a former member returns. An invite to a plan also opens
   * the plan and its spaces. Names and profile are for who becomes a member now; a member who is there keeps their own.
   * @throws ApiError 404, 422 when it is accepted already, the address is banned, or the plan is archived
   */
  readonly acceptInvite: AcceptInvite
  /** Uses a key up, so that a form which a browser sends twice does its work once. */
  readonly consumeOnce: ConsumeOnce
  /** Gives such a key back, if the form was refused and nothing was made. */
  readonly giveBack: GiveBack
  /** Creates, changes, lists and removes networks. */
  readonly networks: Networks
  /** Makes API keys, lists them and revokes them. A token is shown once, when it is made. */
  readonly keys: Keys
  /** Registers webhook endpoints, changes them, rotates their credentials and removes them. */
  readonly endpoints: Endpoints
  /** Finds members and former members as the host sees them, with their addresses, and erases people. */
  readonly members: Members
  /** Lists tags and badges with their counts, makes tags and merges them. */
  readonly tags: Tags
  /** Reads reports of abuse with what they are about, and closes them. */
  readonly reports: Reports
  /** A network at a glance: members, activity, plans, and what needs an admin. */
  readonly overview: OverviewOf
  /** Reads who changed what: keys, endpoints, networks, and work that was requested of a relay. Adds lines, too. */
  readonly audit: Audit
  /**
   * The same calls on behalf of a person or program, whom the audit then names for every change: `community.by({ actor }).keys`.
   * @throws TypeError, ApiError 422 when the actor is no text of 1 to 500 characters
   */
  by(actor: Actor): HostCalls
}

/** A community inside of a transaction that the host has open. */
export interface JoinedCommunity extends HostCalls {
  /**
   * To be called when the host's transaction has committed: `hooks.after` gets the events of this transaction. Never called, the
   * hook never gets them. Webhooks do not depend on it: they leave with the commit.
   */
  committed(): void
}

/** Facts of a request that only its host has. */
export interface AboutRequest {
  /**
   * The host's own id of the request: a 500 or 503 and its report have it as `request_id`. A text of 1 to 128 letters, digits and
   * `-_.:;/+=@`. In place of any other value the community draws an id.
   */
  readonly requestId?: unknown
}

/** A community network's Admin API. */
export interface Community extends HostCalls {
  /**
   * Responds to any request; a path that is not the API's gets a 404. It may be passed on without binding.
   * @throws TypeError for a request of Node
   */
  readonly fetch: (request: Request) => Promise<Response>
  /**
   * Responds to a request for the API; `undefined` for any other, whose body is then untouched.
   * @param about facts of the request that only the host has
   * @throws TypeError for a request of Node
   */
  readonly handle: (request: Request, about?: AboutRequest) => Promise<Response | undefined>
  /** The same as `fetch`, without a `Request` and a `Response`: for server adapters. Never rejects. */
  readonly serve: (incoming: Incoming) => Promise<HttpResponse>
  /**
   * The response to a request whose token is missing, unknown, revoked or expired: a 401. `undefined` if the token works, whatever
   * its scopes. For what stands in front of the API and takes its tokens, such as the tools for agents.
   */
  readonly tokenRefusal: (request: Request) => Promise<Response | undefined>
  /** How much is in flight now. */
  readonly inFlight: () => InFlight
  /**
   * The metrics of the requests of this process, and of its faults. The server `folkmoot serve` has the same.
   * @param as `'text'` for the text format of Prometheus, which is the default; `'list'` for a registry of your own
   */
  metrics(as?: 'text'): string
  metrics(as: 'list'): readonly Metric[]
  /**
   * The requests of a network that this process has served: by hour, and by key with its use of the rate limit.
   * @param network its id or subdomain
   * @throws ApiError 404 if it does not exist
   */
  traffic(network: Id | number): Promise<Traffic>
  /** The path at which the API is mounted: the option `basePath`. */
  readonly basePath: string
  /** Whether a path is the API's, decided by the path alone. */
  owns(pathname: string): boolean
  /**
   * The same community, with all of its options, inside a transaction that the host has open. The host's rows, the API's rows
   * and the events commit together. Each call is a savepoint, so one that throws undoes only itself. It throws when no other call
   * of this transaction runs.
   * @param native the host's connection, inside of a transaction: a `pg` client, or a `DatabaseSync`
   * @throws TypeError when the storage shares no transactions with the host
   */
  using(native: unknown): JoinedCommunity
  /**
   * Shows what an operation would change: the rows, the events and the deliveries. Nothing is changed, and `hooks.before` is
   * called with `isPreview`. It takes the same locks as the operation, for as long.
   * @param id the operation, such as `'members.delete'`
   * @param input as for `call`
   * @throws ApiError as the call would; 422 for an operation that only reads or that stores a file, 413 for more than 50,000 rows
   */
  preview<Name extends OperationId>(id: Name, input: OperationInput<Name> & CallOptions): Promise<Preview<OperationResult<Name>>>
  /**
   * The same for any work of the host, such as `(calls) => calls.members.erase(1, 42)`. All of it runs in one transaction, also
   * what otherwise takes several.
   * @param work uses only the calls that it is given. It may run again after a conflict
   */
  preview<T>(work: (calls: HostCalls) => Promise<T>): Promise<Preview<T>>
  /**
   * Does the work of a preview, in one transaction that commits only if it changes the same rows, as they were, with the same
   * events.
   * @param work as for the preview
   * @param options `if`: the preview's `token`
   * @throws ApiError 409 if something has changed in between; nothing was done
   */
  act<T>(work: (calls: HostCalls) => Promise<T>, options: { readonly if: string }): Promise<T>
  /** Every operation, as declared. */
  readonly operations: readonly AnyOperation[]
  /** The OpenAPI 3.1 document of the API, or of its webhooks. */
  openapi(part?: 'api' | 'webhooks'): Readonly<Record<string, unknown>>
  /** Waits for what no caller waited for, then closes the rate limiter and the storage. */
  close(): Promise<void>
}

/**
 * Makes a community from its options. Nothing is read or written yet.
 * @returns the API as functions: `fetch` for requests, `call` and the others for the host. `close()` ends it.
 * @throws TypeError that lists every problem of the options
 */
export function createCommunity(options: Options): Community {
  return communityOf(options, systemChance)
}

/**
 * The same from a given source of ids and secrets. No option of a host, because anyone could guess those of a seed.
 * @param warn takes hints for developers
 */
export function communityOf(options: Options, chance: Chance, warn?: Warn): Community {
  const given = settingsOf(options, chance, warn)
  const inFlight = inFlightCounter(given.limits)
  const { count, fault, metrics: metricList } = requestMetrics(inFlight.figures)
  const settings: Settings = {
    ...given,
    report(error, about) {
      fault()
      given.report(error, about)
    },
  }
  const { storage, clock, basePath } = settings
  const newId = idGenerator(clock, chance)
  const newLineId = lineIds(clock, chance)
  const transactions = transactionsOf(settings, newId)

  const texts = new Map<string, string>()
  const document = (part: 'api' | 'webhooks') =>
    part === 'api' ? apiDocument(operations, settings, [previews]) : webhooksDocument(settings)
  const documentText = (part: 'api' | 'webhooks') => () => {
    const text = texts.get(part) ?? JSON.stringify(document(part))
    texts.set(part, text)
    return text
  }
  const documents = new Map([
    [`${apiRoot}/spec.json`, documentText('api')],
    [webhooksSpec, documentText('webhooks')],
  ])
  const rehearsal = rehearsalOf(settings, transactions, (inside, own, newOwnId) => ({
    run: pipeline(inside, own),
    calls: hostCalls(inside, own, newOwnId),
  }))
  const { serve, tokenRefusal, settled, trafficOf } = server(
    operations,
    settings,
    pipeline(settings, transactions),
    documents,
    (request) => rehearsal.preview(({ run }) => run.value(request)),
    { inFlight, count },
  )
  const owns = (pathname: string): boolean => {
    if (!pathname.startsWith(basePath)) return false
    const path = pathname.slice(basePath.length)
    return path === apiRoot || path.startsWith(`${apiRoot}/`) || path === webhooksSpec || path === `${webhooksSpec}/`
  }

  function metrics(as?: 'text'): string
  function metrics(as: 'list'): readonly Metric[]
  function metrics(as: 'text' | 'list' = 'text') {
    return as === 'list' ? metricList() : metricsText(metricList())
  }

  const respond = async (request: Request, requestId?: () => unknown) => {
    const response = await serve(fromRequest(request, { requestId }))
    if (cutsUnread) await discardBody(request)
    return toResponse(response, request.method)
  }

  const calls = hostCalls(settings, transactions, newLineId)
  function preview(work: OperationId | ((calls: HostCalls) => Promise<unknown>), input?: unknown): Promise<Preview<never>> {
    // The types of the work, the id and its input are those of `Community.preview`.
    const run = async (calls: HostCalls) =>
      (typeof work === 'function' ? work(calls) : calls.call(requireWriting(operations, work), input as never)) as Promise<never>
    return refusingTrouble(() => rehearsal.preview(({ calls }) => run(calls)))
  }

  return {
    // Hosts that call it may add arguments, such as a server or an environment.
    fetch: (request) => respond(request),
    handle: async (request, about) =>
      owns(addressOf(request).pathname) ? respond(request, about && (() => about.requestId)) : undefined,
    serve,
    async tokenRefusal(request) {
      const response = await tokenRefusal(fromRequest(request))
      return response && toResponse(response, request.method)
    },
    inFlight: inFlight.figures,
    metrics,
    basePath,
    owns,
    ...calls,
    traffic: async (network) => trafficOf((await calls.networks.show(network)).id),
    using(native) {
      const events: CommittedEvent[] = []
      const inside = { ...settings, storage: joinedTo(storage, native) }
      const joined = transactionsOf(inside, newId, (event) => events.push(event))
      return {
        ...failingLast(hostCalls(inside, joined, newLineId), inside.storage),
        committed() {
          for (const event of events.splice(0)) transactions.announce(event)
        },
      }
    },
    preview,
    act: (work, options) =>
      refusingTrouble(async () => rehearsal.act(({ calls }) => work(calls), tokenIn(options, settings.limits))),
    operations,
    openapi: (part = 'api') => document(part),
    async close() {
      await settled()
      await transactions.settled()
      await settings.rateLimiter?.close?.()
      await storage.close()
    },
  }
}

/** The calls that a row of an import or a member of a bulk act needs, in the name of an actor. */
const rowCalls =
  (by: Actor) =>
  (...inside: Parameters<typeof hostCalls>): RowCalls => {
    const { call, notify, members } = hostCalls(...inside).by(by)
    return { call: call as AnyDirectCall, notify, members }
  }

function hostCalls(settings: Settings, transactions: Transactions, newLineId: () => Id): HostCalls {
  /** The calls that say who made them: in the audit, or in the history of members. */
  const changing = (by: Actor) => {
    const run = pipeline(settings, transactions, historyActor(by))
    const changes = changesOf(settings, transactions, newLineId, by)
    const networks = networksOf(settings, changes)
    const call = directCalls(operations, settings, run, networks)
    // Of people from a file only the file can say that they have consented.
    const imported = { ...settings, newMembersConsent: false }
    const togetherIn = (of: Settings) => togetherOf(of, transactions, newLineId, rowCalls(by))
    const members = membersOf(settings, changes, networks, notificationsOf(settings, run, networks, 'members.erase'), {
      import: importOf(settings, changes, networks, togetherIn(imported)),
      bulk: bulkOf(settings, changes, networks, togetherIn(settings)),
    })
    return {
      networks,
      keys: keysOf(settings, changes, networks, operations),
      endpoints: endpointsOf(settings, changes, networks),
      members,
      tags: tagsOf(settings, changes, networks, call),
      reports: reportsOf(settings, changes, networks, call, members),
      overview: overviewOf(settings, changes, networks),
      ...exportsOf(settings, changes, networks),
      audit: auditOf(settings, changes, networks),
      call: call as HostCalls['call'],
      notify: notifyOf(notificationsOf(settings, run, networks, 'notify')),
      acceptInvite: acceptInviteOf(notificationsOf(settings, run, networks, 'acceptInvite')),
    }
  }
  const own = changing(hostActor)
  const { networks } = own
  const calls: HostCalls = {
    publish: publishOf(settings, transactions, networks),
    ...consumeOnceOf(settings, transactions, networks),
    ...own,
    by: (actor) => ({ ...calls, ...changing(actorOf(actor, settings.limits)) }),
  }
  return calls
}
