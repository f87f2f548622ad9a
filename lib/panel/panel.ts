/** The panel as a function of requests: policy, forgery, access and routes, in this order. */
import { systemChance } from '../base/chance.ts'
import { isStorableId } from '../base/ids.ts'
import { matchRoute } from '../base/match-route.ts'
import { within } from '../base/timeout.ts'
import type { Community } from '../community.ts'
import { isApiError } from '../errors.ts'
import type { NetworkPage } from '../host/networks.ts'
import { isReadOnly } from '../kernel/read-only.ts'
import type { NetworkRow } from '../storage/tables/administration.ts'
import { bare, signOutForm } from './layout/layout.ts'
import { faultPage, type Look, messagePage, refusalPage } from './layout/messages.ts'
import { type PanelOptions, panelSettings } from './options.ts'
import { navigation, routes } from './pages/index.ts'
import { checkedVisitor, may, type Visitor } from './request/access.ts'
import { actingAs, actorOf, auditedRelay } from './request/acting-user.ts'
import { type Assets, assetsOf } from './request/assets.ts'
import { isOwnForm, referrerPolicy } from './request/forgery.ts'
import { emptyForm, formOf, readForm } from './request/form.ts'
import { type PanelResponse, page, policyHeaders, seeOther } from './request/respond.ts'
import { signInFor } from './request/sign-in.ts'
import { decoded, relative, type View } from './route.ts'
import { html } from './ui/html.ts'

/**
 * Responds to a request for the panel; `undefined` for any other, whose body is then untouched. It never rejects. `host` is
 * handed to `authorize`.
 */
export interface Panel<Host = void> {
  (request: Request, host: Host): Promise<Response | undefined>
  /** Whether a path is the panel's. Hosts check before they make a `Request`; a function without it gets every request. */
  readonly owns?: (path: string) => boolean
}

/** A request of a visitor with access. */
interface Visit {
  readonly request: Request
  readonly url: URL
  /** The path of the page behind the base path and its slash. */
  readonly here: string
  readonly isSafe: boolean
  readonly look: Look
  readonly assets: Assets
  readonly visitor: Visitor
  /** Makes a page with one message. */
  message(status: number, title: string, text: string, headers?: Readonly<Record<string, string>>): Promise<PanelResponse>
}

/** The most networks that one page lists, and the most of a visitor with a list. */
const networksOfPage = 100
const maxNetworks = 500
/** The longest query of an address, in characters. */
const maxQuery = 8192

/**
 * Makes the admin panel of a community: API keys, webhooks, deliveries and the audit in the browser (interface.md, 5 and
 * 11). It keeps no session.
 * @param community its networks, keys and endpoints
 * @param options who may enter, and where the panel is
 * @returns a function of requests, for every host that the API works in. If `authorize` takes a second argument, so does it
 * @throws TypeError for what is no community; one that lists every problem of the options
 */
