/** Values of records as values of columns: what another server sends need not be what a column takes. */
import type { Column } from '../../../../lib/storage/table.ts'
import { storableText } from '../api-record.ts'
import type { Ids } from './ids.ts'

const asText = (raw: unknown): string | null =>
  ['string', 'number', 'boolean'].includes(typeof raw) ? storableText(String(raw)) : null

const asNumber = (raw: unknown): number | null => {
  const number = typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : raw
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}

const asTime = (raw: unknown): string | null => {
  const time = typeof raw === 'string' ? Date.parse(raw) : Number.NaN
  return Number.isNaN(time) ? null : new Date(time).toISOString()
}

function converted(type: Column['type'], raw: unknown, ids: Ids): unknown {
  if (raw === null) return null
  if (type === 'id') return ids.here(raw)
  if (type === 'text') return asText(raw)
  if (type === 'timestamp') return asTime(raw)
  if (type === 'boolean') return raw === true
  if (type === 'json') return typeof raw === 'object' ? raw : null
  const number = asNumber(raw)
  if (number === null || type === 'real') return number
  const whole = Math.trunc(number)
  return Number.isSafeInteger(whole) ? whole : null
}

/** The value of a column that must not be null, where nothing better is known. */
export function emptyValue({ type, default: standard }: Column): unknown {
  if (standard !== undefined && standard !== null) return standard
  if (type === 'text') return ''
  if (type === 'boolean') return false
  if (type === 'timestamp') return new Date(0).toISOString()
  return type === 'id' ? '0' : type === 'json' ? [] : 0
}

export function columnValue(column: Column, raw: unknown, ids: Ids): unknown {
  const value = converted(column.type, raw, ids)
  return value === null && !column.nullable ? emptyValue(column) : value
}
