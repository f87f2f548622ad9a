/**
 * Every page of the panel. The first match is used, so fixed paths come before those with parameters. The navigation has the
 * same order.
 */
import type { Route } from '../route.ts'
import { auditRoutes } from './audit.ts'
import { deliveryRoutes } from './deliveries/deliveries.ts'
import { resendRoutes } from './deliveries/resends.ts'
import { tryNowRoutes } from './deliveries/try-now.ts'
import { keyRoutes } from './keys.ts'
import { labelRoutes } from './labels.ts'
import { memberBulkRoutes } from './members/bulk.ts'
import { memberExportRoutes } from './members/export.ts'
import { importRoutes } from './members/import.ts'
import { memberPageRoutes } from './members/member.ts'
import { memberRoutes } from './members/members.ts'
import { memberEntryRoutes } from './members/new.ts'
import { overviewRoutes } from './overview.ts'
import { readOnlyRoutes } from './read-only.ts'
import { referenceRoutes } from './reference.ts'
import { reportRoutes } from './reports.ts'
import { tryRoutes } from './try.ts'
import { webhookChannelRoutes } from './webhooks/channel.ts'
import { webhookCredentialRoutes } from './webhooks/credentials.ts'
import { webhookEventRoutes } from './webhooks/events.ts'
import { webhookFormRoutes } from './webhooks/form.ts'
import { webhookRoutes } from './webhooks/webhooks.ts'

export const routes: readonly Route[] = [
  ...overviewRoutes,
  ...readOnlyRoutes,
  ...memberRoutes,
  ...importRoutes,
  ...memberBulkRoutes,
  ...memberExportRoutes,
  ...memberEntryRoutes,
  ...memberPageRoutes,
  ...labelRoutes,
  ...reportRoutes,
  ...keyRoutes,
  ...webhookEventRoutes,
  ...webhookChannelRoutes,
  ...webhookFormRoutes,
  ...webhookCredentialRoutes,
  ...webhookRoutes,
  ...tryNowRoutes,
  ...resendRoutes,
  ...deliveryRoutes,
  ...auditRoutes,
  ...tryRoutes,
  ...referenceRoutes,
]

export const navigation = routes.filter(({ label }) => label !== undefined)
