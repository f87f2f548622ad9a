/** One server of a comparison, and its responses. */

import type { List } from '../../../../lib/client/index.ts'
import { isClientError } from '../../../../lib/client/index.ts'
import { readText } from '../../../../lib/client/response.ts'
import { UsageError } from '../../../usage.ts'
import { isApiRecord, textOf } from '../api-record.ts'
import { fewRetries } from '../first-requests.ts'
import type { Server } from '../from-server.ts'
import { type Paced, pacedClient } from '../paced-client.ts'
import { pageWatch } from '../page-watch.ts'
import type { Read } from './reads.ts'

export interface Side {
  /** Its address and its network, for messages. */
  readonly name: string
  readonly base: string
  readonly paced: Paced
}

/** The limit of the client for a response, in bytes. */
const maxResponseBytes = 64 * 1024 * 1024
/** Carries the envelope of a list through the client, which gives the headers of a response. */
const envelopeHeader = 'x-folkmoot-envelope'

export interface RecordResponse {
  readonly status: number
  readonly body: unknown
}

/** The fields of a response around its records. */
const envelopeOf = (body: unknown): string => {
  if (Array.isArray(body)) return 'a list alone'
  if (!isApiRecord(body)) return typeof body
  const links = isApiRecord(body['links']) ? ` with links ${Object.keys(body['links']).sort().join(', ')}` : ''
  return `{ ${Object.keys(body).sort().join(', ')} }${links}`
}

function envelopeIn(text: string): string {
  try {
    return envelopeOf(JSON.parse(text))
  } catch {
    // The client has a sentence for it.
    return ''
  }
}

export function sideOf({ name, base, options }: Server, onWait?: (ms: number) => void): Side {
  const send = options.fetch ?? ((request: Request) => fetch(request))
  const paced = pacedClient(
    {
      ...options,
      maxResponseBytes,
      async fetch(request) {
        const response = await send(request)
        if (!response.ok) return response
        // The client reads what is too large or breaks off, and names the reason.
        const text = await readText(request.url, response.clone(), maxResponseBytes, request.signal).catch(() => undefined)
        if (text === undefined) return response
        const { status } = response
        const headers = new Headers(response.headers)
        headers.set(envelopeHeader, encodeURIComponent(envelopeIn(text).toWellFormed()))
        return new Response([204, 205, 304].includes(status) ? null : text, { status, headers })
      },
    },
    onWait,
  )
  return { name, base, paced }
}

/** Faults of the comparison itself: there is nothing to compare. */
const isOurs = (status: number | undefined): boolean => status === undefined || [401, 408, 429, 502, 503, 504].includes(status)

/**
 * Requests one record.
 * @returns refusals too, with their body
 * @throws ClientError if there is no response to compare
 */
export async function requestRecord(
  { paced }: Side,
  { route, params, query }: Read,
  signal: AbortSignal,
): Promise<RecordResponse> {
  try {
    const response: unknown = await paced.run(async () => {
      signal.throwIfAborted()
      const call = paced.client.call(route.id, { params, query }, { signal })
      return 'withResponse' in call ? call.withResponse() : undefined
    })
    return isApiRecord(response) ? { status: Number(response['status']), body: response['data'] } : { status: 0, body: undefined }
  } catch (error) {
    return refusalIn(error)
  }
}

/**
 * Checks soon whether a server responds at all, and has the network.
 * @throws ClientError, UsageError
 */
export async function reach({ paced, name }: Side): Promise<void> {
  const shown = paced.client.network.show(fewRetries).withResponse()
  const { status, body } = await shown.then(
    (response): RecordResponse => ({ status: response.status, body: response.data }),
    refusalIn,
  )
  if (isRefusedToken({ status, body })) return
  if (status >= 300 || !isApiRecord(body) || textOf(body['id']) === '')
    throw new UsageError(`${name} is not there (status ${status}): look at the address and at the network`)
}

/** Whether a response is about the token alone: it lacks a scope (interface.md, 6.4). */
export const isRefusedToken = ({ status, body }: RecordResponse): boolean =>
  status === 403 && isApiRecord(body) && typeof body['message'] === 'string'

/** The status and the body of a refusal. @throws any other error */
function refusalIn(error: unknown): RecordResponse {
  if (!isClientError(error) || error.status === undefined || isOurs(error.status)) throw error
  if (error.code === 'response_too_large') throw error
  return { status: error.status, body: error.body }
}

/** A page of a list, or a refusal. */
export interface PageResponse {
  readonly status: number
  readonly body: unknown
  readonly records: readonly unknown[]
  readonly isLast: boolean
  readonly envelope: string
}

/** The pages of a list, one after the other; a refusal ends it. */
export async function* requestPages({ paced }: Side, { route, params, query }: Read, perPage: number, signal: AbortSignal) {
  const isAnother = pageWatch(route.id)
  for (let from: string | null = null; ; ) {
    const pageQuery: Readonly<Record<string, unknown>> = from === null ? { ...query, per_page: String(perPage) } : { from }
    let page: Awaited<List<unknown>>
    try {
      const response: unknown = await paced.run(async () => {
        signal.throwIfAborted()
        return paced.client.call(route.id, { params, query: pageQuery }, { signal })
      })
      // A list is awaited for its page.
      page = response as Awaited<List<unknown>>
    } catch (error) {
      yield { ...refusalIn(error), records: [], isLast: true, envelope: '' } satisfies PageResponse
      return
    }
    if (!isAnother(page)) {
      yield { status: page.status, body: undefined, records: [], isLast: true, envelope: '' } satisfies PageResponse
      return
    }
    const envelope = decodeURIComponent(page.headers.get(envelopeHeader) ?? '')
    from = page.links.next
    yield { status: page.status, body: undefined, records: page.items, isLast: from === null, envelope } satisfies PageResponse
    if (from === null) return
  }
}
