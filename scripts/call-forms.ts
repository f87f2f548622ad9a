/** One example request as `curl`, as a call of the client and as a direct call: the tabs of the operations' pages. */
import type * as v from 'valibot'
import { idsIn, methodName } from '../lib/client/names.ts'
import { defaultTextLimits } from '../lib/fields.ts'
import { schemaWriter } from '../lib/openapi/schema.ts'
import type { Example } from '../test/support/examples.ts'

/** Where the examples send their requests. */
export const server = 'https://api.example.org'

/** A line of code that is longer than this is broken where it can be. */
const mostColumns = 72

const writer = schemaWriter({ ids: 'string', limits: defaultTextLimits })

/** The path of an example's request, with its query. */
export function targetOf({ route: { operation }, params, query }: Example): string {
  const path = `/admin/v1/networks/1${operation.path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '')}`
  const search = new URLSearchParams(query)
  return search.size > 0 ? `${path}?${search}` : path
}

/** The three forms of an example, each a block with its title in brackets. The site shows them as tabs. */
export const formsOf = (example: Example): string =>
  [
    block('sh [curl]', curlOf(example)),
    block('ts [client]', clientCallOf(example)),
    block('ts [direct call]', directCallOf(example)),
  ].join('\n\n')

const block = (kind: string, code: string): string => `\`\`\`${kind}\n${code}\n\`\`\``

const fileOf = ({ body = {} }: Example): File | undefined => Object.values(body).find((value) => value instanceof File)

const inShell = (text: string): string => (/^[\w:/.@=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

function curlOf(example: Example): string {
  const { route, body } = example
  const isImplied = route.method === (body ? 'POST' : 'GET')
  return [
    `curl ${isImplied ? '' : `-X ${route.method} `}${inShell(`${server}${targetOf(example)}`)}`,
    '-H "Authorization: Bearer $TOKEN"',
    ...(fileOf(example) ? Object.entries(body ?? {}).map(([name, value]) => `-F ${inShell(`${name}=${inForm(value)}`)}`) : []),
    ...(body && !fileOf(example) ? ["-H 'Content-Type: application/json'", `-d ${inShell(jsonOf(body))}`] : []),
  ].join(' \\\n  ')
}

/** The body as JSON, on one line if it is short. */
function jsonOf(body: object): string {
  const line = JSON.stringify(body)
  return line.length <= mostColumns - 8 ? line : JSON.stringify(body, null, 2)
}

const inForm = (value: unknown): string =>
  value instanceof File ? `@${value.name}` : typeof value === 'string' ? value : JSON.stringify(value)

function clientCallOf(example: Example): string {
  const { route, params, body } = example
  const { path } = route.operation
  const query = typedQuery(example)
  const given = [...idsIn(path).map((name) => params[name]), ...(body ? [body] : []), ...(query ? [query] : [])]
  return `${preparedFile(example)}${callOf(`client.${methodName(route.id, path).join('.')}`, given)}`
}

function directCallOf(example: Example): string {
  const { route, params, body } = example
  const query = typedQuery(example)
  const parts = {
    network: '1',
    ...(Object.keys(params).length > 0 ? { params } : {}),
    ...(query ? { query } : {}),
    ...(body ? { body } : {}),
  }
  // The types of a direct call know an operation by its own id alone, and not by that of its other method.
  return `${preparedFile(example)}${callOf('community.call', [route.operation.id, parts])}`
}

/** The lines that read the file of an upload. */
function preparedFile(example: Example): string {
  const file = fileOf(example)
  if (!file) return ''
  const name = literal(file.name)
  return `import { readFile } from 'node:fs/promises'\n\nconst file = new File([await readFile(${name})], ${name})\n`
}

/** The query with the types that TypeScript expects of it. */
function typedQuery({ route, query }: Example): Readonly<Record<string, unknown>> | undefined {
  const fields: Readonly<Record<string, v.GenericSchema>> = route.operation.query ?? {}
  const typed = Object.entries(query).map(([name, text]) => {
    const field = fields[name]
    const type = field ? writer.of(field)['type'] : name === 'per_page' ? 'integer' : 'string'
    return [name, type === 'boolean' ? text === 'true' : type === 'integer' ? Number(text) : text]
  })
  return typed.length > 0 ? Object.fromEntries(typed) : undefined
}

/** An awaited call. If it is too long for a line, its last argument is broken. */
function callOf(name: string, given: readonly unknown[]): string {
  const line = `await ${name}(${given.map((value) => literal(value)).join(', ')})`
  if (line.length <= mostColumns) return line
  const first = given.slice(0, -1).map((value) => `${literal(value)}, `)
  return `await ${name}(${first.join('')}${broken(given.at(-1), '')})`
}

/** A value as TypeScript, on one line. */
function literal(value: unknown): string {
  if (value instanceof File) return 'file'
  if (typeof value === 'string') return text(value)
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const fields = Object.entries(value).map(([name, field]) => property(name, literal(field)))
  return fields.length > 0 ? `{ ${fields.join(', ')} }` : '{}'
}

/** A value as TypeScript, with what is too long for a line on several. */
function broken(value: unknown, indent: string): string {
  const isObject = typeof value === 'object' && value !== null && !(value instanceof File)
  if (!isObject || Object.keys(value).length === 0) return literal(value)
  const inner = `${indent}  `
  const lines = Object.entries(value).map(([name, field]) => {
    const shown = (form: string): string => `${inner}${Array.isArray(value) ? form : property(name, form)},`
    const line = shown(literal(field))
    return line.length <= mostColumns ? line : shown(broken(field, inner))
  })
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${lines.join('\n')}\n${indent}${close}`
}

const property = (name: string, value: string): string => `${/^[A-Za-z_]\w*$/.test(name) ? name : text(name)}: ${value}`

/** A text between single quotes, or double ones if it has single ones in it. */
function text(value: string): string {
  const json = JSON.stringify(value)
  if (value.includes("'") && !value.includes('"')) return json
  return `'${json.slice(1, -1).replace(/\\(.)|'/g, (found, sign) => (found === "'" ? "\\'" : sign === '"' ? '"' : found))}'`
}
