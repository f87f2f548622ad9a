import type * as v from 'valibot'
import {
  defaultOf,
  descriptionOf,
  isDemanded,
  isIdInput,
  isIdSchema,
  type JsonSchema,
  maxItemsOf,
  nameOf,
  publishedAs,
  type TextLimits,
} from '../fields.ts'

/** The options of a community that shape the documents. */
export interface SchemaSettings {
  readonly ids: 'string' | 'number'
  readonly limits: TextLimits
}

/** Turns schemas into JSON Schema 2020-12; records and requests become components. */
export interface SchemaWriter {
  /** The JSON Schema of a schema: a reference for a record or a request. */
  of(schema: v.GenericSchema): JsonSchema
  /** The same for a parameter of a path or a query: an id there has the type that records give it. */
  ofParameter(schema: v.GenericSchema): JsonSchema
  /** Every component that was referred to, by its name. */
  readonly components: Record<string, JsonSchema>
}

type Shape = v.GenericSchema & {
  readonly entries?: v.ObjectEntries
  readonly item?: v.GenericSchema
  readonly wrapped?: v.GenericSchema
}

export function schemaWriter(settings: SchemaSettings): SchemaWriter {
  const components: Record<string, JsonSchema> = {}

  function of(schema: v.GenericSchema): JsonSchema {
    const standard = defaultOf(schema)
    const json = undescribed(schema)
    return withDescription(standard === undefined ? json : { ...json, default: standard }, descriptionOf(schema))
  }

  function undescribed(schema: v.GenericSchema): JsonSchema {
    const name = nameOf(schema)
    if (!name) return plain(schema as Shape)
    if (!components[name]) {
      components[name] = {}
      components[name] = plain(schema as Shape)
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  function plain(schema: Shape): JsonSchema {
    if (isIdSchema(schema) && settings.ids === 'number') return { type: 'integer', minimum: 0, example: 254803968000 }
    const published = publishedAs(schema)
    if (published) return withLimits(published)
    if (schema.entries) return object(schema.entries)
    if (schema.item) {
      const maxItems = maxItemsOf(schema)
      return withLimits({ type: 'array', items: of(schema.item), ...(maxItems === undefined ? {} : { maxItems }) })
    }
    if (schema.wrapped) return leavesOutNull(schema) ? of(schema.wrapped) : orNull(of(schema.wrapped))
    throw new Error(`a schema of type ${schema.type} has no JSON Schema: publish() it`)
  }

  // A length limit is a name until the community's options define it.
  const withLimits = (json: JsonSchema): JsonSchema =>
    Object.fromEntries(
      Object.entries(json).map(([keyword, value]) => {
        return [keyword, isLimit(value) ? settings.limits[value.limit] : withNestedLimits(value)]
      }),
    )

  const withNestedLimits = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value) ? withLimits(value as JsonSchema) : value

  function object(entries: v.ObjectEntries): JsonSchema {
    const fields = Object.entries(entries) as [string, Shape][]
    const required = fields.filter(([, field]) => !isOptional(field)).map(([name]) => name)
    return {
      type: 'object',
      properties: Object.fromEntries(fields.map(([name, field]) => [name, of(field)])),
      ...(required.length > 0 ? { required } : {}),
    }
  }

  function ofParameter(schema: v.GenericSchema): JsonSchema {
    const { wrapped, pipe } = schema as Shape & { readonly pipe?: readonly Shape[] }
    const inner = wrapped ?? pipe?.[0]?.wrapped ?? schema
    return isIdInput(inner) ? withDescription(idParameter(settings.ids), descriptionOf(schema)) : of(schema)
  }

  return { of, ofParameter, components }
}

/** An id in a path or a query. A number and its text are the same in a URL, for every published type. */
export const idParameter = (ids: SchemaSettings['ids']): JsonSchema =>
  ids === 'number' ? { type: 'integer', format: 'uint64', minimum: 0 } : { type: 'string', pattern: '^[0-9]{1,20}$' }

const isLimit = (value: unknown): value is { readonly limit: keyof TextLimits } =>
  typeof value === 'object' && value !== null && 'limit' in value

const isOptionalType = ({ type }: v.GenericSchema): boolean => ['optional', 'nullish', 'exact_optional'].includes(type)

/** Whether a request may leave the field out. */
export const isOptional = (schema: v.GenericSchema): boolean => isOptionalType(schema) && !isDemanded(schema)

// An optional field also takes null, which is not published. A field that null clears is published as nullable.
const leavesOutNull = (schema: Shape): boolean => isOptionalType(schema) && (schema.type !== 'nullish' || 'pipe' in schema)

const withDescription = (json: JsonSchema, description: unknown): JsonSchema =>
  description === undefined ? json : { ...json, description }

function orNull(json: JsonSchema): JsonSchema {
  const types = [json['type']].flat()
  if (types[0] === undefined) {
    const { description, ...rest } = json
    return withDescription({ anyOf: [rest, { type: 'null' }] }, description)
  }
  const values = json['enum']
  return { ...json, type: [...types, 'null'], ...(Array.isArray(values) ? { enum: [...values, null] } : {}) }
}
