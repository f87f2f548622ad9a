/**
 * Every page of the panel. The first match is used, so fixed paths come before those with parameters. The navigation has the
 * same order.
 */
import type { Route } from '../route.ts'
import { auditRoutes } from './audit.ts'
import { deliveryRoutes } from './deliveries.ts'
import { importRoutes } from './import.ts'
import { keyRoutes } from './keys.ts'
import { labelRoutes } from './labels.ts'
import { memberPageRoutes } from './member.ts'
import { memberBulkRoutes } from './member-bulk.ts'
import { memberExportRoutes } from './member-export.ts'
import { memberEntryRoutes } from './member-new.ts'
import { memberRoutes } from './members.ts'
import { overviewRoutes } from './overview.ts'
import { readOnlyRoutes } from './read-only.ts'
import { referenceRoutes } from './reference.ts'
import { reportRoutes } from './reports.ts'
import { resendRoutes } from './resends.ts'
import { tryRoutes } from './try.ts'
import { tryNowRoutes } from './try-now.ts'
import { webhookChannelRoutes } from './webhook-channel.ts'
import { webhookCredentialRoutes } from './webhook-credentials.ts'
import { webhookEventRoutes } from './webhook-events.ts'
import { webhookFormRoutes } from './webhook-form.ts'
import { webhookRoutes } from './webhooks.ts'

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

/** The pages of the navigation. */
export const navigation = routes.filter(({ label }) => label !== undefined)
