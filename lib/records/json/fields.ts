import type * as v from 'valibot'
import { isFileUrl, isIdSchema } from '../../fields.ts'
import { isWritable, type JsonFields, type JsonSource, type ListField, type Sources } from '../../storage/json.ts'
import type { Table } from '../../storage/table.ts'

type Schema = v.GenericSchema & { entries?: v.ObjectEntries; item?: Schema; wrapped?: Schema }

/**
 * How a database writes a record out of a row: its documented fields in their order, as `projection` makes them of values.
 *
 * @param schema the schema of a record
 * @param table where its rows are
 * @param sources of the fields that are not the column of the same name
 * @param ids the JSON type of ids
 * @param base what the paths of stored files are put behind
 * @returns `undefined` when a field has parts that only code can make
 */
export function jsonFieldsOf(
  schema: v.GenericSchema,
  table: Pick<Table, 'columns'>,
  sources: Sources,
  ids: 'string' | 'number',
  base: string,
): JsonFields | undefined {
  const { entries } = schema as Schema
  if (!entries) return undefined
  const fields: (readonly [string, JsonSource])[] = []
  for (const [name, of] of Object.entries(entries)) {
    const source = sources[name] ?? sourceOf(of as Schema, table, name, ids, base)
    if (!source) return undefined
    fields.push([name, source])
  }
  return fields
}

function sourceOf(
  schema: Schema,
  table: Pick<Table, 'columns'>,
  column: string,
  ids: 'string' | 'number',
  base: string,
): JsonSource | undefined {
  const shape = schema.wrapped ?? schema
  if (!(column in table.columns)) return shape.item ? undefined : { from: 'nothing' }
  if (!isWritable(table, column)) return undefined
  if (isIdSchema(shape)) return { from: ids === 'number' ? 'number' : 'column', column }
  if (isFileUrl(shape)) return { from: 'address', column, base }
  if (shape.item) return listOf(shape.item, column, ids)
  return shape.entries ? undefined : { from: 'column', column }
}

function listOf({ entries }: Schema, column: string, ids: 'string' | 'number'): JsonSource | undefined {
  if (!entries) return undefined
  const fields: ListField[] = []
  for (const [name, of] of Object.entries(entries)) {
    const field = of as Schema
    const shape = field.wrapped ?? field
    if (shape.entries || shape.item || isFileUrl(shape)) return undefined
    fields.push({ name, isNumber: isIdSchema(shape) && ids === 'number' })
  }
  return { from: 'list', column, fields }
}
