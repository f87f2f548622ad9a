/** Moves events out of the outbox table into the store, by one statement: a relay that stops before or after it holds no lock. */
import { quoted } from '../../../../adapters/sql/dialect.ts'
import type { Addressed } from '../endpoint/endpoint-index.ts'
import { number, textOrNull } from '../rows.ts'
import { durably, type PostgresDatabase } from './database.ts'
import { insertion, valuesOf } from './events.ts'

/** Commits as they were read, which hold nothing but events. */
export interface ReadCommits {
  /** Their places in the outbox. */
  readonly places: readonly number[]
  readonly events: readonly Addressed[]
  /** The version up to which the endpoints are known that the events go to. */
  readonly known: number
}

/**
 * Nothing happens unless all is as it was read: no transaction holds the version, no endpoint has changed, and the commits are still there. The
 * statement sees the database as it was when it began. So the version has to be the one of then: every ingest changes it.
 *
 * ?17: the version of the endpoints. ?18: places in the outbox.
 */
const moving = (outbox: string) => `
  WITH free AS (
    SELECT m.name FROM $schema.meta m
    WHERE m.name = 'version' AND m.value = (SELECT value FROM $schema.meta WHERE name = 'version') FOR UPDATE OF m SKIP LOCKED),
  held AS (
    UPDATE $schema.meta m SET value = m.value + 1 FROM free
    WHERE m.name = free.name AND NOT EXISTS (SELECT 1 FROM $schema.endpoints WHERE defined > ?17::bigint)
      AND (SELECT count(*) FROM ${outbox} WHERE "seq" = ANY (?18::bigint[])) = cardinality(?18::bigint[])
    RETURNING m.value AS version),
  claimed AS (DELETE FROM ${outbox} o USING held WHERE o."seq" = ANY (?18::bigint[])),
  ${insertion(', held')},
  touched AS (
    UPDATE $schema.leases l SET touched = held.version FROM held WHERE l.endpoint = ANY (ARRAY (SELECT endpoint FROM addressed)))
  SELECT version, (SELECT array_to_json(array_agg(event_id)) FROM given WHERE event_id NOT IN (SELECT event_id FROM fresh)) AS present,
    ${durably} FROM held`

/**
 * Moves commits out of the outbox into the store.
 * @returns `undefined` when something was in the way; else the version, and the ids of events that were there before
 */
export async function moveEvents(
  database: PostgresDatabase,
  { places, events, known }: ReadCommits,
  received_at: number,
  due: number,
): Promise<{ readonly version: number; readonly present: ReadonlySet<string> } | undefined> {
  const outbox = `${quoted(database.schema)}."outbox"`
  const [moved] = await database.rows(moving(outbox), [...valuesOf(events, received_at, due), known, places])
  if (!moved) return undefined
  const present = textOrNull(moved, 'present')
  return { version: number(moved, 'version'), present: new Set(present === null ? [] : (JSON.parse(present) as string[])) }
}
