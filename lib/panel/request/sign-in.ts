/** Visitors without a session: a person who opens a page is sent to the sign-in of the host, and nothing else is. */

/** Characters of an address that is handed on: it becomes up to three times as long. */
const mostCharacters = 2000

/** A script or a program must see that it has no access, and not the page of a sign-in. A browser on plain HTTP sends no mode. */
function isOpened({ method, headers }: Request): boolean {
  const mode = headers.get('sec-fetch-mode')
  if (method !== 'GET' && method !== 'HEAD') return false
  return mode === null ? (headers.get('accept') ?? '').includes('text/html') : mode === 'navigate'
}

/**
 * Where a visitor without a session is sent: the option `signIn`, with the way back in `return_to`; `undefined` for one who is
 * refused instead.
 * @param origin the public origin, for a sign-in that has another one
 */
export function signInFor(request: Request, signIn: string | undefined, basePath: string, origin: string): string | undefined {
  if (signIn === undefined || !isOpened(request)) return undefined
  const { pathname, search } = new URL(request.url)
  const here = `${pathname}${search}`
  // A browser takes `//example.org` for another site.
  const path = here.startsWith('//') || here.length > mostCharacters ? `${basePath}/` : here
  const back = new URLSearchParams({ return_to: signIn.startsWith('/') ? path : `${origin}${path}` })
  return `${signIn}${signIn.includes('?') ? '&' : '?'}${back}`
}
