/** The panel as a function of requests: policy, forgery, access and routes, in this order. */
import { systemChance } from '../base/chance.ts'
import type { Community } from '../community.ts'
import { type ApiError, isApiError } from '../errors.ts'
import type { NetworkRow } from '../storage/tables.ts'
import { checkedVisitor, may, type Visitor } from './access.ts'
import { actingAs, actorOf } from './acting.ts'
import { type Assets, assetsOf } from './assets.ts'
import { isOwnForm, referrerPolicy } from './forgery.ts'
import { emptyForm, formOf, readForm } from './form.ts'
import { html } from './html.ts'
import { bare } from './layout.ts'
import { type PanelOptions, panelSettings } from './options.ts'
import { routes } from './pages/index.ts'
import { type PanelAnswer, page, policyHeaders, seeOther } from './respond.ts'
import { matching, relative, type View } from './route.ts'

/** Answers a request for the panel; `undefined` for any other, whose body is then untouched. It never rejects. */
export type Panel = (request: Request) => Promise<Response | undefined>

/** The most networks that the first page lists. */
const maxNetworks = 500

/**
 * Makes the admin panel of a community: API keys, webhooks, deliveries and the audit in the browser (specification, sections 5
 * and 6). It keeps no session.
 * @param community its networks, keys and endpoints
 * @param options who may enter, and where the panel is
 * @returns a function of requests, for every host that the API works in
 * @throws TypeError that lists every problem of the options
 */
