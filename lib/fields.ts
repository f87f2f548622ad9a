/**
 * The vocabulary of requests and records. Each field is a Valibot schema with the JSON Schema that publishes it, so that
 * validation and documentation cannot drift apart.
 */
import * as v from 'valibot'
import type { Id as IdText } from './base/ids.ts'
import { readMoment, utcText } from './base/moments.ts'

/** The published description of a field, in JSON Schema 2020-12. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** Any synchronous Valibot schema. */
export type Schema<Output = unknown> = v.GenericSchema<unknown, Output>
/** The fields of a record or a request, by name. */
export type Fields = v.ObjectEntries

/** The facts of a schema for documents and projections, beside its checks. */
interface Facts {
  /** How it is published, without its description. */
  readonly json?: JsonSchema
  readonly description?: unknown
  /** The component name of a record or a request. */
  readonly name?: string
  readonly kind?: 'id' | 'id input' | 'file url'
  /** The maximum number of items of a list: a number, or the name of a limit. */
  readonly maxItems?: unknown
}

const facts = new WeakMap<object, Facts>()
const factsOf = (schema: object): Facts => facts.get(schema) ?? {}

function mark<S extends object>(schema: S, more: Facts): S {
  facts.set(schema, { ...facts.get(schema), ...more })
  return schema
}

/** Publishes a schema as this JSON Schema. Gives the schema back. */
export const publish = <S extends v.GenericSchema>(schema: S, { description, ...json }: JsonSchema): S =>
  mark(schema, { json, description })

/** Publishes the same schema with another description. It may be inside of `orNull` or around it. */
export const describe = <S extends v.GenericSchema>(schema: S, description: string): S =>
  mark({ ...schema }, { ...factsOf(schema), description })

/** The JSON Schema that a field was published as, if it was; without its description. */
export const publishedAs = (schema: object): JsonSchema | undefined => factsOf(schema).json
/** The description of a field, if it has one. */
export const descriptionOf = (schema: object): unknown => factsOf(schema).description
/** The component name of a record or a request, if it has one. */
export const nameOf = (schema: object): string | undefined => factsOf(schema).name
/** Whether a schema is that of an id in a record, which option `ids` may turn into a number. */
export const isIdSchema = (schema: object): boolean => factsOf(schema).kind === 'id'
/** Whether a schema is that of an id in a request, which may be a number or its text. */
export const isIdInput = (schema: object): boolean => factsOf(schema).kind === 'id input'
/** Whether a schema is that of the address of a stored file, which may be kept without its origin. */
export const isFileUrl = (schema: object): boolean => factsOf(schema).kind === 'file url'
/** The maximum number of items of a list in a request: a number, or the name of a limit. */
export const maxItemsOf = (schema: object): unknown => factsOf(schema).maxItems

// ---- Records (what an answer or a webhook payload holds) -------------------------------------------------------------

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
export const Url = publish(v.string(), { type: 'string', format: 'uri' })
/** The address of a stored file. Kept as a path it goes out on the origin that the caller uses, as links do. */
export const FileUrl = mark(publish(v.string(), { type: 'string', format: 'uri' }), { kind: 'file url' })

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
 * @param fields its fields, in the order in which answers show them
 */
export function record<const F extends Fields>(name: string, fields: F): v.ObjectSchema<F, undefined> {
  return mark(v.object(fields), { name })
}

/** A page of records: what a list operation returns. */
export interface Paged<S extends v.GenericSchema = v.GenericSchema> {
  readonly paged: S
}

/** A page of records with its links. */
export const paged = <S extends v.GenericSchema>(schema: S): Paged<S> => ({ paged: schema })

/** Whether an operation returns a list. */
export const isPaged = (returns: v.GenericSchema | Paged | undefined): returns is Paged =>
  returns !== undefined && 'paged' in returns

// ---- Requests --------------------------------------------------------------------------------------------------------

const wellFormed = v.check<string, string>(
  (text) => text.isWellFormed() && !text.includes('\0'),
  'must be well-formed Unicode without NUL',
)

/** The lengths that a community may set (option `limits`). */
export interface TextLimits {
  /** Titles, names and other short texts, in characters. */
  readonly titleCharacters: number
  /** Descriptions, comments and other long texts, in characters. */
  readonly longTextCharacters: number
  /** Maximum number of choices of a poll. */
  readonly choices: number
}

export const defaultTextLimits: TextLimits = { titleCharacters: 255, longTextCharacters: 100_000, choices: 20 }

// Schemas are made once, limits belong to a community: they travel in Valibot's per-call configuration.
export const limitsIn = (config: unknown): TextLimits => (config as { limits?: TextLimits }).limits ?? defaultTextLimits

/** A text or a list with at most as many characters or items as the community's limit of that name allows. */
export function atMost<Input extends string | readonly unknown[]>(limit: keyof TextLimits, noun: string) {
  return v.rawCheck<Input>(({ dataset, config, addIssue }) => {
    const most = limitsIn(config)[limit]
    if (dataset.typed && dataset.value.length > most) addIssue({ message: `must have at most ${most} ${noun}` })
  })
}

