/** The audit: changes of keys, endpoints and networks, who made them, when, and from which address. Lines are added only. */
import * as v from 'valibot'
import { type AuditAction, type AuditSubjectType, auditActions, auditSubjectTypes } from '../../audit-actions.ts'
import { isoTime } from '../../base/clock.ts'
import { compareIds, idAt, idGenerator, isStorableId } from '../../base/ids.ts'
import { fail, invalid } from '../../errors.ts'
import { integerBetween, oneOf, optional, TimestampInput } from '../../fields.ts'
import type { Settings } from '../../settings.ts'
import type { Where } from '../../storage/contract.ts'
import { rowsOf } from '../../storage/rows-of.ts'
import type { ScopedTx } from '../../storage/scoped.ts'
import type { Id } from '../../storage/table.ts'
import { type AuditRow, audit } from '../../storage/tables/administration.ts'
import { checkArgument, NetworkName, recordOf, shape } from '../arguments.ts'
import type { Networks } from '../networks.ts'
import type { Changes } from './changes.ts'
import type { Details } from './details.ts'
import { type Actor, type AuditEntry, actorText, entryOf, mostActorCharacters, subjectIdText } from './line.ts'

/** Work outside of a transaction of the storage, such as a relay's. Only its callers can report it. */
const workActions = [
  'endpoint.tested',
  'endpoint.circuit_closed',
  'endpoint.enabled',
  'endpoint.disabled',
  'deliveries.resent',
  'deliveries.resend_stopped',
  'deliveries.skipped',
  'members.consent',
  'member.added',
  'member.invited',
  'tag.updated',
  'tag.deleted',
  'badge.updated',
  'badge.deleted',
  'network.pulled',
  'network.restored',
] as const satisfies readonly AuditAction[]

/** Before work its intent, and after work its failure. */
const stages = ['work.requested', 'work.failed'] as const satisfies readonly AuditAction[]

export type WorkAction = (typeof workActions)[number]

/** The entries to list. All conditions must hold. */
export interface AuditQuery {
  /** The network, by id or subdomain. */
  readonly network: Id | number
  /** Only entries of this actor, exactly as recorded: `host`, `cli:USER`, or the text given to `by`. */
  readonly actor?: string
  /** Only entries of this action, such as `key.revoked`. */
  readonly action?: AuditAction
  /** Only entries about this network, key, endpoint or delivery. */
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
  readonly cursor?: string | undefined
}

/** A page of entries. */
export interface AuditPage {
  /** At most `per_page` entries, in the order of the query. */
  readonly items: readonly AuditEntry[]
  /** The `cursor` of the next page; null on the last. A page before it need not be full. */
  readonly next: string | null
}

/** Work that was requested, and that is no change of a key, an endpoint or a network: mostly a relay's. */
export interface RelayRecord {
  /** The network, by id or subdomain. */
  readonly network: Id | number
  /** `work.requested` before the work, `work.failed` after it if nothing or only a part was done. */
  readonly action: WorkAction | (typeof stages)[number]
  /** What the work is about; `name` is recorded as its name at that time. */
  readonly subject: { readonly type: AuditSubjectType; readonly id: string; readonly name?: string }
  /** More about it, without secrets: at most 8,000 characters of JSON are kept. */
  readonly details?: Details
  /** The same for every line of the same work: 1 to 100 characters. It is `work_id` of the details. */
  readonly work_id?: string
  /**
   * The moment of the line, ISO 8601, if it is past. It goes with `work_id`: a line of the same work with the same action is added
   * once.
   */
  readonly at?: string
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
   * themselves. Work that must not go unseen gets an entry `work.requested` before it begins.
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
  action: oneOf(...workActions, ...stages),
  subject: shape({ ...subject, name: optional(v.string('must be a text')) }),
  details: optional(recordOf(v.unknown())),
  work_id: optional(name(100)),
  at: optional(TimestampInput),
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

export function auditOf({ clock, limits, chance }: Settings, changes: Changes, networks: Networks): Audit {
  return {
    async list(given) {
      const { network, ...query } = checkArgument('audit.list', Query, given, limits)
      const { id } = await networks.show(network)
      return changes.read(id, (tx) => pageOf(tx, query))
    },
    async record(given) {
      const { network, action, subject, details, work_id, at } = checkArgument('audit.record', Entry, given, limits)
      if (at !== undefined && work_id === undefined) fail(invalid('work_id'), 'work_id is required with at')
      const { id } = await networks.show(network)
      const now = isoTime(clock.now())
      const whole = { ...details, ...(work_id === undefined ? {} : { work_id }) }
      const line = { action, subject: { ...subject, name: subject.name ?? null }, details: whole }
      // A line of the future would come before all others for as long.
      const moment = at === undefined || at > now ? now : at
      const isLate = moment !== now
      const work = async (tx: ScopedTx) => {
        const isThere = isLate && (await hasLine(tx, action, moment, work_id))
        return { result: undefined, audit: isThere ? [] : [line] }
      }
      const ofThen = idGenerator({ now: () => Date.parse(moment) }, chance)
      await changes.change(id, moment, work, { lineId: isLate ? ofThen : undefined, isAlways: true })
    },
  }
}

async function hasLine(tx: ScopedTx, action: AuditAction, at: string, work_id: string | undefined): Promise<boolean> {
  const last = idAt(Date.parse(at) + slackMs)
  for await (const row of rowsOf(tx, audit, { action }, { after: String(Number(idAt(Date.parse(at))) - 1) })) {
    if (compareIds(row.id, last) > 0) return false
    if (row.created_at === at && row.details['work_id'] === work_id) return true
  }
  return false
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
