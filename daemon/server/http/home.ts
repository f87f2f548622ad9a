/** The root of the server: where its panel, its API and the documentation are. It says nothing about what is stored. */
import type { IncomingMessage, RequestListener } from 'node:http'
import { toIncoming } from '../../../adapters/http/node-request.ts'
import { isSecure } from '../../../lib/http/steps/https.ts'
import { panelPath } from '../panel/path.ts'

const docs = 'https://github.com/folkmoot/folkmoot#readme'

/** Paths below the root, so that they hold behind a proxy with a prefix. */
const places = {
  panel: `${panelPath.slice(1)}/`,
  api: 'admin/v1/networks/{network_id}/',
  openapi: 'admin/v1/spec.json',
  webhooks_openapi: 'webhooks/v1/spec.json',
}

const json = `${JSON.stringify({ name: 'folkmoot', ...Object.fromEntries(Object.entries(places).map(([name, path]) => [name, `/${path}`])), docs })}\n`

const link = (href: string, text: string): string => `<a href="${href}">${text}</a>`
const html = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>folkmoot</title></head>
<body>
<h1>folkmoot</h1>
<p>This is a server of the Admin API of a community network.</p>
<ul>
<li>${link(places.panel, 'The admin panel')}</li>
<li>The API is at <code>/${places.api}</code>. Its OpenAPI documents: ${link(places.openapi, 'operations')}, ${link(places.webhooks_openapi, 'webhooks')}</li>
<li>${link(docs, 'Documentation')}</li>
</ul>
</body>
</html>
`

const headers = {
  'cache-control': 'no-cache',
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  vary: 'Accept',
}

const isBrowser = ({ headers: { accept = '' } }: IncomingMessage): boolean => /\btext\/html\b/i.test(accept)

/** How a request proves that it came by HTTPS. */
interface Https {
  readonly allowHttp: boolean
  readonly trustProxy: boolean
}

/** Responds to the root, and leaves every other request to the next listener; plain HTTP too, where that is refused. */
export const withHome =
  (https: Https, next: RequestListener): RequestListener =>
  (request, response) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const isRoot = request.url === '/' || request.url?.startsWith('/?') === true
    if (!isRoot || !isRead || !(https.allowHttp || isSecure(toIncoming(request), https))) return next(request, response)
    const [type, text] = isBrowser(request) ? ['text/html', html] : ['application/json', json]
    const about = { ...headers, 'content-type': `${type}; charset=utf-8`, 'content-length': Buffer.byteLength(text) }
    response.writeHead(200, about).end(request.method === 'HEAD' ? undefined : text)
  }
