import * as v from 'valibot'
import { found, notFound } from '../errors.ts'
import { paged, publish } from '../fields.ts'
import { operation } from '../operation.ts'
import { CustomField, ResponseType } from '../records/custom-field.ts'
import { customFields } from '../storage/tables.ts'

/** Invalid values of the filter are ignored (specification, section 4, operation 1). */
const ResponseTypeFilter = publish(v.fallback(v.optional(ResponseType), undefined), {
  type: 'string',
  enum: ResponseType.options,
  description: 'Only fields of this kind; any other value is ignored.',
})

export const listCustomFields = operation({
  id: 'custom_fields.list',
  method: 'GET',
  path: '/custom_fields',
  scope: 'custom_fields:read',
  summary: 'List the custom fields of the network.',
  query: { response_type: ResponseTypeFilter },
  returns: paged(CustomField),
  handle: ({ page, query: { response_type } }) => page(customFields, response_type ? { where: { response_type } } : {}),
})

export const showCustomField = operation({
  id: 'custom_fields.show',
  method: 'GET',
  path: '/custom_fields/:id/',
  scope: 'custom_fields:read',
  summary: 'Show a custom field.',
  returns: CustomField,
  errors: [notFound('Custom field')],
  handle: async ({ tx, params }) => found(await tx.get(customFields, params.id), 'Custom field'),
})