export function createPanel<Host = void>(community: Community, options: PanelOptions<Host>): Panel<Host> {
  const { by } = (community ?? {}) as { readonly by?: unknown }
  if (typeof by !== 'function')
    throw new TypeError(
      'createPanel: the first argument must be a community, as createCommunity returns it. If it is a Promise, await it first',
    )
  const settings = panelSettings(options)
  const { basePath, brand } = settings
  const { authorize } = options
  let made: Promise<Assets> | undefined
  const assetsThere = () => {
    made ??= assetsOf(brand, settings.scalar)
    return made
  }

  /** The networks that a visitor sees, in the order in which the host lists them. */
  async function networksOf({ networks }: Visitor, after: string): Promise<NetworkPage> {
    if (networks === 'all') return community.networks.page({ limit: networksOfPage, ...(after === '' ? {} : { after }) })
    const rows = await Promise.all(networks.slice(0, maxNetworks).map((name) => community.networks.find(name)))
    return { items: rows.filter((row) => row !== undefined), next: null }
  }

  /** The network of a path, if the visitor sees it: for any other the response is the same as for one that does not exist. */
  async function networkOf({ networks }: Visitor, name: string): Promise<NetworkRow | undefined> {
    if (!/^(?:\d{1,16}|[a-z][a-z0-9-]{1,62})$/.test(name)) return undefined
    const row = await community.networks.find(name)
    const sees = networks === 'all' || networks.some((each) => String(each) === row?.id || each === row?.subdomain)
    return sees ? row : undefined
  }

  /** Assets, forgery, the visitor, then the pages of all networks and of one, in this order. */
  async function responseTo(request: Request, host: Host, here: string, origin: string): Promise<PanelResponse> {
    const assets = await assetsThere()
    const isSafe = isSafeMethod(request.method)
    const look = lookOf(here, assets)
    const asset = isSafe ? await assets.find(here) : undefined
    if (asset) return asset
    if (!isSafe && !isOwnForm(request, origin))
      return messagePage(
        look,
        403,
        'Not accepted',
        'This change did not come from a page of the panel. Open the panel and try again there.',
      )
    const visitor = checkedVisitor(await within(settings.timeoutMs, 'authorize', authorize(request, host)))
    if (!visitor) {
      const { signIn } = settings
      const to = signInFor(request, signIn, basePath, origin)
      const isFromHere = request.headers.get('sec-fetch-site') === 'same-origin'
      if (to !== undefined && !isFromHere) return seeOther(to)
      const shown = signIn === undefined ? look : { ...look, back: relative(here, '') }
      const text = 'You have no access to this panel. Sign in to the product that it belongs to.'
      // It may come from a form, such as a search. The policy forbids that those are redirected to another origin.
      return messagePage(shown, 403, 'No access', text, to === undefined ? {} : { refresh: `0; url=${to}` })
    }
    const message: Visit['message'] = (status, title, text, headers) =>
      messagePage({ ...look, back: relative(here, '') }, status, title, text, headers)
    return respondToVisit({ request, url: new URL(request.url), here, isSafe, look, assets, visitor, message })
  }

  async function respondToVisit(visit: Visit): Promise<PanelResponse> {
    const { url, here, isSafe, visitor, message } = visit
    if (!isSafe && visitor.access === 'read') return message(403, 'Read only', 'You may look at this panel and change nothing.')
    if (url.search.length > maxQuery)
      return message(414, 'Not possible', `The address is too long: its query may have ${maxQuery} characters.`)
    const [name, ...rest] = here.split('/').filter((segment) => segment !== '')
    if (name === undefined) return firstPage(visit)
    const network = await networkOf(visitor, name)
    if (!network) return message(404, 'Not found', 'There is no such network, or you have no access to it.')
    if (rest.length > 0) return respondWithPage(visit, network, rest)
    return isSafe ? seeOther(relative(here, `${network.id}/overview`)) : wrongMethod(visit, ['GET'])
  }

  async function respondWithPage(visit: Visit, network: NetworkRow, segments: readonly string[]): Promise<PanelResponse> {
    const { request, isSafe, visitor, message } = visit
    const { route, params, methods } = matchRoute(routes, isSafe ? 'GET' : request.method, segments)
    if (!route) return methods.length === 0 ? message(404, 'Not found', 'There is no such page.') : wrongMethod(visit, methods)
    if (route.action !== 'visit' && !may(visitor, route.action))
      return message(403, 'Not allowed', 'You may not make this change.')
    const view = viewOf(visit, network, decodedParams(params), segments[0] ?? '')
    try {
      return await route.handle(isSafe ? view : { ...view, form: await readForm(request, route.larger) })
    } catch (error) {
      if (isReadOnly(error)) return refusalPage(view, 503, 'Read-only', `${error.message}.`, error.headers)
      // Those of the relay are made for people; other faults of the server go to the log.
      const isShown = isApiError(error) && (error.status < 500 || error.status === 502 || error.status === 504)
      if (!isShown) throw error
      const title = error.status === 404 ? 'Not found' : 'Not possible'
      return refusalPage(view, error.status, title, error.message)
    }
  }

  function viewOf(visit: Visit, network: NetworkRow, params: View['params'], section: string): View {
    const { request, url, here, visitor, assets } = visit
    const by = actorOf(visitor)
    const acting = actingAs(community, by)
    return {
      ...{ community, visitor, by, acting, network, params, request, assets, section, navigation },
      settings: { ...settings, relay: settings.relay && auditedRelay(settings.relay, acting) },
      id: network.id,
      query: formOf(url.searchParams),
      form: emptyForm,
      link(path, query) {
        const search = new URLSearchParams(query)
        return relative(here, `${network.id}/${path}${search.size > 0 ? `?${search}` : ''}`)
      },
      root: (path) => relative(here, path),
    }
  }

  const lookOf = (here: string, { css, js }: Assets): Look => ({ brand, css: relative(here, css), js: relative(here, js) })

  /** The visitor's networks. */
  async function firstPage(visit: Visit): Promise<PanelResponse> {
    const { url, here, look, visitor } = visit
    const after = url.searchParams.get('after') ?? ''
    if (after !== '' && !isStorableId(after)) return visit.message(422, 'Not possible', 'This page of the list does not exist.')
    if (!visit.isSafe) return wrongMethod(visit, ['GET'])
    const { items, next } = await networksOf(visitor, after)
    const [only] = items
    if (only && items.length === 1 && after === '') return seeOther(`./${only.id}/overview`)
    const list = html`<ul class="list">${items.map(({ id, title }) => html`<li><a href="./${id}/overview">${title}</a></li>`)}</ul>
<nav class="pager" aria-label="Pages">${after !== '' && html`<a href="./">First</a>`}${next !== null && html`<a href="./?after=${next}">More</a>`}</nav>`
    const none = html`<p>There is no network that you have access to.</p>`
    const end = signOutForm(settings.signOut, (path) => relative(here, path))
    return page(bare({ title: 'Networks', ...look, end }, html`<h1>Networks</h1>${items.length > 0 ? list : none}`))
  }

  async function respond(request: Request, host: Host, url: URL): Promise<Response> {
    const origin = settings.origin ?? url.origin
    const here = url.pathname.slice(basePath.length + 1)
    let given: PanelResponse
    try {
      given = await within(settings.timeoutMs * 3, 'the page', responseTo(request, host, here, origin))
    } catch (error) {
      const request_id = systemChance.uuid()
      settings.report(error, { request_id, task: 'panel' })
      given = await faultPage(lookOf(here, await assetsThere()), error, !isSafeMethod(request.method), request_id)
    }
    const headers = { 'referrer-policy': referrerPolicy(request, origin), ...policyHeaders, ...given.headers }
    return new Response(request.method === 'HEAD' ? null : given.body, { status: given.status, headers })
  }

  const owns = (path: string): boolean => (basePath !== '' && path === basePath) || path.startsWith(`${basePath}/`)

  async function panel(request: Request, host: Host): Promise<Response | undefined> {
    const url = new URL(request.url)
    if (!owns(url.pathname)) return undefined
    if (basePath !== '' && url.pathname === basePath) {
      const headers = {
        location: `${basePath.slice(basePath.lastIndexOf('/') + 1)}/`,
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        ...policyHeaders,
      }
      return new Response(null, { status: 308, headers })
    }
    return respond(request, host, url)
  }
  return Object.assign(panel, { owns })
}

function wrongMethod({ message }: Visit, methods: readonly string[]): Promise<PanelResponse> {
  const allow = methods.map((method) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ')
  return message(405, 'Not possible', 'This page does not accept that method.', { allow })
}

const decodedParams = (params: Readonly<Record<string, string>>): View['params'] =>
  Object.fromEntries(Object.entries(params).map(([name, segment]) => [name, decoded(segment)]))

const isSafeMethod = (method: string): boolean => method === 'GET' || method === 'HEAD'
