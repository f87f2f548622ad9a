/** The titles of tags, badges and options: each is in its field once. */
import { folded } from '../base/fold.ts'
import type { Context } from '../context.ts'
import { fail, invalid } from '../errors.ts'
import type { Id } from '../storage/table.ts'
import { type SegmentRow, segments } from '../storage/tables/custom-fields.ts'

/** The comparison key of a title: case does not matter, nor the composition of accented letters, nor invisible characters. */
export const titleKey = (title: string): string =>
  title
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .trim()

/** Whether two of these titles are the same. */
export const hasTwins = (titles: readonly string[]): boolean => new Set(titles.map(titleKey)).size < titles.length

/** A title as it is searched: accents of Latin, Greek and Cyrillic letters do not matter either. */
export const searchKey = (title: string): string => folded(title, /[\u0300-\u036f]/g).trim()

/** The columns of a title that is new in its field. */
export const newTitle = (title: string) => ({ title, title_key: titleKey(title), twin_id: '0' })

/**
 * A tag, badge or option of a field with this title. It needs no lock: a request that adds the same title at the same moment
 * violates a key, and looks again.
 */
export const segmentTitled = ({ tx }: Pick<Context, 'tx'>, custom_field_id: Id, title: string): Promise<SegmentRow | undefined> =>
  tx.first(segments, { custom_field_id, title_key: titleKey(title) })

const taken = {
  tag: 'title is already a tag of this network',
  badge: 'title is already a badge of this network',
  option: 'title is already an option of this field',
} as const

/** The columns of a new tag, badge or option. */
type NewSegment = Pick<SegmentRow, 'kind' | 'custom_field_id' | 'title' | 'creator_id'> &
  Partial<Pick<SegmentRow, 'avatar_id' | 'avatar_url' | 'is_ad_hoc'>> & {
    readonly description?: string | null | undefined
    readonly color?: string | null | undefined
  }

/**
 * Adds a tag, a badge or an option.
 * @throws ApiError 422 when its field has one with this title
 */
export async function addSegment(context: Pick<Context, 'tx' | 'stamp'>, segment: NewSegment): Promise<SegmentRow> {
  const { kind, custom_field_id, title } = segment
  if (await segmentTitled(context, custom_field_id, title)) fail(invalid('title'), taken[kind])
  return insertSegment(context, segment)
}

/**
 * The same for a caller who has looked for the title and takes the one that is there: to look twice would refuse what another
 * request has added in between.
 * @throws UniqueViolation when its field has one with this title; the kernel runs the work again
 */
export function insertSegment({ tx, stamp }: Pick<Context, 'tx' | 'stamp'>, segment: NewSegment): Promise<SegmentRow> {
  return tx.insert(segments, { ...stamp(), ...segment, ...newTitle(segment.title) })
}

/**
 * The columns of another title of a tag, badge or option, which the caller has locked.
 * @throws ApiError 422 when another one of its field has it
 */
export async function changedTitle(
  context: Pick<Context, 'tx'>,
  { kind, custom_field_id, title_key }: SegmentRow,
  title: string | undefined,
): Promise<Partial<ReturnType<typeof newTitle>>> {
  if (title === undefined) return {}
  if (titleKey(title) === title_key) return { title }
  if (await segmentTitled(context, custom_field_id, title)) fail(invalid('title'), taken[kind])
  return newTitle(title)
}
