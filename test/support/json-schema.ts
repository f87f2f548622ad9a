/**
 * Checks a value against the JSON Schemas of the documents, more strictly than JSON Schema itself. An object has every
 * documented property and no other. A keyword that is not known here is an error, so that nothing goes unchecked.
 */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** The value at a path of keys in a document; `{}` where there is nothing. */
export function at(value: unknown, ...keys: readonly string[]): JsonSchema {
  let here = value
  for (const key of keys) here = isObject(here) ? here[key] : undefined
  return isObject(here) ? here : {}
}

/** The schema itself, or the one that it refers to. */
export function resolve(document: JsonSchema, schema: JsonSchema): JsonSchema {
  const reference = schema['$ref']
  if (typeof reference !== 'string') return schema
  const keys = reference.replace(/^#\//, '').split('/')
  const found = at(document, ...keys)
  if (Object.keys(found).length === 0) throw new Error(`${reference} leads nowhere`)
  return resolve(document, found)
}

/**
 * Every way in which a value differs from a schema, each with its place.
 * @param place how the value is called in the problems
 */
export function problemsOf(document: JsonSchema, schema: JsonSchema, value: unknown, place = 'answer'): string[] {
  const known = resolve(document, schema)
  const { anyOf } = known
  if (Array.isArray(anyOf)) {
    const tries = anyOf.map((one) => problemsOf(document, one, value, place))
    return tries.find((problems) => problems.length === 0) ? [] : tries.flat()
  }
  const types = [known['type']].flat()
  if (types[0] === undefined) return [`${place}: its schema has no type`]
  if (value === null && types.includes('null')) return []
  if (!types.some((type) => hasType(value, type))) return [`${place}: ${JSON.stringify(value)} is not ${types.join(' or ')}`]
  return Object.entries(known).flatMap(([keyword, rule]) => {
    const check = checks[keyword]
    return check ? check(rule, value, place, document) : [`${place}: keyword ${keyword} is not known to the check`]
  })
}

type Check = (rule: unknown, value: unknown, place: string, document: JsonSchema) => string[]

const nothing: Check = () => []
const expecting = (holds: (rule: unknown, value: unknown) => boolean, says: string): Check => {
  return (rule, value, place) =>
    holds(rule, value) ? [] : [`${place}: ${JSON.stringify(value)} ${says} ${JSON.stringify(rule)}`]
}
// JSON Schema counts the code points of a text.
const length = (value: unknown): number => (typeof value === 'string' || Array.isArray(value) ? [...value].length : 0)

const checks: Readonly<Record<string, Check>> = {
  type: nothing,
  description: nothing,
  example: nothing,
  required: nothing,
  'x-extension': nothing,
  properties(rule, value, place, document) {
    const fields = rule as Readonly<Record<string, JsonSchema>>
    const object = value as JsonSchema
    const unknown = Object.keys(object).filter((name) => !(name in fields))
    return [
      ...unknown.map((name) => `${place}.${name}: is not documented`),
      ...Object.entries(fields).flatMap(([name, field]) =>
        name in object
          ? problemsOf(document, field, object[name], `${place}.${name}`)
          : field['x-extension'] === true
            ? []
            : [`${place}.${name}: is missing`],
      ),
    ]
  },
  items: (rule, value, place, document) =>
    (value as unknown[]).flatMap((item, index) => problemsOf(document, rule as JsonSchema, item, `${place}[${index}]`)),
  enum: expecting((rule, value) => (rule as unknown[]).includes(value), 'is none of'),
  const: expecting((rule, value) => rule === value, 'is not'),
  pattern: expecting((rule, value) => new RegExp(String(rule)).test(String(value)), 'does not match'),
  format: expecting(
    (rule, value) => typeof value !== 'string' || (formats[String(rule)]?.(value) ?? false),
    'has not the format',
  ),
  minLength: expecting((rule, value) => length(value) >= Number(rule), 'is shorter than'),
  maxLength: expecting((rule, value) => length(value) <= Number(rule), 'is longer than'),
  minItems: expecting((rule, value) => length(value) >= Number(rule), 'is shorter than'),
  maxItems: expecting((rule, value) => length(value) <= Number(rule), 'is longer than'),
  minimum: expecting((rule, value) => Number(value) >= Number(rule), 'is below'),
  maximum: expecting((rule, value) => Number(value) <= Number(rule), 'is above'),
}

const formats: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) && !Number.isNaN(Date.parse(text)),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text),
  uri: (text) => URL.parse(text) !== null,
  email: (text) => text === '' || text.includes('@'),
  uuid: (text) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text),
}

const isObject = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null && !Array.isArray(value)

const hasType = (value: unknown, type: unknown): boolean => {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer') return Number.isSafeInteger(value)
  if (type === 'object') return isObject(value)
  return typeof value === type
}
