/** Custom fields, and which of them are dropdowns. */

import type { Context } from '../context.ts'
import { found } from '../errors.ts'
import type { LockStrength } from '../storage/contract.ts'
import type { Id } from '../storage/table.ts'
import { type CustomFieldRow, customFields } from '../storage/tables/custom-fields.ts'

/**
 * The custom field with this id.
 * @throws ApiError 404
 */
export async function fieldOf({ tx }: Pick<Context, 'tx'>, id: Id): Promise<CustomFieldRow> {
  return found(await tx.get(customFields, id), 'Custom field')
}

/**
 * The same, locked: with `update` no other request adds options or answers to it.
 * @throws ApiError 404
 */
export async function lockField({ tx }: Pick<Context, 'tx'>, id: Id, strength: LockStrength): Promise<CustomFieldRow> {
  return found(await tx.lock(customFields, id, strength), 'Custom field')
}

/** Whether each answer to a custom field is an option. */
export const isDropdown = ({ response_type }: Pick<CustomFieldRow, 'response_type'>): boolean =>
  response_type === 'dropdown_single_select' || response_type === 'dropdown_multi_select'
