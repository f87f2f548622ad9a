/** Fastify. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Community } from '../../lib/index.ts'
import { communityMiddleware } from './node.ts'
import type { TransferBounds } from './node-bounds.ts'
import { address } from './node-request.ts'

type Done = (error?: Error) => void

/** As much of Fastify's reply as is used. */
interface Reply {
  readonly raw: ServerResponse
  hijack(): unknown
  getHeaders(): Readonly<Record<string, string | number | readonly string[] | undefined>>
}

/** As much of Fastify as is used. */
export interface FastifyApp {
  addHook(name: 'onRequest', hook: (request: { readonly raw: IncomingMessage }, reply: Reply, done: Done) => void): unknown
}

/**
 * A plugin for Fastify: answers the API's paths before Fastify reads a body, and leaves every other request to its routes. Hooks
 * that were added before run for the API too, and the headers that they set leave with its answers. Mounted below a path, give
 * the community that `basePath`.
 * @param community what answers
 * @param bounds how long bodies and answers may be on their way
 * @throws TypeError when a bound is not a whole number above 0
 */
export function communityPlugin(
  community: Pick<Community, 'serve' | 'owns'>,
  bounds?: TransferBounds,
): (app: FastifyApp, options: unknown, done: Done) => void {
  const api = communityMiddleware(community, bounds)
  const plugin = (app: FastifyApp, _options: unknown, done: Done): void => {
    app.addHook('onRequest', (request, reply, next) => {
      if (!community.owns(address(request.raw.url).path)) {
        next()
        return
      }
      // Fastify neither answers from here on nor sends the headers that it holds.
      reply.hijack()
      for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) reply.raw.setHeader(name, value)
      api(request.raw, reply.raw, () => next())
    })
    done()
  }
  // Otherwise Fastify keeps the hook to the plugin's own routes, and it has no routes.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}
