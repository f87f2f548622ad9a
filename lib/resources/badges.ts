import { paged } from '../fields.ts'
import { operation } from '../operation.ts'
import { Badge } from '../records/segment.ts'
import { segments } from '../storage/tables.ts'

export const listBadges = operation({
  id: 'badges.list',
  method: 'GET',
  path: '/badges',
  scope: 'badges:read',
  summary: 'List the badges of the network.',
  returns: paged(Badge),
  handle: ({ page }) => page(segments, { where: { kind: 'badge' } }),
})
