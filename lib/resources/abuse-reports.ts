import { paged } from '../fields.ts'
import { operation } from '../operation.ts'
import { AbuseReport } from '../records/abuse-report.ts'
import { abuseReports } from '../storage/tables/content.ts'

export const listAbuseReports = operation({
  id: 'abuse_reports.list',
  method: 'GET',
  path: '/abuse_reports',
  scope: 'abuse_reports:read',
  summary: 'List the abuse reports of the network.',
  description:
    'Reports that members made of posts, comments, spaces or other members, as the host has passed them on. The API neither makes nor dismisses one.',
  returns: paged(AbuseReport),
  handle: ({ page }) => page(abuseReports),
})
