/** The parts that API requests and downloads share: a time limit, lost connections, redirects. */
import { ConnectionError, isClientError, TimeoutError } from './errors.ts'
import type { CallOptions, Settings } from './options.ts'

/**
 * Runs one try within its time.
 * @throws TimeoutError if it took too long; the reason of the caller's signal if that ended it
 */
export async function timed<T>(
  { timing, timeout: standard }: Settings,
  request: string,
  { signal, timeout = standard }: CallOptions,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const own = new AbortController()
  const onAbort = (): void => own.abort(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  const takeBack = timing.after(timeout, () =>
    own.abort(new TimeoutError(`${request}: no response within ${timeout} ms`, { code: 'timeout' })),
  )
  try {
    return await run(own.signal)
  } catch (error) {
    throw own.signal.aborted ? own.signal.reason : error
  } finally {
    takeBack()
    signal?.removeEventListener('abort', onAbort)
  }
}

/** Causes are read so far. */
const maxCauses = 5

/** The reason as a word of the runtime, such as `ECONNREFUSED`; messages of errors may have secrets. */
function codesOf(error: unknown): readonly string[] {
  let at: unknown = error
  for (let depth = 0; depth < maxCauses && typeof at === 'object' && at !== null; depth++) {
    const { code, cause, errors } = at as { readonly code?: unknown; readonly cause?: unknown; readonly errors?: unknown }
    if (typeof code === 'string' && /^[A-Z]\w{1,60}$/.test(code)) return [code]
    at = cause ?? (Array.isArray(errors) ? errors[0] : undefined)
  }
  return []
}

const withFacts = (sentence: string, facts: readonly string[]): string =>
  facts.length === 0 ? sentence : `${sentence} (${facts.join(', ')})`

export const lostCode = 'connection_failed'

/** The stream of a file failed while it was sent. */
export const unreadableFile = (request: string, cause: unknown): ConnectionError =>
  new ConnectionError(withFacts(`${request}: the stream of a file failed while it was sent`, codesOf(cause)), {
    ...{ code: 'file_failed', cause },
  })

/**
 * Any failure to get a response, other than one that this client found, is a lost connection.
 * @param origin of the server, if the request does not have it
 */
export async function lostIfBroken<T>(request: string, work: Promise<T>, origin?: string): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (isClientError(cause)) throw cause
    const facts = [...(origin === undefined ? [] : [origin]), ...codesOf(cause)]
    throw new ConnectionError(withFacts(`${request}: the connection failed or was lost`, facts), { code: lostCode, cause })
  }
}

/** Whether a value is a `Response`, of another copy of `fetch` too. */
export const isResponse = (value: unknown): value is Response =>
  typeof value === 'object' && value !== null && 'headers' in value && 'status' in value

/** The place of a redirect; `''` if a browser hides it, `undefined` for every other response. */
export function locationOf(response: Response, from: string): string | undefined {
  if (response.type === 'opaqueredirect') return ''
  if (response.status < 300 || response.status > 399) return undefined
  const location = response.headers.get('location')
  return (location !== null && URL.parse(location, from)?.href) || ''
}
