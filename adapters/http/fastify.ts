/** Fastify. */
import '../node-version.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Community } from '../../lib/index.ts'
import type { Panel } from '../../lib/panel/index.ts'
import type { RulesOf } from '../options.ts'
import { checkHostOptions, requestIdRule } from './host-options.ts'
import { type FetchHandler, isCommunity, requireMounted } from './mounted.ts'
import { type Bounds, boundRules, type TransferBounds } from './node-bounds.ts'
import { servePanel } from './node-panel.ts'
import { address } from './node-request.ts'
import { serveRequest } from './node-serve.ts'
import { serveFetch } from './node-web.ts'
import { type PanelOf, requirePanel } from './require-panel.ts'

type Done = (error?: Error) => void
type Plugin = (app: FastifyApp, options: { readonly prefix?: unknown } | undefined, done: Done) => void

/** As much of Fastify's reply as is used. */
interface Reply {
  readonly raw: ServerResponse
  hijack(): unknown
  getHeaders(): Readonly<Record<string, string | number | readonly string[] | undefined>>
}

/** As much of Fastify's request as is used. */
export interface FastifyRequest {
  readonly id: string
  readonly raw: IncomingMessage
}

/** As much of Fastify as is used. */
export interface FastifyApp<Request extends FastifyRequest = FastifyRequest> {
  /** The prefix of the plugin in which it is registered; empty on the application itself. */
  readonly prefix: string
  addHook(name: 'onRequest', hook: (request: Request, reply: Reply, done: Done) => void): unknown
}

/** Options of the plugin. */
export interface FastifyOptions extends TransferBounds {
  /** The host's own id of a request, for the `request_id` of a 500 or 503; by default Fastify's `request.id`. */
  requestId?(request: FastifyRequest): unknown
}

const rules = {
  ...boundRules,
  requestId: requestIdRule<NonNullable<FastifyOptions['requestId']>>(),
} satisfies RulesOf<FastifyOptions>

const idOfFastify = ({ id }: FastifyRequest): unknown => id

/**
 * A plugin for Fastify: serves the API's paths before Fastify reads a body, and leaves every other request to its routes. Hooks
 * that were added before run for the API too, and the headers that they set leave with its responses. Mounted below a path, give
 * the community that `basePath`. A plugin with a prefix, and another prefix than
 * `basePath`, are refused: Fastify would respond to the API's paths with its own 404. A handler with only a `fetch` serves the
 * requests at the `prefix` with which it is registered, and below it.
 * @param mounted a community, or what has a `fetch`, such as the tools of `createMcp`
 * @param options how long bodies and responses may be on their way, and the host's ids of requests
 * @throws TypeError for what is neither, and when an option cannot be used
 */
export function communityPlugin(
  mounted: Pick<Community, 'serve' | 'owns' | 'basePath'> | FetchHandler,
  options: FastifyOptions = {},
): Plugin {
  requireMounted(mounted, 'communityPlugin')
  const { requestId = idOfFastify, ...bounds } = checkHostOptions('communityPlugin', rules, options)
  if (!isCommunity(mounted)) return onApplication(handlerPlugin(mounted, bounds))
  const community = mounted
  const plugin: Plugin = (app, registered, done) => {
    const problem = problemOf(app.prefix, registered?.prefix, community.basePath)
    if (problem) {
      done(new TypeError(`communityPlugin: ${problem}`))
      return
    }
    app.addHook('onRequest', (request, reply, next) => {
      if (!community.owns(address(request.raw.url).path)) {
        next()
        return
      }
      takeOver(reply)
      serveRequest(community, bounds, request.raw, reply.raw, () => requestId(request))
    })
    done()
  }
  return onApplication(plugin)
}

/** A plugin for what has a `fetch`: the prefix says which requests it gets. */
function handlerPlugin(handler: FetchHandler, bounds: Bounds): Plugin {
  return (app, registered, done) => {
    const { prefix } = registered ?? {}
    const isPath = typeof prefix === 'string' && /^\/./.test(prefix) && !prefix.endsWith('/')
    if (app.prefix !== '' || !isPath) {
      const remedy = "register it on the application itself, with the path as its prefix: app.register(…, { prefix: '/mcp' })"
      done(new TypeError(`communityPlugin: what has only a \`fetch\` has no paths of its own; ${remedy}`))
      return
    }
    app.addHook('onRequest', (request, reply, next) => {
      const { path } = address(request.raw.url)
      if (path !== prefix && !path.startsWith(`${prefix}/`)) {
        next()
        return
      }
      serveFetch(handler, bounds, request.raw, reply.raw, () => takeOver(reply)).catch(next)
    })
    done()
  }
}

/** From here on Fastify neither responds nor sends the headers that it holds. */
function takeOver(reply: Reply): void {
  reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) reply.raw.setHeader(name, value)
}

/** Otherwise Fastify keeps the hook to the plugin's own routes, and it has no routes. */
const onApplication = <P extends object>(plugin: P): P => Object.assign(plugin, { [Symbol.for('skip-override')]: true })

/**
 * A plugin for Fastify that serves the panel's requests, and leaves every other to its routes. Register it on the application
 * itself, behind the plugin of its sessions.
 * @param panel made by `createPanel`; its `authorize` gets the request of Fastify as its second argument, such as for its `session`
 * @throws TypeError for what is no panel
 */
export function panelPlugin(panel: Panel): (app: FastifyApp, options: unknown, done: Done) => void
export function panelPlugin<Host extends FastifyRequest>(
  panel: Panel<Host>,
): (app: FastifyApp<Host>, options: unknown, done: Done) => void
export function panelPlugin<Host extends FastifyRequest>(
  panel: PanelOf<Host>,
): (app: FastifyApp<Host>, options: unknown, done: Done) => void {
  requirePanel(panel, 'panelPlugin')
  return onApplication((app: FastifyApp<Host>, _options: unknown, done: Done) => {
    app.addHook('onRequest', (request, reply, next) => {
      servePanel(panel, request, request.raw, reply.raw, () => takeOver(reply)).then((isServed) => {
        if (!isServed) next()
      })
    })
    done()
  })
}

/** Why the API could not be reached where it is registered. */
function problemOf(prefixOfApp: string, prefix: unknown, basePath: string): string | undefined {
  if (prefixOfApp !== '')
    return `register it on the application itself, and set \`basePath: '${prefixOfApp}'\` of createCommunity. In the plugin with that prefix Fastify runs no hook for the API's paths`
  if (prefix === undefined || prefix === '' || prefix === basePath) return undefined
  return `option \`prefix\` is not used: set \`basePath: '${String(prefix)}'\` of createCommunity instead`
}
