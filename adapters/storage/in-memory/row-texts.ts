/**
 * Pages as the JSON of their rows. A row in memory never changes: a change puts another one in its place. So the text of a row
 * is kept beside it, and is right for as long as the table has that row.
 *
 * Terms
 * - **Generations**: texts of rows that were wanted lately, and before that. The older one goes when the other is full.
 */
import { type JsonFields, type JsonRows, type JsonSource, shownValue } from '../../../lib/storage/json.ts'
import type { Id } from '../../../lib/storage/table.ts'
import { bytesOf } from '../../utf8.ts'
import type { StoredRow } from './row.ts'
import type { RowQuery, TableInMemory } from './table.ts'

export interface RowTexts {
  /** The rows of a query as records with these fields. */
  find(table: TableInMemory, query: RowQuery, fields: JsonFields): JsonRows
}

interface Kept {
  readonly row: StoredRow
  readonly text: Uint8Array
}

/** By the fields of the records, and by the id of the row. */
type Generation = Map<string, Map<Id, Kept>>

/** Bytes of a generation, and about what a text needs beside itself. */
const [mostBytes, besides] = [4 * 2 ** 20, 200]

/** Texts of the rows of one storage: all of its tables share the bound. */
export function rowTexts(): RowTexts {
  let young: Generation = new Map()
  let old: Generation = new Map()
  let size = 0
  /** Places of the rows that were wanted in this generation, by the end of their ids. Several may share one: a text is then kept early. */
  const wanted = new Uint8Array(2 ** 16)

  /** Texts that were wanted once count, though they are not kept. So a walk through a long list keeps nothing. */
  function count(bytes: number): void {
    if (size + bytes > mostBytes) {
      old = young
      young = new Map()
      size = 0
      wanted.fill(0)
    }
    size += bytes
  }

  function keep(shown: string, kept: Kept): Uint8Array {
    count(kept.text.length + besides + (young.has(shown) ? 0 : shown.length))
    const texts = young.get(shown)
    if (texts) texts.set(kept.row.id, kept)
    else young.set(shown, new Map([[kept.row.id, kept]]))
    return kept.text
  }

  function isWantedAgain({ id }: StoredRow): boolean {
    const place = Number(id) % wanted.length
    if (wanted[place] === 1) return true
    wanted[place] = 1
    return false
  }

  /** The text of a row, if it is kept, or shall be. */
  function textOf(row: StoredRow, fields: JsonFields, shown: string): Uint8Array | undefined {
    const known = young.get(shown)?.get(row.id)
    if (known?.row === row) return known.text
    const older = old.get(shown)?.get(row.id)
    if (older?.row === row) return keep(shown, older)
    if (!isWantedAgain(row)) return undefined
    return keep(shown, { row, text: bytesOf(JSON.stringify(recordOf(fields, row))) })
  }

  /** The records of rows with commas between them. Those that are not kept become text together. */
  function written(rows: readonly StoredRow[], fields: JsonFields): string | Uint8Array {
    const shown = JSON.stringify(fields)
    const pieces: Uint8Array[] = []
    let others: object[] = []
    const textOfOthers = (): string => {
      const text = JSON.stringify(others).slice(1, -1)
      count(text.length + others.length * besides)
      others = []
      return text
    }
    for (const row of rows) {
      const text = textOf(row, fields, shown)
      if (!text) {
        others.push(recordOf(fields, row))
        continue
      }
      if (others.length > 0) pieces.push(bytesOf(textOfOthers()), comma)
      pieces.push(text, comma)
    }
    if (pieces.length === 0) return textOfOthers()
    if (others.length > 0) pieces.push(bytesOf(textOfOthers()), comma)
    return Buffer.concat(pieces.slice(0, -1))
  }

  return {
    find(table, query, fields) {
      const { limit, order } = query
      const found = table.find(limit === undefined ? query : { ...query, limit: limit + 1 })
      const rows = limit === undefined ? found : found.slice(0, limit)
      const last = rows.at(-1)
      return {
        json: written(rows, fields),
        count: rows.length,
        last: last ? String(last[order?.by ?? 'id']) : null,
        hasMore: found.length > rows.length,
      }
    },
  }
}

const comma = Buffer.from(',')

function recordOf(fields: JsonFields, row: StoredRow): Readonly<Record<string, unknown>> {
  const record: Record<string, unknown> = {}
  for (const [name, source] of fields) record[name] = sourceValue(source, row) ?? null
  return record
}

function sourceValue(source: JsonSource, row: StoredRow): unknown {
  const value = shownValue(source, row)
  switch (source.from) {
    case 'number':
      return typeof value === 'string' ? Number(value) : value
    case 'address':
      return typeof value === 'string' && value.startsWith('/') ? source.base + value : value
    case 'list':
      return Array.isArray(value) ? value.map((entry) => shortened(entry, source.fields)) : []
    default:
      return value
  }
}

type ListFields = Extract<JsonSource, { readonly from: 'list' }>['fields']

function shortened(entry: Readonly<Record<string, unknown>>, fields: ListFields): Readonly<Record<string, unknown>> {
  const record: Record<string, unknown> = {}
  for (const { name, isNumber } of fields) {
    const value = entry[name] ?? null
    record[name] = isNumber && value !== null ? Number(value) : value
  }
  return record
}
