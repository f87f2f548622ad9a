/** The words of the audit. A file without imports, because the help of commands loads it. */

export const auditActions = [
  'network.created',
  'network.updated',
  'network.pulled',
  'network.restored',
  'key.created',
  'key.revoked',
  'endpoint.added',
  'endpoint.updated',
  'endpoint.deleted',
  'endpoint.enabled',
  'endpoint.disabled',
  'endpoint.token_rotated',
  'endpoint.secrets_rotated',
  'endpoint.revealed',
  'endpoint.tested',
  'endpoint.circuit_closed',
  'endpoints.republished',
  'members.consent',
  'members.imported',
  'members.bulk',
  'member.added',
  'member.invited',
  'member.banned',
  'member.removed',
  'member.role_changed',
  'member.unbanned',
  'member.erased',
  'member.exported',
  'export.true_addresses',
  'tag.created',
  'tag.updated',
  'tag.merged',
  'tag.deleted',
  'badge.updated',
  'badge.deleted',
  'report.closed',
  'deliveries.resent',
  'deliveries.resend_stopped',
  'deliveries.skipped',
  'work.requested',
  'work.failed',
] as const

/** The action of an entry of the audit. */
export type AuditAction = (typeof auditActions)[number]

export const auditSubjectTypes = ['network', 'key', 'endpoint', 'delivery', 'member', 'tag', 'badge', 'report'] as const

/** The kind of subject of an entry. */
export type AuditSubjectType = (typeof auditSubjectTypes)[number]