/** A list is checked up to this many wrong items; further problems are not reported. */
const maxWrongItems = 6

/**
 * A list in a request. Its length is checked before its items, and wrong items are not looked for without end: what is refused
 * costs little, however long it is.
 * @param most the maximum number of items, or the name of a limit of the community
 * @param noun the word for the items in the sentence
 */
export function listUpTo<S extends v.GenericSchema>(schema: S, most: number | 'choices', noun: string): v.ArraySchema<S, string> {
  const list = v.array(schema, 'must be a list')
  const run: (typeof list)['~run'] = (dataset, config) => {
    const items: unknown = dataset.value
    if (!Array.isArray(items)) return list['~run'](dataset, config)
    const limit = typeof most === 'number' ? most : limitsIn(config)[most]
    // A value that is not a list is refused without a look at its items.
    if (items.length > limit)
      return v.array(schema, `must have at most ${limit} ${noun}`)['~run']({ value: items.length }, config)
    const issues: v.InferIssue<S>[] = []
    const checked: unknown[] = []
    let wrong = 0
    for (const [key, value] of items.entries()) {
      const item = schema['~run']({ value }, config)
      const step: v.ArrayPathItem = { type: 'array', origin: 'value', input: items, key, value }
      for (const issue of item.issues ?? [])
        issues.push({ ...issue, path: [step, ...(issue.path ?? [])] } as unknown as v.InferIssue<S>)
      if (item.issues && ++wrong === maxWrongItems) break
      checked.push(item.value)
    }
    const result = issues.length === 0 ? { typed: true, value: checked } : { typed: false, value: checked, issues }
    return result as ReturnType<(typeof list)['~run']>
  }
  return mark({ ...list, '~run': run }, { maxItems: typeof most === 'number' ? most : { limit: most } })
}

const text = (limit: 'titleCharacters' | 'longTextCharacters') =>
  publish(v.pipe(v.string('must be a text'), wellFormed, atMost<string>(limit, 'characters')), {
    type: 'string',
    maxLength: { limit },
  })

// A name may end up in the head of a mail, where a line break begins another header. NUL is refused in every text.
const isOneLine = (value: string): boolean => !/[\u0001-\u001f\u007f-\u009f\u2028\u2029]/.test(value)
const oneLine = 'must be one line, without control characters'

/** Whether a text shows nothing: white space, characters of no width, and those that only look empty. */
export const isBlank = (text: string): boolean => /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]*$/u.test(text)

/** A short text of one line (limit `titleCharacters`); may be empty. */
export const ShortText = publish(v.pipe(text('titleCharacters'), v.check(isOneLine, oneLine)), {
  type: 'string',
  maxLength: { limit: 'titleCharacters' },
})
/** A long text (limit `longTextCharacters`); may be empty. */
export const LongText = text('longTextCharacters')

/** A title or a name of one line (limit `titleCharacters`): not blank. */
export const Title = publish(
  v.pipe(
    text('titleCharacters'),
    v.check((value) => !isBlank(value), "can't be blank"),
    v.check((value) => isBlank(value) || isOneLine(value), oneLine),
  ),
  { type: 'string', minLength: 1, maxLength: { limit: 'titleCharacters' } },
)

/** A colour as `#RRGGBB`. */
export const Colour = publish(
  v.pipe(v.string('must be a colour like #FF5733'), v.regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour like #FF5733')),
  { type: 'string', pattern: '^#[0-9a-fA-F]{6}$', example: '#FF5733' },
)

/** An e-mail address. */
export const Email = publish(
  v.pipe(
    v.string('must be an e-mail address'),
    v.maxLength(254, 'must be an e-mail address of at most 254 characters'),
    v.rfcEmail('must be an e-mail address'),
  ),
  { type: 'string', format: 'email', maxLength: 254 },
)

/** An e-mail address in a query. A `+` that was not percent-encoded arrives as a blank, which no address holds. */
export const EmailQuery = publish(
  v.pipe(
    v.string('must be an e-mail address'),
    v.transform((text) => text.trim().replaceAll(' ', '+')),
    Email,
  ),
  { type: 'string', format: 'email', maxLength: 254 },
)

/** The same, to look for: what can be no address is found nowhere. */
export const EmailFilter = publish(
  v.pipe(
    ShortText,
    v.transform((text) => text.trim().replaceAll(' ', '+')),
  ),
  { type: 'string', maxLength: { limit: 'titleCharacters' } },
)

const maxUrlLength = 2048
const isHttpUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

/** An absolute http or https URL. */
export const HttpUrl = publish(
  v.pipe(
    v.string('must be an http or https URL'),
    v.maxLength(maxUrlLength, `must be an http or https URL of at most ${maxUrlLength} characters`),
    wellFormed,
    v.check(isHttpUrl, 'must be an http or https URL'),
  ),
  { type: 'string', format: 'uri', maxLength: maxUrlLength },
)

const isDate = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true

/** A date as `2026-11-20`; the 30th of February is refused. */
export const DateInput = publish(
  v.pipe(v.string('must be a date like 2026-11-20'), v.check(isDate, 'must be a date like 2026-11-20')),
  { type: 'string', format: 'date' },
)

/** A time zone of the IANA database by its name, such as `Europe/Berlin`. */
export const TimeZone = publish(
  v.pipe(
    v.string('must be an IANA time zone like Europe/Berlin'),
    v.check(isTimeZone, 'must be an IANA time zone like Europe/Berlin'),
  ),
  { type: 'string', example: 'Europe/Berlin' },
)

/** Time zones that Intl has taken, in lower case. They are names of its database, so the set has an end. */
const timeZones = new Set<string>()

// Intl takes offsets like +01:00 too; those have no rules for summer time. It takes names in any case. To make a formatter is slow.
function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][\w+/-]{0,63}$/.test(text)) return false
  const name = text.toLowerCase()
  if (timeZones.has(name)) return true
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
  } catch {
    return false
  }
  timeZones.add(name)
  return true
}

