/** The audit: changes of keys, endpoints and networks, who made them, when, and from which address. Lines are added only. */
import * as v from 'valibot'
import { isoTime } from '../../base/clock.ts'
import { compareIds, idAt, isStorableId } from '../../base/ids.ts'
import { integerBetween, oneOf, optional, TimestampInput } from '../../fields.ts'
import type { Settings } from '../../settings.ts'
import { type AuditAction, type AuditSubjectType, auditActions, auditSubjectTypes } from '../../storage/audit-actions.ts'
import type { Where } from '../../storage/contract.ts'
import type { ScopedTx } from '../../storage/scoped.ts'
import type { Id } from '../../storage/table.ts'
import { type AuditRow, audit } from '../../storage/tables/administration.ts'
import { checkArgument, NetworkName, shape } from '../arguments.ts'
import type { Networks } from '../networks.ts'
import type { Changes } from './changes.ts'
import type { Details } from './details.ts'
import { type Actor, type AuditEntry, actorText, entryOf, mostActorCharacters, subjectIdText } from './line.ts'

/** The actions that happen at a relay, of which only their callers can tell. */
const relayActions = [
  'endpoint.tested',
  'endpoint.enabled',
  'endpoint.disabled',
  'deliveries.resent',
  'deliveries.resend_stopped',
  'deliveries.skipped',
] as const satisfies readonly AuditAction[]

/** The entries to list. All conditions must hold. */
export interface AuditQuery {
  /** The network, by id or subdomain. */
  readonly network: Id | number
  readonly actor?: string
  readonly action?: AuditAction
  readonly subject?: { readonly type: AuditSubjectType; readonly id: string }
  /** The first moment, ISO 8601. */
  readonly from?: string
  /** The moment after the last one, ISO 8601. */
  readonly to?: string
  /** `newest` first by default. */
  readonly order?: 'newest' | 'oldest'
  /** Entries of a page: from 1 to 100, 50 by default. */
  readonly per_page?: number
  /** `next` of the page before. */
  readonly cursor?: string
}

/** A page of entries. */
export interface AuditPage {
  readonly items: readonly AuditEntry[]
  /** The `cursor` of the next page; null on the last. A page before it need not be full. */
  readonly next: string | null
}

/** Work of a relay that somebody asked for. */
export interface RelayRecord {
  /** The network, by id or subdomain. */
  readonly network: Id | number
  readonly action: (typeof relayActions)[number]
  readonly subject: { readonly type: AuditSubjectType; readonly id: string; readonly name?: string }
  /** More about it, without secrets: at most 8,000 characters of JSON are kept. */
  readonly details?: Details
}

/** The calls about the audit. Nothing changes or removes an entry. */
export interface Audit {
  /**
   * A page of a network's entries.
   * @throws ApiError 404 when there is no such network, 422 when a value is refused
   */
  list(query: AuditQuery): Promise<AuditPage>
  /**
   * Adds an entry about a resend, a test or another work of a relay. Changes of keys, endpoints and networks add theirs by
   * themselves.
   * @throws ApiError 404 when there is no such network, 422 when a value is refused
   */
  record(entry: RelayRecord): Promise<void>
}

const name = (most: number) => {
  const rule = `must be a text of 1 to ${most} characters`
  return v.pipe(v.string(rule), v.minLength(1, rule), v.maxLength(most, rule))
}
const cursorRule = 'must be the `next` of a page'
const subject = { type: oneOf(...auditSubjectTypes), id: name(200) }
const Query = shape({
  network: NetworkName,
  actor: optional(name(mostActorCharacters)),
  action: optional(oneOf(...auditActions)),
  subject: optional(shape(subject)),
  from: optional(TimestampInput),
  to: optional(TimestampInput),
  order: optional(oneOf('newest', 'oldest')),
  per_page: optional(integerBetween(1, 100)),
  cursor: optional(v.pipe(v.string(cursorRule), v.check(isStorableId, cursorRule))),
})
const Entry = shape({
  network: NetworkName,
  action: oneOf(...relayActions),
  subject: shape({ ...subject, name: optional(v.string('must be a text')) }),
  details: optional(v.record(v.string(), v.unknown(), 'must be an object')),
})
const By = shape({ actor: name(mostActorCharacters), address: optional(v.string('must be a text')) })

