/** The fields of records: what a response or a webhook payload holds. */
import * as v from 'valibot'
import { type Fields, mark, publish } from './published.ts'

// A host that publishes an event may take the ids from records, which option `ids` shows as numbers.
const isIdLike = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number'

const outputId = () => {
  const digits = v.pipe(v.custom<string>(isIdLike, 'must be an id'), v.transform(String), v.regex(/^\d{1,16}$/, 'must be an id'))
  return mark(publish(digits, { type: 'string', pattern: '^[0-9]{1,16}$', example: '254803968000' }), { kind: 'id' })
}

/** The id of a record, or a reference to one. */
export const Id = outputId()
export const Text = publish(v.string(), { type: 'string' })
export const Bool = publish(v.boolean(), { type: 'boolean' })
export const Integer = publish(v.pipe(v.number(), v.safeInteger()), { type: 'integer' })
export const Real = publish(v.number(), { type: 'number' })
/** ISO 8601 in UTC with milliseconds: `2026-11-20T10:00:00.000Z`. */
export const Timestamp = publish(v.string(), { type: 'string', format: 'date-time', example: '2026-11-20T10:00:00.000Z' })

// Without `format: uri`: users and hosts supply addresses with characters that a URI must percent-encode.
const address = { type: 'string', example: 'https://example.org/page' }
export const Url = publish(v.string(), address)
/** The address of a stored file. Kept as a path it goes out on the origin that the caller uses, as links do. */
export const FileUrl = mark(publish(v.string(), address), { kind: 'file url' })

/** One of these texts. */
export function oneOf<const T extends readonly string[]>(...values: T): v.PicklistSchema<T, string> {
  return publish(v.picklist(values, `must be one of ${values.join(', ')}`), { type: 'string', enum: values })
}

/** The field, or null where there is nothing to say. In records every documented field is present. */
export const orNull = <S extends v.GenericSchema>(schema: S) => v.nullable(schema)

/** A list of a record, as long as it is. */
export const listOf = <S extends v.GenericSchema>(schema: S) => v.array(schema, 'must be a list')

/**
 * A record of the interface.
 * @param name its name in the interface description
 * @param fields its fields, in the order in which responses show them
 */
export function record<const F extends Fields>(name: string, fields: F): v.ObjectSchema<F, undefined> {
  return mark(v.object(fields), { name })
}

/** A page of records: what a list operation returns. */
export interface PageOfRecords<S extends v.GenericSchema = v.GenericSchema> {
  /** The schema of one record of the page. */
  readonly paged: S
  /** Whether the list is ordered by a time, which several records may have. Its places are then times with ids. */
  readonly isByTime?: boolean
  /** Whether callers may choose the order. Its places are then ids, or values with ids. */
  readonly isSorted?: boolean
}

/** A page of records with its links. */
export const paged = <S extends v.GenericSchema>(
  schema: S,
  order: Pick<PageOfRecords, 'isByTime' | 'isSorted'> = {},
): PageOfRecords<S> => ({
  paged: schema,
  ...order,
})

/** Whether an operation returns a list. */
export const isPaged = (returns: v.GenericSchema | PageOfRecords | undefined): returns is PageOfRecords =>
  returns !== undefined && 'paged' in returns
