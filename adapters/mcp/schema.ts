/** The JSON Schema of a tool's arguments: the ids of the path, the query and the body of its operation. */
import type * as v from 'valibot'
import { defaultTextLimits, isPaged, type JsonSchema } from '../../lib/fields.ts'
import { idInPath } from '../../lib/openapi/parts.ts'
import { isOptional, schemaWriter } from '../../lib/openapi/schema.ts'
import type { AnyOperation } from '../../lib/operation.ts'

/** The names of the ids in a path, in order. */
export const idsIn = (path: string): readonly string[] => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)

/** Whether an operation answers with pages that are asked for. */
export const isList = ({ method, returns }: AnyOperation): boolean =>
  method === 'GET' && returns !== undefined && isPaged(returns)

/** The largest page, and the one without `limit`. */
export const [largestPage, defaultPage] = [100, 25]

/** The longest `cursor`, in characters. */
export const longestCursor = 2000

const page = {
  limit: { type: 'integer', minimum: 1, maximum: largestPage, description: `Records of the answer, ${defaultPage} by default.` },
  cursor: {
    type: 'string',
    maxLength: longestCursor,
    description: '`next_cursor` of the answer before, for the records behind it. Every other argument is taken from it.',
  },
}

/** Nested further, a schema is left open: no request is so deep. */
const deepest = 12

/** Puts components in place of their references, because many clients follow none. Files, which no agent can send, are left out. */
function whole(schema: unknown, components: Readonly<Record<string, JsonSchema>>, depth = 0): unknown {
  if (Array.isArray(schema)) return schema.map((each) => whole(each, components, depth))
  if (typeof schema !== 'object' || schema === null) return schema
  if (depth > deepest) return {}
  const { $ref, ...rest } = schema as JsonSchema
  if (typeof $ref === 'string') return whole(components[$ref.split('/').at(-1) ?? ''] ?? {}, components, depth + 1)
  return Object.fromEntries(
    Object.entries(rest)
      .filter(([, value]) => !isFile(value))
      .map(([name, value]) => [name, whole(value, components, depth + 1)]),
  )
}

const isFile = (schema: unknown): boolean =>
  typeof schema === 'object' && schema !== null && 'format' in schema && schema.format === 'binary'

/** The schema of the arguments of an operation. */
export function argumentsOf(operation: AnyOperation): { readonly type: 'object'; readonly [keyword: string]: unknown } {
  const writer = schemaWriter({ ids: 'string', limits: defaultTextLimits })
  const ids = idsIn(operation.path)
  const query: readonly (readonly [string, v.GenericSchema])[] = Object.entries(operation.query ?? {})
  const properties = {
    ...Object.fromEntries(ids.map((name) => [name, { type: 'string', description: idInPath(operation.path, name) }])),
    ...Object.fromEntries(query.map(([name, field]) => [name, writer.ofParameter(field)])),
    ...(isList(operation) ? page : {}),
    ...(operation.body ? { body: writer.of(operation.body) } : {}),
  }
  const required = [
    ...ids,
    ...query.filter(([, field]) => !isOptional(field)).map(([name]) => name),
    ...(operation.body ? ['body'] : []),
  ]
  const inlined = whole(properties, writer.components) as JsonSchema
  return { type: 'object', properties: inlined, required, additionalProperties: false }
}
