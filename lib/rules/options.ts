/** The options of dropdowns. */
import { fail, found, invalid } from '../errors.ts'
import type { Context } from '../operation.ts'
import { held, hold } from '../storage/hold.ts'
import type { Id } from '../storage/table.ts'
import { type CustomFieldRow, customFields, type SegmentRow, segments } from '../storage/tables.ts'

const batch = 200

/**
 * The custom field with this id.
 * @throws ApiError 404
 */
export async function fieldOf({ tx }: Pick<Context, 'tx'>, id: Id): Promise<CustomFieldRow> {
  return found(await tx.get(customFields, id), 'Custom field')
}

/**
 * The same, held: it gets no more options and answers from anybody else.
 * @throws ApiError 404
 */
export async function heldField({ tx }: Pick<Context, 'tx'>, id: Id): Promise<CustomFieldRow> {
  return found(await held(tx, customFields, id), 'Custom field')
}

/** Whether the answers to a custom field are options of its own. */
export const isDropdown = ({ response_type }: Pick<CustomFieldRow, 'response_type'>): boolean =>
  response_type === 'dropdown_single_select' || response_type === 'dropdown_multi_select'

/** What titles are compared by: case does not matter, nor how a letter with an accent is put together. */
export const titleKey = (title: string): string => title.normalize('NFC').toLowerCase().trim()

/** The options of a custom field whose titles a predicate picks, in ascending order of their ids. */
export async function optionsWhere(
  { tx }: Pick<Context, 'tx'>,
  custom_field_id: Id,
  picks: (key: string) => boolean,
): Promise<SegmentRow[]> {
  const picked: SegmentRow[] = []
  for (let after = '0'; ; ) {
    const rows = await tx.find(segments, { where: { custom_field_id }, after, limit: batch })
    picked.push(...rows.filter((row) => picks(titleKey(row.title))))
    if (rows.length < batch) return picked
    after = rows.at(-1)?.id ?? after
  }
}

/** The option of a dropdown with this title. The field is held, so that nobody else adds it at the same moment. */
export async function optionTitled(
  context: Pick<Context, 'tx'>,
  field: CustomFieldRow,
  title: string,
): Promise<SegmentRow | undefined> {
  await hold(context.tx, customFields, field)
  const key = titleKey(title)
  return (await optionsWhere(context, field.id, (known) => known === key))[0]
}

/** What an option is made of. */
export interface NewOption {
  readonly title: string
  readonly description?: string | null | undefined
  /** Made by an answer and not by a host. */
  readonly is_ad_hoc?: boolean
  readonly creator_id: Id
}

/**
 * Adds an option to a dropdown.
 * @throws ApiError 422 when it has one with this title
 */
export async function addOption(
  context: Pick<Context, 'tx' | 'stamp'>,
  field: CustomFieldRow,
  option: NewOption,
): Promise<SegmentRow> {
  if (await optionTitled(context, field, option.title)) fail(invalid('title'), 'title is already an option of this field')
  return context.tx.insert(segments, { ...context.stamp(), ...option, kind: 'option', custom_field_id: field.id })
}
