/** Answers to custom fields as one text each: as webhooks and exports write them, and read back. */
import { fail, invalid } from '../../errors.ts'
import { textOfAnswer } from '../../rules/answers.ts'
import { isDropdown } from '../../rules/options.ts'
import { segmentTitled } from '../../rules/titles.ts'
import type { ScopedTx } from '../../storage/scoped.ts'
import type { AnswerRow, CustomFieldRow, SegmentRow } from '../../storage/tables/custom-fields.ts'

/** Yes and no in the ways that files have them. */
export const truths: Readonly<Record<string, boolean>> = {
  ...{ true: true, yes: true, y: true, 1: true },
  ...{ false: false, no: false, n: false, 0: false },
}

/**
 * The body of `answers.upsert` for an answer that is one text. Options are named by their titles, several with `;` between them.
 * @throws ApiError 422 when the text is no answer to the field
 */
export async function answerOfText(tx: ScopedTx, field: CustomFieldRow, text: string): Promise<object> {
  const { title, response_type } = field
  const refuse = (rule: string): never =>
    fail(invalid('custom_field_id'), `${title} must be ${rule}, got ${JSON.stringify(text.slice(0, 100))}`)
  if (isDropdown(field)) {
    const segment_ids: string[] = []
    const titles = response_type === 'dropdown_single_select' ? [text] : splitTitles(text)
    for (const each of titles) {
      const option = await segmentTitled({ tx }, field.id, each)
      if (option) segment_ids.push(option.id)
      else if (field.allow_ad_hoc && titles.length === 1) return { text: each }
      else refuse('the title of an option')
    }
    return { segment_ids }
  }
  const [first = '', second = ''] = text.split(/[/,]/).map((part) => part.trim())
  const [month = '', day = ''] = text.split('-')
  switch (response_type) {
    case 'number':
      return /^\d{1,15}$/.test(text) ? { number: Number(text) } : refuse('a whole number')
    case 'boolean': {
      const boolean_value = truths[text.toLowerCase()]
      return boolean_value === undefined ? refuse('yes or no') : { boolean_value }
    }
    case 'date':
      return { date: text }
    case 'date_range':
      return { start_date: first, end_date: second }
    case 'recurring_date':
      return /^\d{1,2}-\d{1,2}$/.test(text) ? { month: Number(month), day: Number(day) } : refuse('month and day, such as 2-29')
    case 'location':
      return /^-?[\d.]+,\s*-?[\d.]+$/.test(text)
        ? { latitude: Number(first), longitude: Number(second) }
        : refuse('latitude,longitude')
    case 'url':
      return { url: text }
    case 'phone_number':
      return { phone_number: text }
    case 'multi_location':
      return { locations: placesOf(text) ?? refuse('a list of places as JSON') }
    default:
      return { text }
  }
}

/** An answer as that text. */
export function textOf(field: CustomFieldRow, row: AnswerRow, chosen: readonly SegmentRow[]): string {
  if (field.response_type === 'dropdown_multi_select') return joinTitles(chosen)
  if (isDropdown(field)) return chosen[0]?.title ?? ''
  return field.response_type === 'multi_location' ? JSON.stringify(row.locations ?? []) : (textOfAnswer(field, row) ?? '')
}

function placesOf(text: string): unknown {
  try {
    const places: unknown = JSON.parse(text)
    return Array.isArray(places) ? places : undefined
  } catch {
    return undefined
  }
}

/** Titles in one text: `A; B`. One that has a semicolon or begins with a quote is in quotes. */
export const joinTitles = (segments: readonly Pick<SegmentRow, 'title'>[]): string =>
  segments.map(({ title }) => (/^"|;/.test(title) ? `"${title.replaceAll('"', '""')}"` : title)).join('; ')

/** The titles of such a text. */
export const splitTitles = (text: string): readonly string[] =>
  [...text.matchAll(/\s*(?:"((?:[^"]|"")*)"\s*(?=;|$)|([^;]+))/g)].flatMap(
    ([, quoted, plain = '']) => (quoted?.replaceAll('""', '"') ?? plain).trim() || [],
  )

/** Custom fields by the column that holds their answers: the title, with the id of the field where the title is taken. */
export function fieldColumns(fields: readonly CustomFieldRow[], taken: readonly string[]): ReadonlyMap<string, CustomFieldRow> {
  const used = new Set(taken)
  return new Map(
    fields.filter(takesAnswers).map((field) => {
      const title = field.title.trim()
      const isFree = !used.has(title.toLowerCase())
      used.add(title.toLowerCase())
      return [isFree ? title : `${title} (${field.id})`, field]
    }),
  )
}

const takesAnswers = ({ response_type }: CustomFieldRow): boolean => response_type !== 'tag' && response_type !== 'badge'
