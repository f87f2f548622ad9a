/** The panel of a server behind its own login: a one-time link, exchanged for a cookie. */
import type { IncomingMessage, RequestListener } from 'node:http'
import { toIncoming } from '../../../adapters/http/node-request.ts'
import { write } from '../../../adapters/http/node-web.ts'
import { scalarFile } from '../../../adapters/http/scalar.ts'
import { ApiError, isApiError } from '../../../lib/errors.ts'
import type { Incoming } from '../../../lib/http/exchange.ts'
import { isSecure, publicAddress, requireHost, requireHttps } from '../../../lib/http/steps/https.ts'
import type { Community } from '../../../lib/index.ts'
import { createPanel, type Panel, type RelayAdmin } from '../../../lib/panel/index.ts'
import { isOwnForm, referrerPolicy } from '../../../lib/panel/request/forgery.ts'
import { maxFormBytes, maxUploadBytes } from '../../../lib/panel/request/form.ts'
import { type PanelResponse, policyHeaders, seeOther } from '../../../lib/panel/request/respond.ts'
import { type Logins, sessionMs } from './logins.ts'
import { deadLinkPage, enterPage, refusedPage, signedOutPage, signInPage, signOutPage } from './pages.ts'
import { panelPath } from './path.ts'

export interface PanelParts {
  readonly community: Community
  readonly relay: RelayAdmin | undefined
  readonly logins: Logins
  /** The port of the server, for the name of the cookie. */
  readonly port: number
  readonly publicUrl: string | undefined
  readonly allowHttp: boolean
  readonly trustProxy: boolean
  readonly onError: (error: unknown, about: object) => void
}

/** One request, with the facts of its connection. */
interface Visit {
  readonly incoming: Incoming
  readonly origin: string
  readonly secure: boolean
  readonly session: string | undefined
  readonly address: string | undefined
}

