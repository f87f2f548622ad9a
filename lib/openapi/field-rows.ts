/** The fields of a request in words, for the tables of the documentation and of the panel. Code is between backticks. */
import type { JsonSchema } from '../fields.ts'

export interface RequestField {
  readonly name: string
  readonly schema: JsonSchema
  readonly required: boolean
}

/** A row: the name, the type, whether it is required, the limits, and the meaning. */
export type FieldRow = readonly [name: string, type: string, required: string, limits: string, meaning: string]

export const fieldColumns = ['type', 'required', 'limit', 'meaning'] as const

type Components = Readonly<Record<string, JsonSchema>>

/** The rows of fields, each followed by those of the objects in its list. */
export const fieldRows = (fields: readonly RequestField[], components: Components): FieldRow[] =>
  fields.flatMap((field) => [
    rowOf(field),
    ...fieldsOf(resolved((field.schema['items'] ?? {}) as JsonSchema, components)).map((inner) =>
      rowOf({ ...inner, name: `${field.name}[].${inner.name}` }),
    ),
  ])

export const fieldsIn = (body: JsonSchema, components: Components): RequestField[] => fieldsOf(resolved(body, components))

const fieldsOf = ({ properties = {}, required = [] }: JsonSchema): RequestField[] =>
  Object.entries(properties as Components).map(([name, schema]) => ({
    ...{ name, schema, required: (required as readonly string[]).includes(name) },
  }))

const resolved = (schema: JsonSchema, components: Components): JsonSchema =>
  typeof schema['$ref'] === 'string' ? (components[schema['$ref'].split('/').at(-1) ?? ''] ?? {}) : schema

const rowOf = ({ name, schema, required }: RequestField): FieldRow => [
  ...([`\`${name}\``, typeIn(name, schema), required ? 'yes' : 'no', limitsOf(schema).join(', ')] as const),
  String(schema['description'] ?? ''),
]

function typeIn(name: string, json: JsonSchema): string {
  const types = [json['type']].flat()
  const orNull = types.includes('null') ? ' or null' : ''
  if (Array.isArray(json['enum'])) {
    const values = json['enum'].filter((value) => value !== null)
    const shown = values.length > 20 ? `one of ${values.length} texts` : values.map((value) => `\`${value}\``).join(', ')
    return `${shown}${orNull}`
  }
  if (types[0] === 'array') return `list of ${itemsIn(json['items'] as JsonSchema)}${orNull}`
  if (name.endsWith('_id')) return `id${orNull}`
  if (types.includes('integer') && types.includes('string')) return `text or number${orNull}`
  // A time that may have no offset is not of the format `date-time`.
  const isTime = String(json['pattern']).startsWith('^\\d{4}-\\d{2}-\\d{2}[Tt ]')
  const format = isTime ? 'date-time' : String(json['format'])
  const words = { string: formats[format] ?? 'text', integer: 'whole number', boolean: 'true or false' }
  return `${Object.entries(words).find(([type]) => type === types[0])?.[1] ?? types[0]}${orNull}`
}

const itemsIn = (items: JsonSchema): string => {
  if ('$ref' in items) return 'objects'
  return [items['type']].flat().includes('integer') ? 'ids' : 'texts'
}

const formats: Readonly<Record<string, string>> = {
  'date-time': 'date and time',
  date: 'date',
  email: 'e-mail address',
  binary: 'file',
}

const counted = (count: unknown): string => Number(count).toLocaleString('en-US')

function limitsOf({ maxLength, maxItems, minimum, maximum, default: standard }: JsonSchema): string[] {
  const greatest = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum
  return [
    ...(maxLength === undefined ? [] : [`${counted(maxLength)} characters`]),
    ...(maxItems === undefined ? [] : [`${counted(maxItems)} items`]),
    ...(minimum === undefined ? [] : [greatest === undefined ? `from ${minimum}` : `${minimum} to ${counted(greatest)}`]),
    ...(standard === undefined ? [] : [`\`${standard}\` by default`]),
  ]
}
