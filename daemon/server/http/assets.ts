import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { pipeline } from 'node:stream'
import { defaultBounds, watch } from '../../../adapters/http/node-bounds.ts'
import { toIncoming } from '../../../adapters/http/node-request.ts'
import { inTurn } from '../../../adapters/http/node-turns.ts'
import { isApiError } from '../../../lib/errors.ts'
import { jsonResponse } from '../../../lib/http/exchange.ts'
import { requireHttps } from '../../../lib/http/steps/https.ts'

export const assetsPath = '/assets/'

/** Types that browsers may show in place; others are offered for download, because they come from strangers. */
const shown: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.avif': 'image/avif',
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
  '.mp3': 'audio/mpeg',
  '.ogg': 'audio/ogg',
  '.wav': 'audio/wav',
}

/**
 * Serves the files of uploads below `/assets/`, and leaves every other request to the next listener.
 * @param directory where `directoryAssets` keeps them
 * @param https whether plain HTTP is refused here as everywhere else
 */
export function withAssets(directory: string, https: HttpsSettings, next: RequestListener): RequestListener {
  return (request, response) => {
    const path = request.url?.split('?', 1)[0] ?? '/'
    if (!path.startsWith(assetsPath)) return next(request, response)
    const file = join(directory, path.slice(assetsPath.length))
    inTurn(request, response, () => {
      serveFile(file, path, https, request, response).catch((error: unknown) => {
        if (response.headersSent || !isApiError(error)) response.destroy()
        else writeJson(response, error.status, error.body)
      })
    })
  }
}

export type HttpsSettings = Parameters<typeof requireHttps>[1]

const writeJson = (response: ServerResponse, status: number, body: object): void => {
  const { headers, body: text } = jsonResponse(status, JSON.stringify(body))
  response.writeHead(status, headers).end(text)
}

async function serveFile(
  file: string,
  path: string,
  https: HttpsSettings,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  requireHttps(toIncoming(request), https)
  const refuse = (status: number, error: string) => writeJson(response, status, { error })
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return void refuse(405, `${request.method} is not allowed here. Allowed: GET, HEAD.`)
  // The names that the store gives, and nothing that could lead out of its directory.
  if (!/^\/assets\/[\w-]+(?:\.[\w-]+)+$/.test(path) || path.endsWith('.part')) return void refuse(404, 'File not found')
  const handle = await open(file).catch(() => undefined)
  if (!handle) return void refuse(404, 'File not found')
  const { size } = await handle.stat()
  await handle.close()
  const type = shown[extname(path)]
  const part = request.method === 'GET' ? partOf(request, size) : undefined
  if (part && part.start >= size) {
    response.setHeader('content-range', `bytes */${size}`)
    return void refuse(416, `The file has ${size} bytes; the header Range asks for others`)
  }
  const { start, end } = part ?? { start: 0, end: size - 1 }
  response.writeHead(part ? 206 : 200, {
    'content-type': type ?? 'application/octet-stream',
    'content-length': end - start + 1,
    'accept-ranges': 'bytes',
    ...(part ? { 'content-range': `bytes ${start}-${end}/${size}` } : {}),
    'x-content-type-options': 'nosniff',
    'cache-control': 'public, max-age=31536000, immutable',
    ...(type ? {} : { 'content-disposition': 'attachment' }),
  })
  if (request.method === 'HEAD') response.end()
  else {
    const watching = watch(defaultBounds.responseStallMs, Number.POSITIVE_INFINITY, () => request.socket.destroy())
    pipeline(
      createReadStream(file, part).on('data', () => watching.moved()),
      response,
      () => watching.end(),
    )
  }
}

/** Byte numbers, both included. */
interface Part {
  readonly start: number
  readonly end: number
}

/**
 * The part of a file that a player of videos requests. It begins at the end of the file, or behind it, if the file has none of it.
 * `undefined`: the whole file, also where several parts are requested, or one of an earlier version.
 */
function partOf({ headers }: IncomingMessage, size: number): Part | undefined {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.range ?? '') ?? []
  if (headers['if-range'] !== undefined || first === undefined || last === undefined || first + last === '') return undefined
  if (first === '') return { start: last === '0' ? size : Math.max(0, size - Number(last)), end: size - 1 }
  const part = { start: Number(first), end: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
  return last !== '' && Number(last) < part.start ? undefined : part
}