/** An id in a request: a number or its decimal text, any uint64. */
export const IdInput = publish(
  v.pipe(
    v.union([v.string(), v.number()], 'must be an id'),
    v.transform(String),
    v.regex(/^\d{1,20}$/, 'must be an id'),
    v.transform((digits): IdText => digits.replace(/^0+(?=\d)/, '')),
  ),
  { type: ['integer', 'string'], description: 'An id, as a number or as its decimal text.' },
)
mark(IdInput, { kind: 'id input' })

export const BoolInput = publish(v.boolean('must be true or false'), { type: 'boolean' })

/** A boolean in a query string: `true`, `false`, `1` or `0`; or a JSON boolean if the body replaces the query. */
export const BoolQuery = publish(
  v.pipe(
    v.union([v.boolean(), v.picklist(['true', 'false', '1', '0', ''])], 'must be true or false'),
    v.transform((value) => value === true || value === 'true' || value === '1'),
  ),
  { type: 'boolean' },
)

/** A whole number between two bounds. */
export function integerBetween(least: number, most: number) {
  const sentence = `must be a whole number from ${least} to ${most}`
  return publish(v.pipe(v.number(sentence), v.integer(sentence), v.minValue(least, sentence), v.maxValue(most, sentence)), {
    type: 'integer',
    minimum: least,
    maximum: most,
  })
}

const timestampText = v.pipe(
  v.string('must be a date and time in ISO 8601'),
  v.maxLength(40, 'must be a date and time in ISO 8601'),
)

/** Reads a moment; one without an offset becomes what `without` makes of it, or a problem when that is nothing. */
const readTimestamp = (without: (local: string) => string | undefined) =>
  v.rawTransform<string, string>(({ dataset, addIssue, NEVER }) => {
    const refuse = (message: string) => {
      addIssue({ message })
      return NEVER
    }
    const moment = readMoment(dataset.value)
    if (!moment) return refuse('must be a date and time in ISO 8601')
    const { local, offset } = moment
    // `Date` takes the 30th of February for the 2nd of March.
    const utc = isDate(local.slice(0, 10)) ? utcText(Date.parse(`${local}${offset ?? 'Z'}`)) : undefined
    if (!utc) return refuse('must be a date and time that exists')
    return offset
      ? utc
      : (without(local) ?? refuse('must have an offset, such as 2026-11-20T10:00:00Z or 2026-11-20T10:00:00+01:00'))
  })

/** A date and time in ISO 8601 with `Z` or an offset, converted to UTC with milliseconds. */
export const TimestampInput = publish(
  v.pipe(
    timestampText,
    readTimestamp(() => undefined),
  ),
  { type: 'string', format: 'date-time' },
)

/** The same, or without an offset: then it is left as it is, `2026-11-20T10:00:00.000`, for `inZone` to read in a time zone. */
export const ZonedTimestampInput = publish(
  v.pipe(
    timestampText,
    readTimestamp((local) => local),
  ),
  {
    type: 'string',
    format: 'date-time',
    description: 'Without an offset it is a time of `time_zone`.',
  },
)

/** The field may be left out; null counts as left out. */
export const optional = <S extends v.GenericSchema>(schema: S) =>
  v.pipe(
    v.nullish(schema),
    v.transform((value) => value ?? undefined),
  )

/** The field may be left out; null or an empty value clears it. */
export const optionalOrNull = <S extends v.GenericSchema>(schema: S) => v.nullish(schema)

/**
 * The body of a request. Unknown fields are ignored (specification, section 4; design: settled gaps).
 * @param name its name in the interface description
 * @param fields its fields; those that may be left out are wrapped in `optional` or `optionalOrNull`
 */
export function request<const F extends Fields>(name: string, fields: F) {
  return mark(
    v.object(fields, (issue) => (issue.path ? 'is required' : 'must be a JSON object')),
    { name },
  )
}
