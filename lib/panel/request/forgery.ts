/** Requests that another site makes a browser send. There are no tokens, because the panel has no session. */

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|[\w-]+\.localhost)$/

/**
 * Whether an unsafe request comes from a page of the panel: `Sec-Fetch-Site` is `same-origin`. A browser omits it on plain
 * HTTP; then `Origin` must be the public origin.
 */
export function isOwnForm(request: Request, origin: string): boolean {
  const site = request.headers.get('sec-fetch-site')
  return site === null ? request.headers.get('origin') === origin : site === 'same-origin'
}

/**
 * The `Referrer-Policy` of a response. With `no-referrer` browsers send `Origin: null` with forms. On plain HTTP, where
 * `Origin` decides, it is `same-origin`: then other sites get no referrer either.
 */
export function referrerPolicy(request: Request, origin: string): 'no-referrer' | 'same-origin' {
  const { protocol, hostname } = new URL(origin)
  const sendsSite = request.headers.has('sec-fetch-site') || protocol === 'https:' || loopback.test(hostname)
  return sendsSite ? 'no-referrer' : 'same-origin'
}
