/** The client: one method for every operation, made of the table. */

import { type Download, type DownloadOptions, downloader } from './download.ts'
import { type List, listOf } from './lists/list.ts'
import { readPage } from './lists/page.ts'
import { readFittingPage } from './lists/smaller-page.ts'
import type { ClientMethods } from './methods.ts'
import { type CallOptions, type ClientOptions, checkCallOptions, checkedSettings, type Settings } from './options.ts'
import { type CallParts, prepare } from './request.ts'
import { type ClientRoute, previewRoute, routes } from './routes.ts'
import { type ReceivedResponse, type Send, sender } from './send.ts'
import type { Call, CallResponse, Preview } from './types.ts'

/** A client of one network. */
export interface Client extends ClientMethods {
  /**
   * Calls an operation by its id, as `members.list`: for programs that go through the operations.
   * @returns what the method of the operation returns
   * @throws TypeError if there is no such operation
   */
  call(id: string, parts?: CallParts, options?: CallOptions): Call<unknown> | List<unknown>
  /**
   * Shows what an operation would change, and changes nothing.
   * @param id the operation, such as `members.delete`; one that writes and stores no file
   * @throws NotFound from a server that has no previews
   */
  preview(id: string, parts?: CallParts, options?: CallOptions): Call<Preview>
  /**
   * Downloads a file that a record names, such as `url` of an asset. The token is never sent along.
   * @param url absolute, or below the origin of the server
   * @throws ClientError if the file is not there
   * @throws TypeError if the address is no http or https URL
   */
  download(url: string | URL, options?: DownloadOptions): Promise<Download>
}

type Run = (route: ClientRoute, parts: CallParts, options: CallOptions) => Call<unknown> | List<unknown>

/** A promise of the record that also gives the rest of the response. */
function callOf<Result>(response: Promise<CallResponse<Result>>): Call<Result> {
  const data = response.then(({ data }) => data)
  return Object.assign(data, {
    withResponse() {
      // The caller waits for only one of the two. The other must not count as an unhandled rejection.
      data.catch(() => {})
      return response
    },
  })
}

const toCallResponse = ({ body, ...rest }: ReceivedResponse): CallResponse<unknown> => ({ data: body, ...rest })

function runner({ root, maxResponseBytes }: Settings, send: Send): Run {
  return (route, parts, options) => {
    const name = route.name.join('.')
    checkCallOptions(name, options)
    const { outgoing } = prepare(root, route, parts)
    if (route.isList && route.method === 'GET')
      return listOf(name, (next, wanted) =>
        readFittingPage(outgoing(next, wanted), maxResponseBytes, (request) => send(request, options)),
      )
    const first = outgoing()
    const request = options.ifPreview === undefined ? first : { ...first, conflictStays: true }
    const sent = send(request, options)
    if (!route.isList) return callOf(sent.then(toCallResponse))
    return callOf(sent.then((received) => ({ ...toCallResponse(received), data: readPage(request.url, received).page })))
  }
}

/** The arguments of a method: the ids of the path, the body, the query, the options. */
function partsIn(route: ClientRoute, given: readonly unknown[]): { parts: CallParts; options: CallOptions } {
  const rest = [...given]
  const params = Object.fromEntries(route.params.map((name) => [name, rest.shift()]))
  const body = route.takesBody ? rest.shift() : undefined
  const query = route.takesQuery ? (rest.shift() as CallParts['query']) : undefined
  const [options = {}, ...more] = rest
  if (more.length > 0) throw new TypeError(`${route.name.join('.')}: there are too many arguments`)
  return { parts: { params, body, query: query ?? undefined }, options: options as CallOptions }
}

/** A group of methods, and of the groups below it. */
interface Group {
  [name: string]: Group | ((...given: unknown[]) => unknown)
}

function methodsOf(run: Run): Group {
  const methods: Group = {}
  for (const route of routes) {
    let group = methods
    for (const word of route.name.slice(0, -1)) {
      const below = group[word] ?? {}
      group[word] = below
      if (typeof below === 'object') group = below
    }
    group[route.name.at(-1) ?? ''] = (...given) => {
      const { parts, options } = partsIn(route, given)
      return run(route, parts, options)
    }
  }
  return methods
}

const byId = new Map(routes.map((route) => [route.id, route]))

/**
 * Makes a client of one network, for any server of this API. It needs `fetch` and nothing else.
 * @throws TypeError that names every wrong option
 */
export function createClient(options: ClientOptions): Client {
  const settings = checkedSettings(options)
  const run = runner(settings, sender(settings))
  const call = (id: string, parts: CallParts = {}, given: CallOptions = {}) => {
    const route = byId.get(id)
    if (!route) throw new TypeError(`there is no operation ${String(id).slice(0, 60)}`)
    return run(route, parts, given)
  }
  const preview = (operation: string, parts: CallParts = {}, given: CallOptions = {}) => {
    const params = Object.fromEntries(Object.entries(parts.params ?? {}).map(([name, id]) => [name, String(id)]))
    return run(previewRoute, { body: { operation, ...parts, params } }, given)
  }
  // The methods follow the table, and the types are written from the same declarations.
  return Object.freeze({ ...methodsOf(run), call, preview, download: downloader(settings) }) as unknown as Client
}
