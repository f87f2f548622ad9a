/** The API reference: pages made of the declarations, under the full policy. */
import { found } from '../../errors.ts'
import type { JsonSchema } from '../../fields.ts'
import { fieldColumns, fieldRows, fieldsIn, type RequestField } from '../../openapi/field-rows.ts'
import { pageOf } from '../layout/layout.ts'
import type { Route, View } from '../route.ts'
import { type Html, html } from '../ui/html.ts'
import { badge, breakable, capital, marked, search, table } from '../ui/parts.ts'

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
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
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
              html`<tr data-item="${`${operationId} ${path} ${summary}`.toLowerCase()}"><td>${methodBadge(method)}</td><th scope="row"><a class="mono" href="${view.link(`reference/${operationId}`)}">${breakable(path.replace('/admin/v1/networks/{network_id}', ''))}</a></th><td>${marked(summary)}</td></tr>`,
          ),
        })}</section>`,
    )
  return pageOf(
    view,
    'API reference',
    html`<h1>API reference</h1><p class="soft">Every operation of this network, below <code>/admin/v1/networks/${view.network.subdomain}</code>.
${view.assets.scalar && html`<a href="${view.link('reference/try')}">Try operations in the browser</a>`}</p>
${search('Search operations')}${parts}`,
  )
}

const exampleIn = (content: Content | undefined): Html | undefined => {
  const [media] = Object.values(content ?? {})
  return media && html`<pre tabindex="0">${JSON.stringify(media.example, null, 2)}</pre>`
}

function fieldTable(label: string, fields: readonly RequestField[], { components }: ApiDocument): Html | false {
  const [type, ...others] = fieldColumns.map(capital)
  const rows = fieldRows(fields, components.schemas).map(
    ([name, type, ...more]) =>
      html`<tr><th scope="row" class="keep">${marked(name)}</th><td>${marked(type)}</td>${more.map((cell, place) => html`<td data-label="${others[place]}">${marked(cell)}</td>`)}</tr>`,
  )
  const columns = ['Name', type, ...others]
  return rows.length > 0 && html`<h2>${label}</h2>${table({ label, columns, rows, kind: 'cards wide', stop: true })}`
}

async function show(view: View) {
  const document = documentOf(view)
  const id = view.params['id'] ?? ''
  const operation = found(
    operationsOf(document).find((each) => each.operationId === id),
    'Operation',
  )
  const { method, path, summary, description, parameters, requestBody, responses, security } = operation
  const [body] = Object.values(requestBody?.content ?? {})
  const parametersIn = (place: string) =>
    parameters
      .filter((each) => each.in === place)
      .map(({ schema, ...each }) => ({ ...each, schema: { ...schema, description: each.description } }))
  const results = Object.entries(responses)
  const isDone = ([status]: readonly [string, unknown]) => status.startsWith('2')
  const refusals = results
    .filter((each) => !isDone(each))
    .map(([status, { description }]) => html`<tr><th scope="row">${status}</th><td>${marked(description)}</td></tr>`)
  return pageOf(
    view,
    operation.operationId,
    html`<div class="head"><h1>${operation.operationId}</h1>${methodBadge(method)}</div><p>${marked(summary)}</p><p>${marked(description)}</p>
<pre tabindex="0">${method} ${path.replace('{network_id}', view.network.subdomain)}
Authorization: Bearer ‹an API key with the scope ${security[0]?.apiToken.join(', ')}›</pre>
${operation['x-events'] && html`<p>Events: ${operation['x-events'].map((name) => html`<a href="${view.link(`webhooks/events/${name}`)}">${name}</a> `)}</p>`}
${fieldTable('Query', parametersIn('query'), document)}${fieldTable('Headers', parametersIn('header'), document)}
${body && html`${fieldTable('Body', fieldsIn(body.schema, document.components.schemas), document)}<h3>Example</h3>${exampleIn(requestBody?.content)}`}
<h2>Responses</h2>${results
      .filter(isDone)
      .map(([status, { description, content }]) => html`<h3>${status}</h3><p>${marked(description)}</p>${exampleIn(content)}`)}
<h3>Errors</h3>${table({ label: 'Errors', columns: ['Status', 'Meaning'], rows: refusals, kind: 'cards even' })}`,
  )
}

export const referenceRoutes: readonly Route[] = [
  { method: 'GET', path: 'reference', label: 'API reference', action: 'visit', handle: list },
  { method: 'GET', path: 'reference/:id', action: 'visit', handle: show },
]
