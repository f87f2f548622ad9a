/** The API reference: pages made of the declarations, under the full policy. */
import { found } from '../../errors.ts'
import type { JsonSchema } from '../../fields.ts'
import { layout } from '../layout/layout.ts'
import { page } from '../request/respond.ts'
import type { Route, View } from '../route.ts'
import { type Html, html } from '../ui/html.ts'
import { badge, capital, search, table } from '../ui/parts.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly description?: string
  readonly schema: JsonSchema
}
type Content = Readonly<Record<string, { readonly schema: JsonSchema; readonly example: unknown } | undefined>>
interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: readonly string[]
  readonly security: readonly { readonly apiToken: readonly string[] }[]
  readonly 'x-events'?: readonly string[]
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>
}
interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation | readonly Parameter[]>>>>
}
interface DocumentedOperation extends Operation {
  readonly method: string
  readonly path: string
}

const isOperation = (value: Operation | readonly Parameter[]): value is Operation => 'operationId' in value

/** The document is made by the library itself. */
const documentOf = ({ community }: View): ApiDocument => community.openapi() as unknown as ApiDocument

const operationsOf = ({ paths }: ApiDocument): readonly DocumentedOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, value]) =>
      isOperation(value) ? [{ ...value, method: method.toUpperCase(), path }] : [],
    ),
  )

const methodBadge = (method: string): Html => badge(method === 'GET' ? 'good' : method === 'DELETE' ? 'bad' : 'warn', method)

async function list(view: View) {
  const groups = Map.groupBy(operationsOf(documentOf(view)), ({ tags }) => tags[0] ?? '')
  const parts = [...groups]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([name, operations]) =>
        html`<section data-group><h2>${capital(name.replaceAll('_', ' '))}</h2>${table({
          ...{ label: name, columns: ['Method', 'Path', 'Summary'], kind: 'cards even' },
          rows: operations.map(
            ({ method, path, summary, operationId }) =>
              html`<tr data-item="${`${operationId} ${path} ${summary}`.toLowerCase()}"><td>${methodBadge(method)}</td><th scope="row"><a class="mono" href="${view.link(`reference/${operationId}`)}">${path.replace('/admin/v1/networks/{network_id}', '')}</a></th><td>${summary}</td></tr>`,
          ),
        })}</section>`,
    )
  return page(
    layout(
      view,
      'API reference',
      html`<h1>API reference</h1><p class="soft">Every operation of this network, below <code>/admin/v1/networks/${view.network.subdomain}</code>.
${view.assets.scalar && html`<a href="${view.link('reference/try')}">Try operations in the browser</a>`}</p>
${search('Search operations')}${parts}`,
    ),
  )
}

const exampleIn = (content: Content | undefined): Html | undefined => {
  const [media] = Object.values(content ?? {})
  return media && html`<pre tabindex="0">${JSON.stringify(media.example, null, 2)}</pre>`
}

async function show(view: View) {
  const document = documentOf(view)
  const id = view.params['id'] ?? ''
  const operation = found(
    operationsOf(document).find((each) => each.operationId === id),
    'Operation',
  )
  const { method, path, summary, description, parameters, requestBody, responses, security } = operation
  const body = exampleIn(requestBody?.content)
  const rows = parameters.map(
    (each) =>
      html`<tr><th scope="row"><code>${each.name}</code></th><td data-label="In">${each.in}</td><td>${each.required ? 'required' : 'optional'}</td><td>${each.description ?? String(each.schema['type'] ?? '')}</td></tr>`,
  )
  return page(
    layout(
      view,
      operation.operationId,
      html`<div class="head"><h1>${operation.operationId}</h1>${methodBadge(method)}</div><p>${summary}</p><p>${description}</p>
<pre tabindex="0">${method} ${path.replace('{network_id}', view.network.subdomain)}
Authorization: Bearer ‹an API key with the scope ${security[0]?.apiToken.join(', ')}›</pre>
${operation['x-events'] && html`<p>Events: ${operation['x-events'].map((name) => html`<a href="${view.link(`webhooks/events/${name}`)}">${name}</a> `)}</p>`}
${rows.length > 0 && html`<h2>Parameters</h2>${table({ label: 'Parameters', columns: ['Name', 'In', 'Needed', 'Description'], rows, stop: true })}`}
${body && html`<h2>Body</h2>${body}`}
<h2>Responses</h2>${Object.entries(responses).map(
        ([status, { description: reason, content }]) =>
          html`<h3>${status}</h3><p>${reason}</p>${status.startsWith('2') && exampleIn(content)}`,
      )}`,
    ),
  )
}

export const referenceRoutes: readonly Route[] = [
  { method: 'GET', path: 'reference', label: 'API reference', action: 'visit', handle: list },
  { method: 'GET', path: 'reference/:id', action: 'visit', handle: show },
]