/**
 * The actor of a call, checked.
 * @throws TypeError, ApiError 422
 */
export function actorOf(given: unknown, limits: Settings['limits']): Actor {
  const { actor, address } = checkArgument('by', By, given, limits)
  return { actor, ...(address === undefined ? {} : { address }) }
}

/** Rows that one page may leave out. Then it is not full, and there is a next one. */
const mostLooked = 10_000
/** If the clock goes back, new ids are ahead of their time by as much. */
const slackMs = 60_000

export function auditOf({ clock, limits }: Settings, changes: Changes, networks: Networks): Audit {
  return {
    async list(given) {
      const { network, ...query } = checkArgument('audit.list', Query, given, limits)
      const { id } = await networks.show(network)
      return changes.read(id, (tx) => pageOf(tx, query))
    },
    async record(given) {
      const { network, action, subject, details } = checkArgument('audit.record', Entry, given, limits)
      const { id } = await networks.show(network)
      const line = { action, subject: { ...subject, name: subject.name ?? null }, ...(details ? { details } : {}) }
      await changes.change(id, isoTime(clock.now()), async () => ({ result: undefined, audit: [line] }))
    },
  }
}

/** Ids ascend with time, so a list of a time is a list of ids, and the index of the conditions has them in order. */
async function pageOf(tx: Pick<ScopedTx, 'find'>, query: Omit<v.InferOutput<typeof Query>, 'network'>): Promise<AuditPage> {
  const { actor, action, subject, from, to, order, per_page = 50, cursor } = query
  const by: Where<AuditRow> = {
    ...(actor === undefined ? {} : { actor: actorText(actor) }),
    ...(action === undefined ? {} : { action }),
  }
  // A subject has few lines: they are found by its index, and the other conditions are looked at here.
  const where = subject ? { subject_type: subject.type, subject_id: subjectIdText(subject.id) } : by
  const isNewest = order !== 'oldest'
  const least = from === undefined ? undefined : idAt(Date.parse(from))
  const most = to === undefined ? undefined : idAt(Date.parse(to) + slackMs)
  const isOver = (id: Id): boolean =>
    isNewest ? least !== undefined && compareIds(id, least) < 0 : most !== undefined && compareIds(id, most) >= 0
  const isWanted = (row: AuditRow): boolean =>
    !(from && row.created_at < from) &&
    !(to && row.created_at >= to) &&
    (by.actor === undefined || row.actor === by.actor) &&
    (action === undefined || row.action === action)
  const items: AuditEntry[] = []
  let after = startOf(isNewest, cursor, isNewest ? most : least)
  for (let looked = 0; looked < mostLooked; looked += per_page) {
    const rows = await tx.find(audit, {
      where,
      order: { by: 'id', direction: isNewest ? 'desc' : 'asc' },
      limit: per_page + 1,
      ...(after === undefined ? {} : { after }),
    })
    for (const row of rows) {
      if (isOver(row.id)) return { items, next: null }
      if (isWanted(row) && items.length === per_page) return { items, next: after ?? null }
      if (isWanted(row)) items.push(entryOf(row))
      after = row.id
    }
    if (rows.length <= per_page) return { items, next: null }
  }
  return { items, next: after ?? null }
}

/** The id after which a page begins: the cursor, or the bound of its time if that comes later in the order. */
function startOf(isNewest: boolean, cursor: Id | undefined, bound: Id | undefined): Id | undefined {
  // The first id of a time is part of it.
  const start = bound === undefined || isNewest ? bound : String(Number(bound) - 1)
  if (start === undefined || start.startsWith('-')) return cursor
  if (cursor === undefined) return start
  return isNewest === compareIds(cursor, start) < 0 ? cursor : start
}
