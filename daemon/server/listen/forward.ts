/** Forwards a delivery to the application under development, and passes its response back to the relay. */
import { Agent, request } from 'undici/index.js'
import { errorCode } from '../../../adapters/files/errors.ts'

/** The application's response, or the reason why it sent none. */
export interface Forwarded {
  readonly status: number
  /** For the relay. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Why the application sent no response. */
  readonly problem: string | null
  readonly milliseconds: number
}

export interface Forwarding {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface Forwarder {
  /** Never rejects. */
  send(forwarding: Forwarding): Promise<Forwarded>
  close(): Promise<void>
}

/** Milliseconds for the application: the relay times out after ten seconds. */
const timeoutMs = 9_500
/** Of a response so much is read, which is what a relay reads. */
const maxResponseBytes = 64 * 1024
/** The headers of a response that mean something to a relay. */
const passed = ['content-type', 'retry-after']

/** @param verifies whether the certificate of an https address is checked */
export function createForwarder(url: URL, verifies: boolean): Forwarder {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: verifies }, maxHeaderSize: 32 * 1024 })

  async function post({ headers, body }: Forwarding): Promise<Omit<Forwarded, 'milliseconds'>> {
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      const response = await request(url, { method: 'POST', headers, body, dispatcher, signal })
      const chunks: Buffer[] = []
      let length = 0
      for await (const chunk of response.body as AsyncIterable<Buffer>) {
        chunks.push(chunk)
        length += chunk.length
        if (length > maxResponseBytes) break
      }
      const kept = passed.flatMap((name) => {
        const value = [response.headers[name]].flat()[0]
        return value === undefined ? [] : [[name, value]]
      })
      const text = Buffer.concat(chunks).subarray(0, maxResponseBytes)
      return { status: response.statusCode, headers: Object.fromEntries(kept), body: text, problem: null }
    } catch (error) {
      const problem = signal.aborted ? `no response within ${timeoutMs / 1000} s` : problemOf(error)
      return { status: signal.aborted ? 504 : 502, headers: {}, body: Buffer.from(`${problem}\n`), problem }
    }
  }

  return {
    async send(forwarding) {
      const started = performance.now()
      const forwarded = await post(forwarding)
      return { ...forwarded, milliseconds: Math.round(performance.now() - started) }
    },
    close: () => dispatcher.destroy(),
  }
}

function problemOf(error: unknown): string {
  const code = errorCode(error)
  if (code === 'ECONNREFUSED') return 'nothing listens there'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its name cannot be resolved'
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(code))
    return `its certificate is refused (${code}); --skip-verify accepts it`
  return `the connection failed${code === '' ? '' : ` (${code})`}`
}