export function panelListener(parts: PanelParts): RequestListener {
  const { community, relay, logins, port, publicUrl, trustProxy, onError } = parts
  const https = { allowHttp: parts.allowHttp, trustProxy }
  /** Requests for the panel itself, which identifies their visitors. */
  const visits = new WeakMap<Request, Visit>()
  const scalar = scalarFile()
  const panel: Panel = createPanel(community, {
    authorize(request) {
      const visit = visits.get(request)
      const rights = visit?.session === undefined ? undefined : logins.rightsOf(visit.session)
      return rights ? { ...rights, ...(visit?.address === undefined ? {} : { address: visit.address }) } : null
    },
    ...(relay ? { relay } : {}),
    ...(scalar ? { scalar } : {}),
    basePath: panelPath,
    signOut: 'logout',
    onError,
  })

  function visitOf(request: IncomingMessage): Visit {
    const incoming = toIncoming(request)
    requireHttps(incoming, https)
    requireHost(incoming, { trustProxy, publicUrl })
    const secure = isSecure(incoming, https)
    const { origin } = new URL(publicAddress(incoming, { trustProxy, basePath: '', publicUrl: publicUrl ?? '' }).origin)
    // The last proxy has added the last address; the others come from outside.
    const forwarded = trustProxy ? incoming.header('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined
    return {
      ...{ incoming, origin, secure },
      session: sessionIn(incoming.header('cookie'), port, secure),
      address: forwarded || request.socket.remoteAddress,
    }
  }

  async function requestOf(visit: Visit, signal: AbortSignal): Promise<Request> {
    const { incoming, origin } = visit
    const { method, path, search } = incoming
    const headers = new Headers()
    for (const name of ['content-type', 'content-encoding', 'origin', 'sec-fetch-site']) {
      const value = incoming.header(name)
      if (value !== null) headers.set(name, value)
    }
    const bodiless = method === 'GET' || method === 'HEAD'
    // A form that is too large stays one byte too large: the panel refuses it. A stranger has no file to send.
    const most = isSignedIn(visit) ? maxUploadBytes : maxFormBytes
    const read = bodiless ? null : ((await incoming.read(most)) ?? new Uint8Array(most + 1))
    const url = new URL(`${path}${search}`, origin)
    // A guard in front, such as one of nginx, has seen another path.
    if (url.pathname !== path)
      throw new ApiError(400, { error: 'The path must be written as it is meant, without .. and backslashes' })
    return new Request(url, { method, headers, body: read && new Uint8Array(read), signal })
  }

  /** The responses of the login; `undefined` for everything else. */
  async function login({ incoming, secure, session }: Visit, request: Request): Promise<Reply | undefined> {
    const { method, path, search } = incoming
    const isSafe = method === 'GET' || method === 'HEAD'
    if (path === `${panelPath}/login`) {
      if (!isSafe) return { page: refusedPage(405, 'This page does not accept that method.'), headers: { allow: 'GET, HEAD' } }
      // A browser that looks ahead, or a preview of a link in a chat, must not use it up.
      if (method === 'HEAD' || looksAhead(incoming)) return { page: refusedPage(503, 'Open the link itself.') }
      const entered = logins.enter(new URLSearchParams(search).get('code') ?? '')
      if (entered === undefined) return { page: deadLinkPage(port) }
      if (session !== undefined) logins.leave(session)
      const headers = { 'set-cookie': setSession(entered, port, secure) }
      return { page: incoming.header('sec-fetch-site') === 'cross-site' ? enterPage() : seeOther('./'), headers }
    }
    if (path === `${panelPath}/logout`) {
      if (isSafe) return { page: signOutPage() }
      if (!isOwnForm(request, new URL(request.url).origin))
        return { page: refusedPage(403, 'This did not come from a page of the panel.') }
      if (session !== undefined) logins.leave(session)
      return { page: signedOutPage(port), headers: { 'set-cookie': endSession(port, secure) } }
    }
    return undefined
  }

  const isSignedIn = ({ session }: Visit): boolean => session !== undefined && logins.rightsOf(session) !== undefined

  async function respond(message: IncomingMessage, signal: AbortSignal): Promise<Response> {
    if (unfetchable.has(message.method ?? ''))
      throw new ApiError(405, { error: 'This method is not allowed here.' }, { allow: 'GET, HEAD, POST' })
    const visit = visitOf(message)
    const request = await requestOf(visit, signal)
    visits.set(request, visit)
    const given = await login(visit, request)
    if (given) return responseOf(request, given)
    const fromPanel = await panel(request)
    // The panel knows no way in. Here there is one, on whichever page a session has ended.
    if (fromPanel?.status === 403 && !isSignedIn(visit))
      return responseOf(request, { page: signInPage(port, visit.incoming.path.slice(panelPath.length + 1)) })
    return fromPanel ?? responseOf(request, { page: refusedPage(404, 'There is no such page.') })
  }

  return (message, response) => {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    respond(message, gone.signal)
      .catch(async (error: unknown) => {
        if (!isApiError(error)) throw error
        const headers = { ...policyHeaders, ...error.headers, 'content-type': 'application/json', 'cache-control': 'no-store' }
        return new Response(JSON.stringify(error.body), { status: error.status, headers })
      })
      .then((reply) => write(message, response, reply))
      .catch((error: unknown) => {
        onError(error, { task: 'panel' })
        response.destroy()
      })
  }
}

/**
 * Whether a browser only looks ahead. On plain HTTP it omits `Sec-Purpose`, and some browsers send one of the older headers
 * instead.
 */
const looksAhead = (incoming: Incoming): boolean =>
  incoming.header('sec-purpose') !== null ||
  ['purpose', 'x-purpose', 'x-moz'].some((name) => /prefetch|preview/i.test(incoming.header(name) ?? ''))

/** Methods of which no `Request` can be made. */
const unfetchable = new Set(['CONNECT', 'TRACE', 'TRACK'])

interface Reply {
  readonly page: PanelResponse | Promise<PanelResponse>
  readonly headers?: Readonly<Record<string, string>>
}

async function responseOf(request: Request, { page, headers: own = {} }: Reply): Promise<Response> {
  const { status, body, headers } = await page
  const policy = { ...policyHeaders, 'referrer-policy': referrerPolicy(request, new URL(request.url).origin) }
  return new Response(request.method === 'HEAD' ? null : body, { status, headers: { ...policy, ...headers, ...own } })
}

/** The name of a session's cookie: browsers share cookies between the ports of a host, and two servers must not sign each other out. */
const nameOf = (port: number, secure: boolean): string => `${secure ? '__Host-' : ''}folkmoot-panel-${port}`

const attributes = (secure: boolean, seconds: number): string =>
  `Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`

/** The session in the `Cookie` header of a request. @param secure whether the request came by TLS */
function sessionIn(header: string | null, port: number, secure: boolean): string | undefined {
  const start = `${nameOf(port, secure)}=`
  const found = header?.split(';').find((each) => each.trim().startsWith(start))
  return found?.trim().slice(start.length)
}

const setSession = (session: string, port: number, secure: boolean): string =>
  `${nameOf(port, secure)}=${session}; ${attributes(secure, sessionMs / 1000)}`

const endSession = (port: number, secure: boolean): string => `${nameOf(port, secure)}=; ${attributes(secure, 0)}`