export function createPanel(community: Community, options: PanelOptions): Panel {
  const settings = panelSettings(options)
  const { basePath, brand } = settings
  let made: Promise<Assets> | undefined
  const assetsThere = () => {
    made ??= assetsOf(brand)
    return made
  }

  /** The networks that a visitor sees, in the order in which the host lists them. */
  async function networksOf({ networks }: Visitor): Promise<readonly NetworkRow[]> {
    if (networks === 'all') return (await community.networks.list()).slice(0, maxNetworks)
    const rows = await Promise.all(networks.slice(0, maxNetworks).map((name) => community.networks.find(name)))
    return rows.filter((row) => row !== undefined)
  }

  /** The network of a path, if the visitor sees it: for any other the answer is the same as for one that does not exist. */
  async function networkOf({ networks }: Visitor, name: string): Promise<NetworkRow | undefined> {
    if (!/^(?:\d{1,16}|[a-z][a-z0-9-]{1,62})$/.test(name)) return undefined
    const row = await community.networks.find(name)
    const sees = networks === 'all' || networks.some((each) => String(each) === row?.id || each === row?.subdomain)
    return sees ? row : undefined
  }

  async function answer(request: Request, here: string, origin: string): Promise<PanelAnswer> {
    const assets = await assetsThere()
    const { method } = request
    const isSafe = method === 'GET' || method === 'HEAD'
    const message = (status: number, title: string, text: string) =>
      messagePage({ status, title, text, here, assets, brand, isSafe })
    const asset = isSafe ? assets.find(here) : undefined
    if (asset) return asset
    if (!isSafe && !isOwnForm(request, origin))
      return message(
        403,
        'Not accepted',
        'This change did not come from a page of the panel. Open the panel and try again there.',
      )
    const visitor = checkedVisitor(await settings.authorize(request))
    if (!visitor) return message(403, 'No access', 'You have no access to this panel. Sign in to the product that it belongs to.')
    if (!isSafe && visitor.access === 'read') return message(403, 'Read only', 'You may look at this panel and change nothing.')
    const segments = here.split('/').filter((segment) => segment !== '')
    const [name, ...rest] = segments
    if (name === undefined) return firstPage(visitor, here, assets)
    const network = await networkOf(visitor, name)
    if (!network) return message(404, 'Not found', 'There is no such network, or you have no access to it.')
    if (rest.length === 0) return seeOther(relative(here, `${name}/keys`))
    const { route, params, methods } = matching(routes, isSafe ? 'GET' : method, rest)
    if (!route) {
      if (methods.length === 0) return message(404, 'Not found', 'There is no such page.')
      return message(405, 'Not possible', 'This page does not accept that method.')
    }
    if (route.action !== undefined && !may(visitor, route.action))
      return message(403, 'Not allowed', 'You may not make this change.')
    const by = actorOf(visitor)
    const link: View['link'] = (path, query) => {
      const search = new URLSearchParams(query)
      return relative(here, `${network.id}/${path}${search.size > 0 ? `?${search}` : ''}`)
    }
    try {
      return await route.handle({
        ...{ community, settings, visitor, by, network, params, request, assets, link },
        id: network.id,
        acting: actingAs(community, by),
        query: formOf(new URL(request.url).searchParams),
        form: isSafe ? emptyForm : await readForm(request),
        section: rest[0] ?? '',
        root: (path) => relative(here, path),
      })
    } catch (error) {
      if (!isApiError(error) || error.status >= 500) throw error
      return message(error.status, error.status === 404 ? 'Not found' : 'Not possible', error.message)
    }
  }

  async function firstPage(visitor: Visitor, here: string, assets: Assets): Promise<PanelAnswer> {
    const networks = await networksOf(visitor)
    const [only] = networks
    if (only && networks.length === 1) return seeOther(`./${only.id}/keys`)
    const list = html`<ul>${networks.map(({ id, title }) => html`<li><a href="./${id}/keys">${title}</a></li>`)}</ul>`
    const none = html`<p>There is no network that you have access to.</p>`
    const links = { css: relative(here, assets.css), js: relative(here, assets.js) }
    return page(bare({ title: 'Networks', brand, ...links }, html`<h1>Networks</h1>${networks.length > 0 ? list : none}`))
  }

  async function respond(request: Request, url: URL): Promise<Response> {
    const origin = settings.origin ?? url.origin
    const here = url.pathname.slice(basePath.length + 1)
    let given: PanelAnswer
    try {
      given = await answer(request, here, origin)
    } catch (error) {
      const request_id = systemChance.uuid()
      settings.report(error, { request_id, task: 'panel' })
      given = await fault(request_id, isApiError(error) ? error : undefined)
    }
    const headers = { 'referrer-policy': referrerPolicy(request, origin), ...policyHeaders, ...given.headers }
    return new Response(request.method === 'HEAD' ? null : given.body, { status: given.status, headers })
  }

  return async (request) => {
    const url = new URL(request.url)
    if (basePath !== '' && url.pathname === basePath) {
      const headers = {
        location: `${basePath.slice(basePath.lastIndexOf('/') + 1)}/`,
        'referrer-policy': 'no-referrer',
        ...policyHeaders,
      }
      return new Response(null, { status: 308, headers })
    }
    return url.pathname.startsWith(`${basePath}/`) ? respond(request, url) : undefined
  }
}

interface Message {
  readonly status: number
  readonly title: string
  readonly text: string
  readonly here: string
  readonly assets: Assets
  readonly brand: PanelOptions['brand']
  readonly isSafe: boolean
}

/** A refusal. */
function messagePage({ status, title, text, here, assets, brand = {} }: Message): Promise<PanelAnswer> {
  const links = { css: relative(here, assets.css), js: relative(here, assets.js) }
  return page(bare({ title, brand, ...links }, html`<h1>${title}</h1><p>${text}</p>`), status)
}

/** The answer to a fault: no internals, and nothing that could fail as well. */
async function fault(request_id: string, error: ApiError | undefined): Promise<PanelAnswer> {
  const status = error?.status === 503 ? 503 : 500
  const body = html`<html lang="en"><head><title>Not possible now</title></head><body><main><h1>Not possible now</h1>
<p>Nothing was shown or changed, or it is unknown. Try again in a moment. The log has the cause: request ${request_id}.</p></main></body></html>`
  return page(body, status)
}
