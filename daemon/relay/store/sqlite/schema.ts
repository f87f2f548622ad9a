/** The tables of the SQLite store, in words that a person can query. */

/** Goes up with every incompatible change; a newer file is refused, not touched. */
export const schemaVersion = 5

/** What of the outbox could not be used, for a person to look at. */
const setAside = `CREATE TABLE set_aside (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  reason TEXT NOT NULL,
  network_id TEXT,
  endpoint_id TEXT,
  event_id TEXT,
  content TEXT NOT NULL
) STRICT;`
/** Of deliveries in the order of their subjects, and of those that were skipped. */
const subjects = `
CREATE INDEX deliveries_subject ON deliveries (endpoint, subject, event) WHERE state = 'pending' AND subject IS NOT NULL;
CREATE INDEX deliveries_skipped ON deliveries (at) WHERE state = 'skipped';`

export const schema = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;

CREATE TABLE positions (stream TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE endpoints (
  ref INTEGER PRIMARY KEY,
  network_id TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT,
  url TEXT NOT NULL,
  key TEXT NOT NULL,
  secrets TEXT NOT NULL,
  old TEXT,
  old_until INTEGER,
  events TEXT,
  audience TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  "order" TEXT NOT NULL,
  rate_per_second REAL,
  disabled TEXT,
  removed_at INTEGER,
  state TEXT,
  fresh_starts INTEGER NOT NULL DEFAULT 0,
  UNIQUE (network_id, id)
) STRICT;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  event_id TEXT NOT NULL UNIQUE,
  network_id TEXT NOT NULL,
  event_type TEXT NOT NULL,
  event_timestamp TEXT NOT NULL,
  taken INTEGER NOT NULL,
  body BLOB NOT NULL,
  crc INTEGER,
  subject TEXT
) STRICT;

CREATE TABLE deliveries (
  id INTEGER PRIMARY KEY,
  event INTEGER NOT NULL,
  endpoint INTEGER NOT NULL,
  state TEXT NOT NULL,
  lane INTEGER NOT NULL,
  due INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  starts INTEGER NOT NULL DEFAULT 0,
  at INTEGER,
  milliseconds INTEGER,
  status INTEGER,
  outcome TEXT,
  subject TEXT
) STRICT;
CREATE INDEX deliveries_waiting ON deliveries (endpoint, lane, due, id) WHERE state = 'pending';
CREATE INDEX deliveries_dead ON deliveries (at) WHERE state = 'dead';
CREATE INDEX deliveries_event ON deliveries (event);
${subjects}

CREATE TABLE attempts (
  delivery INTEGER NOT NULL,
  number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  milliseconds INTEGER NOT NULL,
  status INTEGER,
  outcome TEXT NOT NULL,
  answer TEXT,
  PRIMARY KEY (delivery, number, at)
) STRICT, WITHOUT ROWID;

CREATE TABLE notices (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  network_id TEXT,
  endpoint_id TEXT,
  event_id TEXT,
  text TEXT NOT NULL
) STRICT;

${setAside}
`

/** What makes tables of a version into those of the next one, by the version that they have. */
export const migrations: Readonly<Record<number, string>> = {
  1: 'ALTER TABLE attempts ADD COLUMN answer TEXT;',
  2: `ALTER TABLE events ADD COLUMN crc INTEGER; ${setAside}`,
  3: `ALTER TABLE endpoints ADD COLUMN fresh_starts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE events ADD COLUMN subject TEXT;
ALTER TABLE deliveries ADD COLUMN subject TEXT;
${subjects}`,
  4: `ALTER TABLE endpoints ADD COLUMN name TEXT; ALTER TABLE endpoints ADD COLUMN old TEXT;
      ALTER TABLE endpoints ADD COLUMN old_until INTEGER;`,
}
