/** The values of an answer to each kind of custom field, and how they are read. Dropdowns are apart: theirs are options. */

import type { Context } from '../context.ts'
import { fail, invalid } from '../errors.ts'
import { hasMoreCharacters } from '../fields.ts'
import type { AnswerRow, CustomFieldRow } from '../storage/tables/custom-fields.ts'
import { port } from './ports.ts'

/** The columns of an answer that hold its value. */
export type AnswerValue = Pick<
  AnswerRow,
  | 'text'
  | 'number'
  | 'boolean_value'
  | 'date'
  | 'start_date'
  | 'end_date'
  | 'month'
  | 'day'
  | 'url'
  | 'phone_number'
  | 'latitude'
  | 'longitude'
  | 'locations'
>
type AnswerInput = { readonly [Name in keyof AnswerValue]?: AnswerValue[Name] | undefined }

/** The value of an answer to a dropdown: none, for its choices stand elsewhere. */
export const noValue: AnswerValue = {
  text: null,
  number: null,
  boolean_value: null,
  date: null,
  start_date: null,
  end_date: null,
  month: null,
  day: null,
  url: null,
  phone_number: null,
  latitude: null,
  longitude: null,
  locations: null,
}

type Kind = Exclude<CustomFieldRow['response_type'], 'tag' | 'badge' | 'dropdown_single_select' | 'dropdown_multi_select'>

/** The fields of a request that hold an answer of each kind; all of them belong to it. */
const partsOf: { readonly [K in Kind]: readonly (keyof AnswerValue)[] } = {
  text_short: ['text'],
  text_long: ['text'],
  number: ['number'],
  boolean: ['boolean_value'],
  date: ['date'],
  date_range: ['start_date', 'end_date'],
  recurring_date: ['month', 'day'],
  url: ['url'],
  phone_number: ['phone_number'],
  location: ['latitude', 'longitude'],
  multi_location: ['locations'],
}

const hasParts = (kind: CustomFieldRow['response_type']): kind is Kind => kind in partsOf

/** Whether a value means that there is no answer. */
const isEmpty = (value: AnswerInput[keyof AnswerValue]): boolean =>
  value === null || value === undefined || (typeof value === 'string' && value.trim() === '') || isEmptyList(value)
const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0

/**
 * Reads the answer out of a request, by the rule of the field's kind.
 * @returns its columns; `undefined` when it clears the answer
 * @throws ApiError 422 when the kind takes no answers, a part is missing, or the value is not of the kind
 */
export async function readAnswer(
  context: Pick<Context, 'ports' | 'limits'>,
  field: CustomFieldRow,
  given: AnswerInput,
): Promise<AnswerValue | undefined> {
  const { response_type } = field
  if (!hasParts(response_type)) fail(invalid('custom_field_id'), unsupported(field))
  const parts = partsOf[response_type]
  if (parts.every((part) => given[part] === undefined))
    fail(
      invalid(...parts),
      `${parts.join(' and ')} ${parts.length > 1 ? 'are' : 'is'} required for a ${response_type} field; null clears the answer`,
    )
  const missing = parts.find((part) => isEmpty(given[part]))
  if (parts.every((part) => isEmpty(given[part]))) return undefined
  if (missing) fail(invalid(missing), `${missing} is required together with ${parts.filter((part) => part !== missing).join()}`)
  const value = { ...noValue, ...Object.fromEntries(parts.map((part) => [part, given[part]])) }
  return { ...value, ...(await checks[response_type]?.(context, field, value)) }
}

/** Refuses answers to the fields of tags and badges. */
export const unsupported = ({ response_type }: CustomFieldRow): string =>
  `custom_field_id: a ${response_type} is given to members directly, not by an answer`

type Check = (
  context: Pick<Context, 'ports' | 'limits'>,
  field: CustomFieldRow,
  value: AnswerValue,
) => Partial<AnswerValue> | undefined | Promise<Partial<AnswerValue>>

/** The checks beyond a schema, and the resulting value. */
const checks: { readonly [K in Kind]?: Check } = {
  text_short({ limits }, _field, { text }) {
    if (hasMoreCharacters(text ?? '', limits.titleCharacters))
      fail(invalid('text'), `text must have at most ${limits.titleCharacters} characters`)
    return undefined
  },
  number(_context, { min_value, max_value }, { number }) {
    const value = number ?? 0
    if (min_value !== null && value < min_value) fail(invalid('number'), `number must be at least ${min_value}`)
    if (max_value !== null && value > max_value) fail(invalid('number'), `number must be at most ${max_value}`)
    return undefined
  },
  date_range(_context, _field, { start_date, end_date }) {
    if ((start_date ?? '') > (end_date ?? '')) fail(invalid('end_date'), 'end_date must not be before start_date')
    return undefined
  },
  recurring_date(_context, _field, { month, day }) {
    // Of a leap year: the 29th of February comes round, if not every year.
    const last = new Date(Date.UTC(2000, month ?? 1, 0)).getUTCDate()
    if ((day ?? 0) > last) fail(invalid('day'), `day must be a day that month ${month} has`)
    return undefined
  },
  async phone_number(context, _field, { phone_number }) {
    const number = await port(context, 'phoneNumbers', 'phone_number').parse(phone_number ?? '')
    if (!number) fail(invalid('phone_number'), 'phone_number must be an international phone number like +49 30 901820')
    return { phone_number: number }
  },
}

/** An answer as the text that webhooks carry; null for dropdowns, whose choices they carry. */
export function textOfAnswer({ response_type }: CustomFieldRow, value: AnswerValue): string | null {
  if (!hasParts(response_type)) return null
  if (response_type === 'multi_location') return (value.locations ?? []).map(({ label }) => label).join('; ')
  const parts = partsOf[response_type].map((part) => String(value[part] ?? ''))
  return parts.join(separators[response_type] ?? '')
}

/** The separators between the parts: ISO 8601 for ranges and recurring dates, ISO 6709 for points. */
const separators: { readonly [K in Kind]?: string } = { date_range: '/', recurring_date: '-', location: ',' }
