import * as v from 'valibot'
import { isIdSchema, publishedAs } from '../../lib/fields.ts'

type Shape = v.GenericSchema & {
  readonly entries?: Readonly<Record<string, v.GenericSchema>>
  readonly item?: v.GenericSchema
  readonly wrapped?: v.GenericSchema
}

/**
 * The problems of a record: every field that is missing, that no one documented, or that does not match its schema. Valibot's
 * own objects let undocumented fields pass.
 */
export function strictly(schema: v.GenericSchema, value: unknown, place = 'payload'): string[] {
  const { entries, item, wrapped } = schema as Shape
  if (entries) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [`${place} is no object`]
    const fields = new Map(Object.entries(value))
    const undocumented = [...fields.keys()].filter((name) => !Object.hasOwn(entries, name))
    return [
      ...undocumented.map((name) => `${place}.${name} is not documented`),
      ...Object.entries(entries).flatMap(([name, field]) =>
        fields.has(name) ? strictly(field, fields.get(name), `${place}.${name}`) : [`${place}.${name} is missing`],
      ),
    ]
  }
  if (item)
    return Array.isArray(value)
      ? value.flatMap((one, index) => strictly(item, one, `${place}.${index}`))
      : [`${place} is no list`]
  if (wrapped) return value === null ? [] : strictly(wrapped, value, place)
  const { issues = [] } = v.safeParse(schema, value)
  const problems = issues.map(({ message }) => message)
  // Requests may write an id as a number and a time with an offset; records may not.
  if (isIdSchema(schema) && typeof value !== 'string') problems.push('is no text')
  if (publishedAs(schema)?.['format'] === 'date-time' && !timestamp.test(String(value))) problems.push('is no timestamp')
  return problems.map((message) => `${place}: ${message}`)
}

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
