/** The options of dropdowns. */

import type { Context } from '../context.ts'
import { fail, found, invalid } from '../errors.ts'
import type { LockStrength } from '../storage/contract.ts'
import { orConflict } from '../storage/lock.ts'
import { rowsOf } from '../storage/rows-of.ts'
import type { Id } from '../storage/table.ts'
import { type CustomFieldRow, customFields, type SegmentRow, segments } from '../storage/tables/custom-fields.ts'

/**
 * The custom field with this id.
 * @throws ApiError 404
 */
export async function fieldOf({ tx }: Pick<Context, 'tx'>, id: Id): Promise<CustomFieldRow> {
  return found(await tx.get(customFields, id), 'Custom field')
}

/**
 * The same, locked: with `update` nobody else adds options or answers to it.
 * @throws ApiError 404
 */
export async function lockField({ tx }: Pick<Context, 'tx'>, id: Id, strength: LockStrength): Promise<CustomFieldRow> {
  return found(await tx.lock(customFields, id, strength), 'Custom field')
}

/** Whether each answer to a custom field is an option. */
export const isDropdown = ({ response_type }: Pick<CustomFieldRow, 'response_type'>): boolean =>
  response_type === 'dropdown_single_select' || response_type === 'dropdown_multi_select'

/** The comparison key of a title: case does not matter, nor the composition of accented letters. */
export const titleKey = (title: string): string => title.normalize('NFC').toLowerCase().trim()

/** The options of a custom field whose titles a predicate picks, in ascending order of their ids. */
export async function optionsWhere(
  { tx }: Pick<Context, 'tx'>,
  custom_field_id: Id,
  picks: (key: string) => boolean,
): Promise<SegmentRow[]> {
  const picked: SegmentRow[] = []
  for await (const option of rowsOf(tx, segments, { custom_field_id })) if (picks(titleKey(option.title))) picked.push(option)
  return picked
}

/** The option of a dropdown with this title. The field is locked, so that nobody else adds it at the same moment. */
export async function optionTitled(
  context: Pick<Context, 'tx'>,
  field: CustomFieldRow,
  title: string,
): Promise<SegmentRow | undefined> {
  orConflict(await context.tx.lock(customFields, field.id, 'update'), `custom_fields ${field.id}`)
  const key = titleKey(title)
  return (await optionsWhere(context, field.id, (known) => known === key))[0]
}

/** The fields of an option. */
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
