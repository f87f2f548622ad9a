/** Responses of the panel: each carries the policy that forbids everything but its own files. */
import type { Html } from '../ui/html.ts'

const policy = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  `img-src 'self' data:`,
  `connect-src 'self'`,
  `form-action 'self'`,
  `frame-ancestors 'none'`,
  `base-uri 'none'`,
].join('; ')

export const policyHeaders = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  // For browsers that do not read `frame-ancestors`.
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const

/** A response before it gets its headers. */
export interface PanelResponse {
  readonly status: number
  /** A stream is a file of any length. */
  readonly body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null
  readonly headers: Readonly<Record<string, string>>
}

/** A page. It is never stored: it may show a secret, and another visitor may use the same browser. */
export const page = async (body: Html, status = 200): Promise<PanelResponse> => ({
  status,
  body: `<!doctype html>${await body}`,
  headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
})

/** The way to another page after a change, so that a reload repeats nothing. */
export const seeOther = (location: string): PanelResponse => ({
  status: 303,
  body: null,
  headers: { location, 'cache-control': 'no-store' },
})

/** @param onFault gets what ends a file early: the response has begun */
export function download(
  name: string,
  type: string,
  pieces: AsyncGenerator<string>,
  onFault: (error: unknown) => void,
): PanelResponse {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await pieces.next().catch((error: unknown) => {
          onFault(error)
          throw error
        })
        // If the reader has gone meanwhile, these throw, which is no fault.
        if (piece.done) controller.close()
        else controller.enqueue(encoder.encode(piece.value))
      },
    },
    { highWaterMark: 0 },
  )
  const disposition = { 'content-disposition': `attachment; filename="${name}"` }
  return { status: 200, body, headers: { 'content-type': type, ...disposition, 'cache-control': 'no-store' } }
}
