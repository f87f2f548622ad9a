/**
 * The API reference with which one can try operations: Scalar, where the host has its file. Its page has a policy that allows styles in
 * the page, as Scalar makes them, and still no request to another origin.
 */
import { ApiError } from '../../errors.ts'
import { pageOf } from '../layout/layout.ts'
import type { PanelResponse } from '../request/respond.ts'
import type { Route, View } from '../route.ts'
import { html, raw } from '../ui/html.ts'

const policy = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self' 'unsafe-inline'`,
  `img-src 'self' data: blob:`,
  `font-src 'self' data:`,
  `connect-src 'self'`,
  `worker-src 'self' blob:`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
  `base-uri 'none'`,
].join('; ')

/**
 * Everything that would call another origin is off: fonts, telemetry, the proxy, the agent, and links into Scalar's own client.
 */
// Its colours have too little contrast, and so have ours in their place.
const customCss = `.light-mode{--scalar-color-1:#1d2024;--scalar-color-2:#4b5158;--scalar-color-3:#565c64;
--scalar-color-blue:#1f5f8b;--scalar-color-green:#1b6b3a;--scalar-color-orange:#8a4b00;--scalar-color-red:#a3261e;
--scalar-color-yellow:#7a5200;--scalar-color-purple:#6b3fa0}
.dark-mode{--scalar-color-1:#e8e9eb;--scalar-color-2:#bcc2ca;--scalar-color-3:#a3a9b2}`

const configuration = {
  ...{ url: './openapi.json', withDefaultFonts: false, telemetry: false, proxyUrl: '', persistAuth: false },
  ...{ hideClientButton: true, showDeveloperTools: 'never', agent: { disabled: true }, mcp: { disabled: true } },
  customCss,
  authentication: { preferredSecurityScheme: 'apiToken' },
}

const scriptEnd = raw('</script>')

async function show(view: View): Promise<PanelResponse> {
  const { scalar } = view.assets
  if (scalar === undefined) throw new ApiError(404, { error: 'There is no such page.' })
  const response = await pageOf(
    view,
    'Try the API',
    html`<nav aria-label="Other pages"><a href="${view.link('reference')}">API reference without “try it”</a></nav>
<div id="api-reference" data-configuration="${JSON.stringify(configuration)}"></div>
<script src="${view.root(await scalar.path())}">${scriptEnd}`,
    200,
    'div',
  )
  return { ...response, headers: { ...response.headers, 'content-security-policy': policy } }
}

interface ApiDocument {
  readonly paths: Readonly<Record<string, { readonly parameters?: readonly { readonly name: string }[] }>>
}

/** The document of the API for this network: its paths name it, so that no one has to type it. */
async function document({ community, network, assets }: View): Promise<PanelResponse> {
  if (assets.scalar === undefined) throw new ApiError(404, { error: 'There is no such page.' })
  // The document is made by the library itself.
  const given = community.openapi() as unknown as ApiDocument
  const paths = Object.entries(given.paths).map(([path, { parameters = [], ...methods }]) => {
    const rest = parameters.filter(({ name }) => name !== 'network_id')
    return [path.replace('{network_id}', network.subdomain), { ...methods, parameters: rest }]
  })
  const servers = [{ url: community.basePath === '' ? '/' : community.basePath }]
  const body = JSON.stringify({ ...given, servers, paths: Object.fromEntries(paths) })
  return { status: 200, body, headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' } }
}

export const tryRoutes: readonly Route[] = [
  { method: 'GET', path: 'reference/try', action: 'visit', handle: show },
  { method: 'GET', path: 'reference/openapi.json', action: 'visit', handle: document },
]
