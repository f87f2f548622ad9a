/** The front of the API in the server's process: health, the response while it starts, and the count of every request. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

export type Phase = 'starting' | 'ready' | 'ending'

/** A request that has ended, for logs and figures. */
export interface RequestEntry {
  readonly request: IncomingMessage
  readonly path: string
  /** 0: the client was gone before the response. */
  readonly status: number
  readonly milliseconds: number
}

export interface Watcher {
  ended(seen: RequestEntry): void
}

export interface Front {
  readonly listener: RequestListener
  phase: Phase
  /** Responds to requests that are neither health checks nor too early. */
  next: RequestListener
  /** Called for every request except health checks. */
  watcher: Watcher | undefined
}

/** Seconds after which a client may try again. */
const retryAfter = '1'

/** A front that is starting. No request waits in it: an early request gets a 503. */
export function createFront(): Front {
  const front: Front = {
    phase: 'starting',
    next: (_request, response) =>
      respond(response, 503, { error: 'The server is starting: try again in a moment' }, { 'retry-after': retryAfter }),
    watcher: undefined,
    listener(request, response) {
      const path = request.url?.split('?', 1)[0] ?? '/'
      if (path === '/livez' || path === '/readyz') return health(path, front.phase, request, response)
      if (front.watcher) watch(front.watcher, path, request, response)
      front.next(request, response)
    },
  }
  return front
}

function health(path: '/livez' | '/readyz', phase: Phase, request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    respond(response, 405, { error: `${request.method} is not allowed here. Allowed: GET, HEAD.` }, { allow: 'GET, HEAD' })
  else if (path === '/livez') respond(response, 200, { alive: true })
  else respond(response, phase === 'ready' ? 200 : 503, { ready: phase === 'ready', phase })
}

function watch(watcher: Watcher, path: string, request: IncomingMessage, response: ServerResponse): void {
  const began = performance.now()
  response.once('close', () =>
    watcher.ended({
      request,
      path,
      status: response.writableFinished ? response.statusCode : 0,
      milliseconds: Math.round((performance.now() - began) * 10) / 10,
    }),
  )
}

function respond(response: ServerResponse, status: number, body: object, headers: Readonly<Record<string, string>> = {}): void {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers })
    .end(JSON.stringify(body))
}
