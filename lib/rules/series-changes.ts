/**
 * What happens to the data about single occurrences, answers and cancellations, when a series changes. It belongs to a moment, not
 * to a position in the series:
 *
 * 1. What still is an occurrence at the same moment stays.
 * 2. If the start or the zone changes and the rule does not, the rest moves along, to moments that were no occurrences before.
 * 3. What is left goes.
 */
import { clocksOf, dayMilliseconds, type ZoneClocks } from '../base/date-time.ts'
import type { Emitter } from '../call.ts'
import type { Context } from '../context.ts'
import { batchesOf, rowsOf } from '../storage/rows-of.ts'
import { canceledInstances, type EventRow, type RsvpRow, rsvps } from '../storage/tables/events.ts'
import { occurrencesAt, seriesOf } from './recurrence.ts'
import { presentRsvps, publicRsvp } from './rsvps.ts'

/** The columns that decide when occurrences begin. */
const decisive = [
  ...(['starts_at', 'time_zone', 'frequency', 'interval', 'by_days', 'by_month_days'] as const),
  ...(['recurrence_count', 'recur_until'] as const),
]

/** Where the data about a moment belongs in the changed event: empty for the whole of it, `undefined` for nowhere. */
type TargetOf = (instance_at: string) => string | undefined

/**
 * Moves the answers to single occurrences and their cancellations to where the changed event has them, and removes the others.
 * The event is locked with `update`, so that no member answers at the same time.
 */
export async function keepOccurrences(
  call: Emitter<'RsvpUpdated' | 'RsvpDeleted'>,
  before: EventRow,
  after: EventRow,
): Promise<void> {
  // What is said about an event that takes place once is said about the whole of it.
  if (before.frequency === null || decisive.every((name) => before[name] === after[name])) return
  const targetOf = targetsOf(call, before, after, await momentsOf(call, before))
  for await (const rows of batchesOf(call.tx, rsvps, { event_id: before.id })) {
    const [moved, gone] = await moveAnswers(call, rows, targetOf)
    const former = new Map(rows.map((row) => [row.id, publicRsvp(row)]))
    const now = new Map(moved.map((row) => [row.id, publicRsvp(row)]))
    for (const record of await presentRsvps(call, after, moved))
      call.emit('RsvpUpdated', record, [former.get(record.id) ?? {}, now.get(record.id) ?? {}])
    for (const record of await presentRsvps(call, after, gone, before)) call.emit('RsvpDeleted', record)
  }
  for await (const { id, instance_at } of rowsOf(call.tx, canceledInstances, { event_id: before.id })) {
    const target = targetOf(instance_at)
    // The whole of an event is no occurrence that could be canceled.
    if (!target) await call.tx.remove(canceledInstances, id)
    else if (target !== instance_at) await call.tx.update(canceledInstances, id, { instance_at: target, ...call.touch() })
  }
}

/** The moments about which something is known. They are no more than a series has occurrences that can be answered for. */
async function momentsOf({ tx }: Pick<Context, 'tx'>, { id: event_id }: EventRow): Promise<ReadonlySet<string>> {
  const moments = new Set<string>()
  for await (const { instance_at } of rowsOf(tx, rsvps, { event_id })) moments.add(instance_at)
  for await (const { instance_at } of rowsOf(tx, canceledInstances, { event_id })) moments.add(instance_at)
  moments.delete('')
  return moments
}

async function moveAnswers(
  { tx, touch }: Pick<Context, 'tx' | 'touch'>,
  rows: readonly RsvpRow[],
  targetOf: TargetOf,
): Promise<readonly [moved: readonly RsvpRow[], gone: readonly RsvpRow[]]> {
  const moved: RsvpRow[] = []
  const gone: RsvpRow[] = []
  for (const { id, event_id, member_id, instance_at } of rows) {
    const target = instance_at === '' ? '' : targetOf(instance_at)
    if (target === instance_at) continue
    // The member may have answered for the whole of the event already.
    const isKept = target !== undefined && (target !== '' || !(await tx.first(rsvps, { event_id, member_id, instance_at: '' })))
    const row = isKept ? await tx.update(rsvps, id, { instance_at: target, ...touch() }) : await tx.remove(rsvps, id)
    // Without a row, the member has left and the answer was removed with them.
    if (row) (isKept ? moved : gone).push(row)
  }
  return [moved, gone]
}

