/** The fields of requests. */
import * as v from 'valibot'
import { wordsOf } from '../base/fold.ts'
import type { Id as IdText } from '../base/ids.ts'
import { type Fields, mark, publish } from './published.ts'

/** No database keeps other texts, and some refuse to compare them. */
export const wellFormed = v.check<string, string>(
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

/**
 * Whether a text has more characters than this. A character is a code point, as in JSON Schema, so most emoji count once. Only
 * a text near the limit is counted.
 */
export function hasMoreCharacters(text: string, most: number): boolean {
  if (text.length <= most) return false
  return text.length > 2 * most || [...text].length > most
}

const isTooLong = (value: string | readonly unknown[], most: number): boolean =>
  typeof value === 'string' ? hasMoreCharacters(value, most) : value.length > most

/** A text or a list with at most as many characters or items as the community's limit of that name allows. */
export function atMost<Input extends string | readonly unknown[]>(limit: keyof TextLimits, noun: string) {
  return v.rawCheck<Input>(({ dataset, config, addIssue }) => {
    const most = limitsIn(config)[limit]
    if (dataset.typed && isTooLong(dataset.value, most)) addIssue({ message: `must have at most ${most} ${noun}` })
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

// In the order of the checks: the ends of a text of one line are invisible white space, and do not count.
const oneLineText = v.pipe(v.string('must be a text'), v.trim(), wellFormed, atMost<string>('titleCharacters', 'characters'))

// A name may end up in the head of a mail, where a line break begins another header. NUL is refused in every text.
export const isOneLine = (value: string): boolean => !/[\u0001-\u001f\u007f-\u009f\u2028\u2029]/.test(value)
export const oneLine = 'must be one line, without control characters'

/** Whether a text shows nothing: white space, characters of no width, and those that only look empty. */
export const isBlank = (text: string): boolean => /^[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]*$/u.test(text)

/** A short text of one line (limit `titleCharacters`), without white space at its ends; may be empty. */
export const ShortText = publish(v.pipe(oneLineText, v.check(isOneLine, oneLine)), {
  type: 'string',
  maxLength: { limit: 'titleCharacters' },
})
/** A long text (limit `longTextCharacters`), kept as it came; may be empty. */
export const LongText = publish(
  v.pipe(v.string('must be a text'), wellFormed, atMost<string>('longTextCharacters', 'characters')),
  { type: 'string', maxLength: { limit: 'longTextCharacters' } },
)

/** A title or a name of one line (limit `titleCharacters`), without white space at its ends: not blank. */
export const Title = publish(
  v.pipe(
    oneLineText,
    v.check((value) => !isBlank(value), "can't be blank"),
    v.check((value) => isBlank(value) || isOneLine(value), oneLine),
  ),
  { type: 'string', minLength: 1, maxLength: { limit: 'titleCharacters' } },
)

const searchRule = 'must be a text of 1 to 200 characters'

/** A text to search for, of at least one word. */
export const SearchText = publish(
  v.pipe(
    v.string(searchRule),
    wellFormed,
    v.check((text) => !hasMoreCharacters(text, 200) && wordsOf(text).length > 0, searchRule),
  ),
  { type: 'string', minLength: 1, maxLength: 200 },
)

/** A colour as `#RRGGBB`. */
export const Colour = publish(
  v.pipe(v.string('must be a colour like #FF5733'), v.regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour like #FF5733')),
  { type: 'string', pattern: '^#[0-9a-fA-F]{6}$', example: '#FF5733' },
)

/** An e-mail address, without white space at its ends. */
export const Email = publish(
  v.pipe(
    v.string('must be an e-mail address'),
    v.trim(),
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
const isHttpUrl = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? '')

/** An absolute http or https URL. But for its ends it is kept as it came, so it need not be a URI: people paste `ü` and blanks. */
export const HttpUrl = publish(
  v.pipe(
    v.string('must be an http or https URL'),
    v.trim(),
    v.check(
      (text) => !hasMoreCharacters(text, maxUrlLength),
      `must be an http or https URL of at most ${maxUrlLength} characters`,
    ),
    wellFormed,
    // A URL parser drops line breaks, and a host may put the text into the header of a redirect.
    v.check(isOneLine, oneLine),
    v.check(isHttpUrl, 'must be an http or https URL'),
  ),
  { type: 'string', maxLength: maxUrlLength, description: 'An absolute http or https URL.', example: 'https://example.org/page' },
)

/** An id in a request: a number or its decimal text, any uint64. With a zero before it, it is that of no record, as in a path. */
export const IdInput = publish(
  v.pipe(
    v.union([v.string(), v.number()], 'must be an id'),
    v.transform(String),
    v.regex(/^\d{1,20}$/, 'must be an id'),
    v.transform((digits): IdText => digits),
  ),
  { type: ['integer', 'string'], description: 'An id, as a number or as its decimal text.' },
)
mark(IdInput, { kind: 'id input' })

export const BoolInput = publish(v.boolean('must be true or false'), { type: 'boolean' })

/**
 * A boolean in a query string: `true`, `false`, `1` or `0`; or a JSON boolean if the body replaces the query. Case does not
 * matter, because Python writes `True`.
 */
export const BoolQuery = publish(
  v.pipe(
    v.union(
      [v.boolean(), v.pipe(v.string(), v.toLowerCase(), v.picklist(['true', 'false', '1', '0', '']))],
      'must be true or false',
    ),
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

/** The field may be left out; null counts as left out. */
export const optional = <S extends v.GenericSchema>(schema: S) =>
  v.pipe(
    v.nullish(schema),
    v.transform((value) => value ?? undefined),
  )

/**
 * The field may be left out; null or an empty text clears it, as a form sends it. An empty list is left to the operation.
 */
export function optionalOrNull<S extends v.GenericSchema>(schema: S): v.NullishSchema<S, undefined> {
  const field = v.nullish(schema)
  const isEmpty = (value: unknown): boolean => typeof value === 'string' && value.trim() === ''
  const run: (typeof field)['~run'] = (dataset, config) =>
    field['~run'](isEmpty(dataset.value) ? { value: null } : dataset, config)
  return { ...field, '~run': run }
}

/**
 * The body of a request. Unknown fields are ignored (interface.md, 4.1; gaps.md).
 * @param name its name in the interface description
 * @param fields its fields; those that may be left out are wrapped in `optional` or `optionalOrNull`
 */
export function request<const F extends Fields>(name: string, fields: F) {
  return mark(
    v.object(fields, (issue) => (issue.path ? 'is required' : 'must be a JSON object')),
    { name },
  )
}
