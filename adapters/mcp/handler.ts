/** The protocol over HTTP, for a community in this process. */
import * as v from 'valibot'
import { must } from '../../lib/base/options.ts'
import { type Client, createClient } from '../../lib/client/index.ts'
import type { Community } from '../../lib/index.ts'
import { auditedRelay } from '../../lib/panel/request/acting-user.ts'
import type { RelayAdmin } from '../../lib/relay/relay-admin.ts'
import { notLoaded, requirePackage } from '../optional-package.ts'
import { checkOptions, rejectUndefined, withMethods } from '../options.ts'
import { type ToolChoice, toolsOf } from './tools.ts'

/** Options of `createMcp`. */
export interface McpOptions extends ToolChoice {
  /** The network of the tools, by id or subdomain. It may be left out if the community has only one. */
  readonly network?: string | number | undefined
  /**
   * The API token of every caller: any caller who reaches the handler acts with it. Without this option, each request brings
   * its own, as `Authorization: Bearer …`.
   */
  readonly token?: string | undefined
  /**
   * With `token`, the origins of the web pages that may call, such as `https://agents.example.org`. Pages on this machine
   * (`localhost`) always may. A request without the header `Origin` comes from no page.
   */
  readonly origins?: readonly string[] | undefined
  /**
   * The administration of a relay, such as `admin` of `startRelay`, for tools that show deliveries of this network and send them
   * again. It needs `token`, because an API token has no scope for deliveries.
   */
  readonly relay?: RelayAdmin | undefined
}

/** A handler of the protocol. It is a function, and `fetch` is the same function. */
export interface Mcp {
  (request: Request): Promise<Response>
  /** Responds to one request, as runtimes with a `fetch` handler call it. */
  fetch(request: Request): Promise<Response>
  /** Ends what is in flight. The community stays open. */
  close(): Promise<void>
}

const isOrigin = (text: unknown): boolean => typeof text === 'string' && /^https?:/.test(text) && URL.parse(text)?.origin === text

const groups = v.optional(v.array(v.string(), must('be a list of groups')))
const rules = {
  network: v.optional(v.union([v.string(), v.number()], must('be the id or subdomain of a network'))),
  // Its value is never shown.
  token: rejectUndefined(
    v.optional(v.pipe(v.string('must be an API token'), v.nonEmpty('must be an API token'))),
    'each request would bring its own token',
  ),
  origins: v.optional(
    v.custom<readonly string[]>(
      (value) => Array.isArray(value) && value.every(isOrigin),
      must('be a list of origins, such as https://agents.example.org'),
    ),
    [],
  ),
  relay: rejectUndefined(
    v.optional(withMethods<RelayAdmin>(['status', 'list', 'count', 'explain', 'test', 'resend', 'progress'])),
    'there would be no tools for deliveries (`admin` of `await startRelay(…)`)',
  ),
  write: groups,
  only: rejectUndefined(groups, 'there would be tools for every group'),
}

const bearer = (request: Request): string | undefined =>
  /^Bearer +([^\s,]{1,512}) *$/i.exec(request.headers.get('authorization') ?? '')?.[1]

/** A 401 names what is wrong with a token that came (RFC 6750), so that the agent gets another one. */
function withChallenge(refusal: Response, request: Request): Response {
  if (refusal.status === 401 && request.headers.has('authorization'))
    refusal.headers.set('www-authenticate', 'Bearer error="invalid_token"')
  return refusal
}

const loopback: ReadonlySet<unknown> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Whether a request comes from a web page that may not call. A page can make its name stand for an address of this machine (DNS
 * rebinding). Then `Origin` and `Host` agree, so only a list of origins shows the difference.
 */
function isStrange(origin: string | null, origins: readonly string[]): boolean {
  return origin !== null && !origins.includes(origin) && !loopback.has(URL.parse(origin)?.hostname)
}

const strangeOrigin = (): Response =>
  Response.json(
    { error: 'forbidden', message: 'Pages of this origin may not call. Option `origins` of createMcp allows it.', status: 403 },
    { status: 403 },
  )

const protocolPackage = '@modelcontextprotocol/server'

// In `try`, which shows bundlers that the package may be missing.
async function loadProtocol() {
  try {
    return await import('./server.ts')
  } catch (error) {
    throw notLoaded(error, 'createMcp', protocolPackage)
  }
}

/**
 * Makes a handler for agents: the operations of one network as tools of the Model Context Protocol, over Streamable HTTP. The
 * rules of the API hold: scopes, rate limits, hooks and events.
 *
 * @param options the network, a token for every caller, and the tools: only those that read, unless `write` names groups
 * @returns a function from `Request` to `Response`, for any path that the host gives it
 * @throws Error that names the command, if the package `@modelcontextprotocol/server` is not installed
 * @throws TypeError that names every wrong option; from a request too, if `network` is left out and there are several
 * @example const mcp = createMcp(community, { write: ['posts'] })
 */
export function createMcp(community: Community, options: McpOptions = {}): Mcp {
  if (!v.is(withMethods(['fetch', 'call', 'owns', 'tokenRefusal']), community))
    throw new TypeError('createMcp: the first argument must be a community, as createCommunity returns it')
  requirePackage('createMcp', protocolPackage)
  const { network, token, origins, relay, ...choice } = checkOptions('createMcp', rules, options, 'community, { network, write }')
  if (relay && token === undefined)
    throw new TypeError('createMcp: option `relay` needs `token`: an API token has no scope for deliveries')
  const target = relay && {
    admin: auditedRelay(relay, community.by({ actor: 'agent' })),
    network: async () => (await community.networks.show(await networkName())).id,
  }
  const tools = toolsOf(community.operations, choice, (option) => `createMcp: option \`${option}\``, target)
  let found: Promise<string> | undefined
  const networkName = async (): Promise<string> => {
    if (network !== undefined) return String(network)
    const all = await community.networks.list()
    const [only, ...others] = all
    if (only && others.length === 0) return only.id
    throw new TypeError(`createMcp: option \`network\` must name the network, because the community has ${all.length}`)
  }
  const clientFor = async (request: Request | undefined): Promise<Client> => {
    const host = request ? new URL(request.url).host : 'localhost'
    found ??= networkName()
    return createClient({
      // Nothing travels between the two, so it counts as https.
      baseUrl: `https://${host}${community.basePath}`,
      network: await found,
      token: token ?? (request && bearer(request)) ?? '',
      fetch: (request) => community.fetch(request),
      maxRetryWait: 10_000,
    })
  }
  const handler = loadProtocol().then(({ createMcpHandler, serverOf }) =>
    createMcpHandler(async ({ requestInfo }) => serverOf(tools, await clientFor(requestInfo), true)),
  )
  // Each request fails with it.
  handler.catch(() => {})
  const fetch = async (request: Request): Promise<Response> => {
    // For every message, not only for those that call the API: an agent gets another token only after a 401 over HTTP.
    const refusal = token === undefined ? await community.tokenRefusal(request) : undefined
    if (refusal) return withChallenge(refusal, request)
    // A token of the request comes from a caller who holds it; the option's would serve any page.
    if (token !== undefined && isStrange(request.headers.get('origin'), origins)) return strangeOrigin()
    // Looked up again after a failure: a network may be there by then.
    found ??= networkName()
    await found.catch((error: unknown) => {
      found = undefined
      throw error
    })
    return (await handler).fetch(request)
  }
  return Object.assign(fetch, { fetch, close: async () => (await handler).close() })
}
