import type { LookupFunction } from 'node:net'
import type * as undici from 'undici/index.js'
import * as v from 'valibot'
import { createPieces } from '../../lib/http/pieces.ts'
import type { Download, Downloader } from '../../lib/ports.ts'
import { callable, checkOptions, group, positive, type RulesOf } from '../options.ts'

/**
 * The guard that keeps a download out of the operator's own network: both are needed, for addresses in the URL are never looked
 * up.
 */
export interface DownloadGuard {
  /** Whether a URL may be called, judged by itself: its scheme, its port, an address instead of a name. */
  allows(url: string): boolean
  /** Turns names into addresses, and hands on only those that may be dialled. */
  readonly lookup: LookupFunction
  /** Seconds for the whole download; 20 by default. */
  readonly timeout?: number
}

/** A file that has moved further than this stays there. */
const maxRedirects = 3
/**
 * Bytes of the responses besides the file, which may have as many as the file again. Interim responses, empty lines and
 * extensions of chunks are seen by no code of ours. They would keep the processor busy until the time is over.
 */
const maxOverhead = 1024 * 1024

export const guardRules = {
  allows: callable<DownloadGuard['allows']>(),
  lookup: callable<LookupFunction>(),
  timeout: v.optional(positive, 20),
} satisfies RulesOf<DownloadGuard>

const rules = { download: group(guardRules) }

/**
 * The port `download`: fetches files that strangers have named, under a guard.
 * @param guard the addresses it may reach; there is no default, because the wrong one opens the operator's network
 * @returns a downloader, which follows up to 3 redirects. A failure is a result, not an error.
 * @throws TypeError that lists every option that is missing, malformed or unknown
 */
export function guardedDownloads(guard: DownloadGuard): Downloader {
  const { download } = checkOptions('guardedDownloads', rules, { download: guard }, '{ allows, lookup }')
  const { allows, lookup, timeout } = download

  /** Each download has its own connections: what comes on them besides the file is bounded. */
  function open({ Agent, buildConnector }: typeof undici, fileBytes: () => number): undici.Agent {
    const connector = buildConnector({ lookup, timeout: timeout * 1000, allowH2: false })
    const connect: typeof connector = (to, done) =>
      // RFC 6066, section 3: the name for TLS has no dot at its end, as names in URLs may.
      connector(to.hostname.endsWith('.') ? { ...to, servername: to.hostname.slice(0, -1) } : to, (...made) => {
        const [, socket] = made
        socket?.on('readable', () => {
          if (socket.bytesRead > maxOverhead + 2 * fileBytes())
            socket.destroy(new Error('the response has too much besides the file'))
        })
        done(...made)
      })
    return new Agent({ connect, allowH2: false })
  }

  async function get(url: string, limit: number, arrived: (bytes: number) => void, signal: AbortSignal): Promise<Download> {
    // Loading undici costs as much as the rest of a server: it waits for the first download.
    const loaded = await import('undici/index.js')
    let fileBytes = 0
    const dispatcher = open(loaded, () => fileBytes)
    const counted = (bytes: number) => {
      fileBytes += bytes
      arrived(bytes)
    }
    try {
      return await follow(url, loaded.request, dispatcher, limit, counted, signal)
    } finally {
      dispatcher.destroy().catch(() => {})
    }
  }

  async function follow(
    url: string,
    request: typeof undici.request,
    dispatcher: undici.Agent,
    limit: number,
    arrived: (bytes: number) => void,
    signal: AbortSignal,
  ): Promise<Download> {
    for (let step = 0, next = url; step <= maxRedirects; step++) {
      if (!allows(next)) return { ok: false, reason: 'refused' }
      const { statusCode, headers, body } = await request(next, { dispatcher, signal, headers: { accept: '*/*' } })
      if (statusCode === 200) return read(body, limit, arrived, nameIn(next))
      await body.dump()
      const location = headers['location']
      if (![301, 302, 303, 307, 308].includes(statusCode) || typeof location !== 'string') break
      const target = URL.parse(location, next)
      if (!target) break
      next = target.href
    }
    return { ok: false, reason: 'failed' }
  }

  return {
    async get(url, limit, arrived) {
      let stopped: { readonly by: unknown } | undefined
      const count = (bytes: number) => {
        try {
          arrived?.(bytes)
        } catch (error) {
          stopped = { by: error }
          throw error
        }
      }
      try {
        return await get(url, limit, count, AbortSignal.timeout(timeout * 1000))
      } catch (error) {
        if (stopped) throw stopped.by
        return { ok: false, reason: isRefusal(error) ? 'refused' : 'failed' }
      }
    },
  }
}

/** Whether the lookup refused: it does so by an error of that name. */
const isRefusal = (error: unknown): boolean => error instanceof Error && error.name === 'Refused'

async function read(
  body: undici.Dispatcher.ResponseData['body'],
  limit: number,
  arrived: (bytes: number) => void,
  name: string | null,
): Promise<Download> {
  const pieces = createPieces()
  let length = 0
  for await (const chunk of body) {
    length += (chunk as Uint8Array).length
    // Leaving the loop closes the connection: the rest is never sent.
    if (length > limit) return { ok: false, reason: 'too large' }
    arrived((chunk as Uint8Array).length)
    pieces.add(chunk as Uint8Array)
  }
  return { ok: true, bytes: pieces.whole(), name }
}

/** The last part of a URL's path, as a file's name. */
function nameIn(url: string): string | null {
  const last = new URL(url).pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(last) || null
  } catch {
    return last
  }
}
