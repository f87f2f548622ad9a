/** Columns that follow from schemas: for rows whose fields are declared elsewhere. */
import type * as v from 'valibot'
import type { Column, ColumnType } from './table.ts'

type Stored<Value> = undefined extends Value ? Exclude<Value, undefined> | null : Value
type ColumnsOf<F extends v.ObjectEntries, Default> = {
  readonly [K in keyof F]: Column<
    Stored<v.InferOutput<F[K]>>,
    null extends Stored<v.InferOutput<F[K]>> ? true : K extends Default ? true : false
  >
}

const types: Readonly<Record<string, ColumnType>> = {
  string: 'text',
  picklist: 'text',
  number: 'real',
  integer: 'integer',
  boolean: 'boolean',
  array: 'json',
  object: 'json',
  custom: 'json',
}

/**
 * One column for each field. A field that may be null or left out is nullable.
 * @param defaults what an insert stores for a field that is left out
 * @throws TypeError for a schema of which no column follows
 */
export function columnsOf<const F extends v.ObjectEntries, const D extends { readonly [K in keyof F]?: v.InferOutput<F[K]> }>(
  fields: F,
  defaults: D,
): ColumnsOf<F, keyof D> {
  const columns = Object.entries(fields).map(([name, schema]): [string, Column] => {
    const { type, nullable } = within(schema)
    const known = types[type]
    if (!known)
      throw new TypeError(`no column follows from the schema ${type} of \`${name}\`; there are ${Object.keys(types).join(', ')}`)
    const standard = (defaults as Readonly<Record<string, unknown>>)[name]
    return [
      name,
      { type: known, nullable, ...(nullable ? { default: null } : standard === undefined ? {} : { default: standard }) },
    ]
  })
  // The types follow the same rules as the values above.
  return Object.fromEntries(columns) as ColumnsOf<F, keyof D>
}

interface SchemaParts {
  readonly type: string
  readonly wrapped?: v.GenericSchema
  readonly pipe?: readonly { readonly type: string }[]
}

/** The schema within those that let a value be left out or null. */
function within(schema: v.ObjectEntries[string]): { readonly type: string; readonly nullable: boolean } {
  const { type, wrapped, pipe = [] } = schema as unknown as SchemaParts
  if (wrapped) return { type: within(wrapped).type, nullable: true }
  return { type: pipe.some((step) => step.type === 'integer') ? 'integer' : type, nullable: false }
}
