/** The JSON Schema of a tool's arguments: the ids of the path, the query and the body of its operation. */
import type * as v from 'valibot'
import { idsIn } from '../../lib/client/names.ts'
import { defaultTextLimits, isPaged, type JsonSchema } from '../../lib/fields.ts'
import { mostCounted } from '../../lib/kernel/page.ts'
import { idInPath } from '../../lib/openapi/parts.ts'
import { isOptional, schemaWriter } from '../../lib/openapi/schema.ts'
import type { AnyOperation } from '../../lib/operation.ts'

/** Whether an operation returns pages on request. */
export const isList = ({ method, returns }: AnyOperation): boolean =>
  method === 'GET' && returns !== undefined && isPaged(returns)

/** The largest page, and the one without `limit`. */
export const [largestPage, defaultPage] = [100, 25]

export const longestCursor = 8000

const page = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: largestPage,
    description: `The most records of the response, ${defaultPage} by default.`,
  },
  cursor: {
    type: 'string',
    maxLength: longestCursor,
    description:
      '`next_cursor` of the response before, for the records behind it. Every other argument but `limit` is taken from it.',
  },
  count: {
    type: 'boolean',
    description: `Whether the first page also has \`total_count\`, the number of all records: exact up to ${mostCounted}.`,
  },
}

const preview = {
  preview: { type: 'boolean', description: 'Only show what this would change, with a token: nothing is changed.' },
  if_preview: { type: 'string', description: 'The token of a preview: refused if it would no longer change the same.' },
}

/** Whether an operation can be previewed: it writes, and stores no file. */
export const hasPreview = ({ method, prepare }: AnyOperation): boolean => method !== 'GET' && prepare === undefined

/** Nested further, a schema is left open: no request is so deep. */
const deepest = 12

/**
 * A schema with one type: some clients refuse every tool if one property has a list of types. The API takes the other ones, too: an
 * id as a text, and null where the field can be cleared, which the description says.
 */
function ofOneType({ type, ...rest }: JsonSchema, nullMeans: string): JsonSchema {
  if (!Array.isArray(type)) return type === undefined ? rest : { type, ...rest }
  const types = type.filter((each) => each !== 'null')
  const { enum: values, description = '', ...others } = rest
  const isClear = types.length === type.length || /\bnull\b/i.test(String(description))
  return {
    type: types.includes('string') ? 'string' : types[0],
    ...others,
    ...(Array.isArray(values) ? { enum: values.filter((value) => value !== null) } : {}),
    description: isClear ? description : `${description} ${nullMeans}`.trim(),
  }
}

/** Puts components in place of their references, because many clients follow none. Files, which no agent can send, are left out. */
function whole(schema: unknown, components: Readonly<Record<string, JsonSchema>>, nullMeans: string, depth = 0): unknown {
  if (Array.isArray(schema)) return schema.map((each) => whole(each, components, nullMeans, depth))
  if (typeof schema !== 'object' || schema === null) return schema
  if (depth > deepest) return {}
  const { $ref, ...rest } = schema as JsonSchema
  if (typeof $ref === 'string')
    return whole({ ...rest, ...components[$ref.split('/').at(-1) ?? ''] }, components, nullMeans, depth + 1)
  return Object.fromEntries(
    Object.entries(ofOneType(rest, nullMeans))
      .filter(([, value]) => !isFile(value))
      .map(([name, value]) => [name, whole(value, components, nullMeans, depth + 1)]),
  )
}

const isFile = (schema: unknown): boolean =>
  typeof schema === 'object' && schema !== null && 'format' in schema && schema.format === 'binary'

export function argumentsOf(operation: AnyOperation): { readonly type: 'object'; readonly [keyword: string]: unknown } {
  const writer = schemaWriter({ ids: 'string', limits: defaultTextLimits })
  const ids = idsIn(operation.path)
  const query: readonly (readonly [string, v.GenericSchema])[] = Object.entries(operation.query ?? {})
  const properties = {
    ...Object.fromEntries(ids.map((name) => [name, { type: 'string', description: idInPath(operation.path, name) }])),
    ...Object.fromEntries(query.map(([name, field]) => [name, writer.ofParameter(field)])),
    ...(isList(operation) ? page : {}),
    ...(operation.body ? { body: { description: 'The fields of the record.', ...writer.of(operation.body) } } : {}),
    ...(hasPreview(operation) ? preview : {}),
  }
  const required = [
    ...ids,
    ...query.filter(([, field]) => !isOptional(field)).map(([name]) => name),
    ...(operation.body ? ['body'] : []),
  ]
  const nullMeans = operation.method === 'PATCH' ? 'Null clears it.' : 'It may be null.'
  const inlined = whole(properties, writer.components, nullMeans) as JsonSchema
  return { type: 'object', properties: inlined, required, additionalProperties: false }
}
