/** One line of the audit, on its way into the table and out of it. */

import type { AuditAction, AuditSubjectType } from '../../audit-actions.ts'
import type { HostTx } from '../../storage/scoped.ts'
import type { Id } from '../../storage/table.ts'
import { type AuditRow, audit } from '../../storage/tables/administration.ts'
import { type Details, detailsOf, plainText } from './details.ts'

/** The person or program behind a change. */
export interface Actor {
  /** A name that the host gives, such as an e-mail address. */
  readonly actor: string
  /** The network address of their client, if the host has it. */
  readonly address?: string
}

/** The subject of a line. */
export interface AuditSubject {
  /** What kind of thing it is, such as `endpoint`. */
  readonly type: AuditSubjectType
  /** The id of the network, key or endpoint; of a delivery the relay's. */
  readonly id: string
  /** Its name at that time: of an endpoint without one the host of its URL. */
  readonly name: string | null
}

/** An action and its subject; the network, the time and the actor come by themselves. */
export interface AuditLine {
  readonly action: AuditAction
  readonly subject: AuditSubject
  readonly details?: Details
}

/** A line as it is read. */
export interface AuditEntry {
  /** Of the entry, not of its subject. */
  readonly id: Id
  /** The network that it is about. */
  readonly network_id: Id
  /** ISO 8601, UTC. */
  readonly at: string
  /** `host` if the host gave no name; `cli:USER` for a command. */
  readonly actor: string
  /** The network address of the actor's client; null if the host gave none. */
  readonly address: string | null
  /** What was done, such as `key.revoked`. */
  readonly action: AuditAction
  /** What it was done to. */
  readonly subject: AuditSubject
  /** Of a changed field `from` and `to`. Of a credential only that it changed. */
  readonly details: Details
}

/** The host, where it names no one. */
export const hostActor: Actor = { actor: 'host' }

export const mostActorCharacters = 500
const mostAddressCharacters = 100
const mostNameCharacters = 300
const mostIdCharacters = 200

export const actorText = (actor: string): string => plainText(actor, mostActorCharacters)
export const subjectIdText = (id: string): string => plainText(id, mostIdCharacters)

/** Adds a line. Texts are bounded, and control characters are written out, whatever the host gives. */
export async function addLine(tx: HostTx, id: Id, now: string, by: Actor, line: AuditLine): Promise<AuditEntry> {
  const { action, subject, details = {} } = line
  const row = await tx.insert(audit, {
    ...{ id, created_at: now, updated_at: now, action },
    actor: actorText(by.actor),
    address: by.address === undefined ? null : plainText(by.address, mostAddressCharacters),
    subject_type: subject.type,
    subject_id: subjectIdText(subject.id),
    subject_name: subject.name === null ? null : plainText(subject.name, mostNameCharacters),
    details: detailsOf(details),
  })
  return entryOf(row)
}

export const entryOf = ({ id, network_id, created_at, actor, address, action, details, ...row }: AuditRow): AuditEntry => ({
  ...{ id, network_id, at: created_at, actor, address, action },
  subject: { type: row.subject_type, id: row.subject_id, name: row.subject_name },
  details,
})
