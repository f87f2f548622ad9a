import type * as v from 'valibot'
import { isFileUrl, isIdSchema } from '../../fields.ts'

/**
 * Makes the JSON value of a record: its documented fields and no others, each present.
 * @param base what the paths of stored files are put behind: the origin that links have
 */
export type Projection = (value: unknown, base: string) => unknown

const cache = { string: new WeakMap<object, Projection>(), number: new WeakMap<object, Projection>() }

/**
 * A row as a record: exactly the documented fields, in their order, missing ones null. Undocumented columns stay inside. With
 * `ids: 'number'` every id becomes a number.
 *
 * @param schema the schema of a record, made of the fields of `fields.ts`
 * @param ids the JSON type of ids
 */
export function projection(schema: v.GenericSchema, ids: 'string' | 'number'): Projection {
  const cached = cache[ids].get(schema)
  if (cached) return cached
  const made = project(schema, ids)
  cache[ids].set(schema, made)
  return made
}

const asIs: Projection = (value) => value ?? null
const asNumber: Projection = (value) => (typeof value === 'string' ? Number(value) : (value ?? null))

const onBase: Projection = (value, base) => (typeof value === 'string' && value.startsWith('/') ? base + value : (value ?? null))

function project(schema: v.GenericSchema, ids: 'string' | 'number'): Projection {
  const shape = schema as v.GenericSchema & { entries?: v.ObjectEntries; item?: v.GenericSchema; wrapped?: v.GenericSchema }
  if (isIdSchema(schema)) return ids === 'number' ? asNumber : asIs
  if (isFileUrl(schema)) return onBase
  if (shape.entries) return projectFields(shape.entries, ids)
  if (shape.item) {
    const item = projection(shape.item, ids)
    return (value, base) => (Array.isArray(value) ? (item === asIs ? value.slice() : value.map((one) => item(one, base))) : [])
  }
  if (shape.wrapped) {
    const wrapped = projection(shape.wrapped, ids)
    return wrapped === asIs ? asIs : (value, base) => (value === null || value === undefined ? null : wrapped(value, base))
  }
  return asIs
}

function projectFields(entries: v.ObjectEntries, ids: 'string' | 'number'): Projection {
  const fields = Object.entries(entries).map(([name, schema]) => [name, projection(schema as v.GenericSchema, ids)] as const)
  return (value, base) => {
    const row = value as Readonly<Record<string, unknown>>
    const out: Record<string, unknown> = {}
    for (const [name, of] of fields) out[name] = of(row[name], base)
    return out
  }
}