function targetsOf(context: Pick<Context, 'ports'>, before: EventRow, after: EventRow, moments: ReadonlySet<string>): TargetOf {
  // An event that takes place once has no occurrences to distinguish: what is said about its start is said about the whole of it.
  if (after.frequency === null) return (moment) => (moment === after.starts_at ? '' : undefined)
  const stays = occurrencesAt(context, after, [...moments])
  if (!isSameRule(before, after)) return (moment) => (stays.has(moment) ? moment : undefined)
  const others = [...moments].filter((moment) => !stays.has(moment))
  const moves = movesOf(context, before, after, others)
  return (moment) => (stays.has(moment) ? moment : moves.get(moment))
}

/** Whether two events come round alike, whenever they begin and end. */
function isSameRule(before: EventRow, after: EventRow): boolean {
  const [one, other] = [before, after].map((event) => {
    const { frequency, interval, by_days = [], by_month_days = [] } = seriesOf(event) ?? {}
    return JSON.stringify([frequency, interval, by_days.toSorted(), by_month_days.toSorted()])
  })
  return one === other
}

/** Where moments move that are no occurrences any more. A moment that was an occurrence before is taken: it stays or goes itself. */
function movesOf(
  context: Pick<Context, 'ports'>,
  before: EventRow,
  after: EventRow,
  moments: readonly string[],
): ReadonlyMap<string, string> {
  const shifted = shiftOf(context, before, after)
  const earlier = occurrencesAt(context, before, moments)
  // No two of them move to the same moment, whatever a port of the host takes for an occurrence.
  const sources = new Map<string, string>()
  for (const moment of earlier.keys()) {
    const target = shifted(moment)
    if (target !== undefined && !sources.has(target)) sources.set(target, moment)
  }
  const targets = [...sources.keys()]
  const taken = occurrencesAt(context, before, targets)
  const free = [...occurrencesAt(context, after, targets).keys()].filter((target) => !taken.has(target))
  return new Map(free.flatMap((target) => [[sources.get(target) ?? '', target] as const]))
}

/**
 * How a start or a zone moves the occurrences of an unchanged rule. If the two series have dates in common, as after a start a week
 * and an hour later, an occurrence keeps its date and takes the new time of day. Else all move as far as the start, on the clocks.
 */
function shiftOf(context: Pick<Context, 'ports'>, before: EventRow, after: EventRow): (moment: string) => string | undefined {
  const [from, to] = [clocksOf(before.time_zone), clocksOf(after.time_zone)]
  const [start, begins] = [from.shown(Date.parse(before.starts_at)), to.shown(Date.parse(after.starts_at))]
  const days = Math.floor(begins / dayMilliseconds) - Math.floor(start / dayMilliseconds)
  const offset = begins - start
  const later = offset - days * dayMilliseconds
  if (days !== 0 && haveCommonDates(context, before, after, later))
    return (moment) => from.momentOf(from.shown(Date.parse(moment)) + later)
  // The start is a known moment, even if the clocks show its time twice.
  return (moment) => (moment === before.starts_at ? after.starts_at : to.momentOf(from.shown(Date.parse(moment)) + offset))
}

/** How many occurrences are compared with those of another series. */
const compared = 100

/** Whether the clocks of two zones show the same, in each of the 240 months from a moment on. Engines differ in the names of zones. */
function areAlike(from: ZoneClocks, to: ZoneClocks, moment: number): boolean {
  const months = Array.from({ length: 240 }, (_, month) => moment + month * 30 * dayMilliseconds)
  return months.every((time) => from.shown(time) === to.shown(time))
}

/**
 * Whether two series have dates in common. In different zones they have none: Tuesday morning in Tokyo is Monday evening in Berlin.
 * @param later how much later in the day the second one begins, in milliseconds
 */
function haveCommonDates(context: Pick<Context, 'ports'>, one: EventRow, other: EventRow, later: number): boolean {
  const [from, to] = [clocksOf(one.time_zone), clocksOf(other.time_zone)]
  if (one.time_zone !== other.time_zone && !areAlike(from, to, Date.parse(one.starts_at))) return false
  if (one.starts_at > other.starts_at) return haveCommonDates(context, other, one, -later)
  const { shown, momentOf } = from
  const series = seriesOf(other)
  const starts = (series && context.ports.recurrence?.expand(series, { limit: compared })) ?? []
  const onDates = starts.flatMap((moment) => momentOf(shown(Date.parse(moment)) - later) ?? [])
  return occurrencesAt(context, one, onDates).size > 0
}
