/** The network, who may speak for it, and where its webhooks go. */

import type { AuditAction, AuditSubjectType } from '../../audit-actions.ts'
import { attributeDefaults, attributes } from '../../outbox/endpoint-attributes.ts'
import { columnsOf } from '../columns-of.ts'
import { boolean, defaultsTo, id, integer, json, nullable, type RowIn, table, text, timestamp } from '../table.ts'

/** A network's own row has its own id as `network_id`. */
export const networks = table(
  'networks',
  {
    subdomain: text(),
    title: text(),
    subtitle: defaultsTo(text(), ''),
    purpose: defaultsTo(text(), ''),
    description: defaultsTo(text(), ''),
    /** The plan that the network pays for: it sets the rate limit. */
    service_plan: defaultsTo(text<'standard' | 'premium' | 'unlimited'>(), 'standard'),
    /** Whether that plan shows members' e-mail addresses (interface.md, 7.3). */
    member_email_visibility: defaultsTo(boolean(), false),
    /** Whether its writes are refused. */
    read_only: defaultsTo(boolean(), false),
  },
  { unique: [['subdomain']], global: true },
)

export const apiKeys = table(
  'api_keys',
  {
    name: text(),
    /** SHA-256 of the token, in hex. The token itself is stored nowhere. */
    token_hash: text(),
    /** The token's first and last characters, for lists. */
    redacted: text(),
    scopes: json<readonly string[]>(),
    /** The member who acts when the key is used. */
    member_id: id(),
    expires_at: nullable(timestamp()),
    revoked_at: nullable(timestamp()),
    /** Kept to the minute. */
    last_used_at: nullable(timestamp()),
  },
  { unique: [['token_hash']], indexes: [['network_id']], global: true },
)

/** Its columns are the attributes of `lib/outbox/endpoint-attributes.ts`, in that order, and what no relay needs. */
export const webhookEndpoints = table('webhook_endpoints', {
  ...columnsOf(attributes, attributeDefaults),
  /** The public halves of its signing secrets. */
  public_keys: nullable(json<readonly string[]>()),
})

/** Changes of keys, endpoints and networks, and work that people requested of the relay. Its time is `created_at`. */
export const audit = table(
  'audit',
  {
    /** A name that the host gives; `host` by default, `cli:USER` for commands. */
    actor: text(),
    /** The network address of the actor's client. */
    address: nullable(text()),
    action: text<AuditAction>(),
    subject_type: text<AuditSubjectType>(),
    /** Not only of records: a delivery has an id of the relay. */
    subject_id: text(),
    /** Its name at that time. */
    subject_name: nullable(text()),
    /** Changed fields and their values, without secrets. */
    details: json<Readonly<Record<string, unknown>>>(),
  },
  { indexes: [['actor'], ['action'], ['actor', 'action'], ['subject_type', 'subject_id']], appendOnly: true },
)

/** The first responses to requests with an `Idempotency-Key`. */
export const idempotencyKeys = table(
  'idempotency_keys',
  {
    /** The API key that sent it, or the host's name for its own. */
    caller: text(),
    key: text(),
    /** Operation, path and body, hashed: what the key was first used for. */
    fingerprint: text(),
    status: integer(),
    body: text(),
  },
  { unique: [['caller', 'key']] },
)

/** A network as it is stored. */
export type NetworkRow = RowIn<typeof networks>
/** An API key as it is stored: its token as a hash. */
export type ApiKeyRow = RowIn<typeof apiKeys>
/** A webhook endpoint as it is stored: key and secrets perhaps encrypted. */
export type EndpointRow = RowIn<typeof webhookEndpoints>
export type AuditRow = RowIn<typeof audit>
