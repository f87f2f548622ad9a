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

export const download = (name: string, type: string, body: string | ReadableStream<Uint8Array>): PanelResponse => ({
  status: 200,
  body,
  headers: { 'content-type': type, 'content-disposition': `attachment; filename="${name}"`, 'cache-control': 'no-store' },
})
