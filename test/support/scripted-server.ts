/** A server for a client's tests: it responds with what it is given, and time passes as the client waits. */
import { type ClientOptions, createClient } from '../../lib/client/index.ts'

/** A response: a `Response`, an error of the connection, or what a request leads to. */
export type Scripted = Response | Error | ((request: Request) => Response | Promise<Response>)

/** A request as the server saw it. */
export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly body: string
}

/** A JSON response. */
export const json = (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })

/** So long only time limits wait; they end nothing here. */
const aDay = 86_400_000

/**
 * A client, and a server that gives one response after the other.
 * @returns the client, the requests, and how long it waited, in milliseconds
 */
export function scripted(responses: readonly Scripted[], options: Partial<ClientOptions> = {}) {
  const requests: SeenRequest[] = []
  const waits: number[] = []
  let now = Date.UTC(2026, 10, 20, 10)
  const timing = {
    now: () => now,
    random: () => 0,
    after(ms: number, run: () => void) {
      if (ms >= aDay) return () => {}
      waits.push(ms)
      now += ms
      queueMicrotask(run)
      return () => {}
    },
  }
  const fetch = async (request: Request): Promise<Response> => {
    const { method, url, headers } = request
    requests.push({ method, url, headers, body: await request.clone().text() })
    const response = responses[requests.length - 1]
    if (!response) throw new Error(`there is no response to request ${requests.length}`)
    if (response instanceof Error) throw response
    return typeof response === 'function' ? response(request) : response
  }
  const all = { baseUrl: 'https://api.test', network: '1', token: 'secret-token', timeout: aDay, fetch, timing, ...options }
  return { client: createClient(all), requests, waits }
}
