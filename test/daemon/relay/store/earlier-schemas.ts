/** The relay's stores as earlier versions made them, word for word, with a row or more in every table. They are never changed. */

/** SQLite, version 5. */
export const sqliteVersion5 = `
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
CREATE INDEX deliveries_subject ON deliveries (endpoint, subject, event) WHERE state = 'pending' AND subject IS NOT NULL;
CREATE INDEX deliveries_skipped ON deliveries (at) WHERE state = 'skipped';
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
CREATE TABLE set_aside (
  seq INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  reason TEXT NOT NULL,
  network_id TEXT,
  endpoint_id TEXT,
  event_id TEXT,
  content TEXT NOT NULL
) STRICT;
PRAGMA user_version = 5;
`

/** PostgreSQL, version 4. `$schema` stands for the schema of the relays. */
export const postgresVersion4 = `
CREATE SCHEMA $schema;
CREATE TABLE $schema.meta (name text PRIMARY KEY, value bigint NOT NULL);
CREATE TABLE $schema.relays (
  id text PRIMARY KEY,
  host text NOT NULL,
  process json NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  in_flight bigint[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);
CREATE TABLE $schema.endpoints (
  ref bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  network_id text NOT NULL,
  id text NOT NULL,
  name text,
  url text NOT NULL,
  key text NOT NULL,
  secrets text NOT NULL,
  old text,
  old_until bigint,
  events text,
  audience text NOT NULL,
  enabled boolean NOT NULL,
  "order" text NOT NULL,
  rate_per_second double precision,
  disabled text,
  removed_at bigint,
  state text,
  defined bigint NOT NULL,
  fresh_starts bigint NOT NULL DEFAULT 0,
  UNIQUE (network_id, id)
);
CREATE INDEX endpoints_defined ON $schema.endpoints (defined);
CREATE TABLE $schema.leases (
  endpoint bigint PRIMARY KEY,
  relay text,
  touched bigint NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX leases_free ON $schema.leases (endpoint) WHERE relay IS NULL;
CREATE TABLE $schema.events (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id text NOT NULL UNIQUE,
  network_id text NOT NULL,
  event_type text NOT NULL,
  event_timestamp text NOT NULL,
  taken bigint NOT NULL,
  body text NOT NULL,
  crc bigint,
  subject text
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE TABLE $schema.deliveries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event bigint NOT NULL,
  endpoint bigint NOT NULL,
  state text NOT NULL,
  lane smallint NOT NULL,
  due bigint NOT NULL,
  attempts integer NOT NULL DEFAULT 0,
  starts integer NOT NULL DEFAULT 0,
  at bigint,
  milliseconds integer,
  status integer,
  outcome text,
  subject text
) WITH (autovacuum_vacuum_scale_factor = 0.02);
CREATE INDEX deliveries_waiting ON $schema.deliveries (endpoint, lane, due, id) WHERE state = 'pending';
CREATE INDEX deliveries_dead ON $schema.deliveries (at) WHERE state = 'dead';
CREATE INDEX deliveries_event ON $schema.deliveries (event);
CREATE INDEX deliveries_subject ON $schema.deliveries (endpoint, subject, event) WHERE state = 'pending' AND subject IS NOT NULL;
CREATE INDEX deliveries_skipped ON $schema.deliveries (at) WHERE state = 'skipped';
CREATE TABLE $schema.attempts (
  delivery bigint NOT NULL,
  number integer NOT NULL,
  at bigint NOT NULL,
  milliseconds integer NOT NULL,
  status integer,
  outcome text NOT NULL,
  answer text,
  PRIMARY KEY (delivery, number, at)
);
CREATE TABLE $schema.notices (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL,
  kind text NOT NULL,
  network_id text,
  endpoint_id text,
  event_id text,
  text text NOT NULL
);
CREATE TABLE $schema.set_aside (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL,
  reason text NOT NULL,
  network_id text,
  endpoint_id text,
  event_id text,
  content text NOT NULL
);
INSERT INTO $schema.meta (name, value) VALUES ('version', 7), ('schema_version', 4);
INSERT INTO $schema.relays (id, host, process, expires_at, in_flight)
  VALUES ('dead', 'elsewhere', '{"pid": 1, "started": null, "boot": "another", "namespace": null}', now() - interval '1 hour', '{1}');
`

const state = JSON.stringify({
  breaker: { open: false, openedAt: 0, trips: 0, failures: 2, witnesses: [1], probed: null },
  pausedUntil: 0,
  lastSuccess: 1500,
  failingSince: null,
  lastFailure: null,
  lastError: null,
  fresh_starts: 3,
})
const old = `{"old_keys":[{"value":"old-key","until":"2100-01-01T00:00:00.000Z"}],"old_secrets":[]}`

/**
 * Rows for both.
 * @param is how a boolean is written
 * @param body how the body of an event is written
 * @param given lets rows have numbers that the engine would give by itself
 */
const rows = (prefix: string, is: (value: boolean) => string, body: (text: string) => string, given: string) => `
INSERT INTO ${prefix}endpoints (ref, network_id, id, name, url, key, secrets, old, old_until, events, audience, enabled, "order",
  rate_per_second, disabled, removed_at, state, fresh_starts$defined) ${given} VALUES
  (1, '1', '7', 'CRM', 'http://127.0.0.1:1/crm', 'the-key', '["whsec_c2VjcmV0"]', '${old}', 4102444800000, '["PostCreatedHook"]',
   'integration', ${is(true)}, 'none', 2.5, NULL, NULL, '${state}', 3$first),
  (2, '1', '8', NULL, 'http://127.0.0.1:1/ordered', 'k', '[]', NULL, NULL, NULL, 'integration', ${is(true)}, 'subject', NULL, NULL, NULL, NULL, 0$first),
  (3, '1', '9', NULL, 'http://127.0.0.1:1/off', 'k', '[]', NULL, NULL, NULL, 'host', ${is(false)}, 'fifo', NULL, 'gone', NULL, NULL, 0$first),
  (4, '2', '7', NULL, 'http://127.0.0.1:1/removed', '', '[]', NULL, NULL, NULL, 'integration', ${is(true)}, 'none', NULL, NULL, 900, NULL, 0$first);
INSERT INTO ${prefix}events (seq, event_id, network_id, event_type, event_timestamp, taken, body, crc, subject) ${given} VALUES
  (1, 'a', '1', 'PostCreatedHook', '2026-11-20T10:00:00.000Z', 1000, ${body('{"event_id":"a"}')}, NULL, 'post:1'),
  (2, 'b', '1', 'PostCreatedHook', '2026-11-20T10:00:01.000Z', 2000, ${body('{"event_id":"b"}')}, 1, 'post:1'),
  (3, 'c', '1', 'PostCreatedHook', '2026-11-20T10:00:02.000Z', 3000, ${body('{"event_id":"c"}')}, NULL, NULL);
INSERT INTO ${prefix}deliveries (id, event, endpoint, state, lane, due, attempts, starts, at, milliseconds, status, outcome, subject) ${given} VALUES
  (1, 1, 1, 'pending', 1, 1100, 2, 1, 1050, 30, 500, 'http', NULL),
  (2, 1, 2, 'pending', 0, 1000, 0, 0, NULL, NULL, NULL, NULL, 'post:1'),
  (3, 2, 2, 'pending', 2, 2000, 0, 0, NULL, NULL, NULL, NULL, 'post:1'),
  (4, 2, 1, 'dead', 1, 2000, 10, 0, 2500, 20, 500, 'http', NULL),
  (5, 3, 1, 'delivered', 1, 3000, 1, 0, 3010, 10, 204, 'delivered', NULL),
  (6, 3, 2, 'skipped', 0, 3000, 0, 0, 3020, NULL, NULL, 'skipped', NULL);
INSERT INTO ${prefix}attempts (delivery, number, at, milliseconds, status, outcome, answer) VALUES (4, 10, 2500, 20, 500, 'http', 'no');
INSERT INTO ${prefix}notices (at, kind, network_id, endpoint_id, event_id, text) VALUES (2500, 'delivery.dead', '1', '7', 'b', 'given up');
INSERT INTO ${prefix}set_aside (at, reason, network_id, endpoint_id, event_id, content) VALUES (2600, 'too long', '1', NULL, 'x', '{}');
`

export const sqliteRows = `${rows(
  '',
  (value) => (value ? '1' : '0'),
  (text) => `CAST('${text}' AS BLOB)`,
  '',
).replaceAll(/\$(defined|first)/g, '')}
INSERT INTO meta VALUES ('in_flight', '[1]'), ('time', 3020), ('syncs', 9);
INSERT INTO positions VALUES ('stream', 42);
`

export const postgresRows = `${rows(
  '$schema.',
  (value) => `${value}`,
  (text) => `'${text}'`,
  'OVERRIDING SYSTEM VALUE',
)
  .replaceAll('$defined', ', defined')
  .replaceAll('$first', ', 5')}
INSERT INTO $schema.leases (endpoint, relay, touched) VALUES (1, 'dead', 6), (2, 'dead', 5), (3, NULL, 5);
SELECT setval(pg_get_serial_sequence('$schema.endpoints', 'ref'), 4), setval(pg_get_serial_sequence('$schema.events', 'seq'), 3),
  setval(pg_get_serial_sequence('$schema.deliveries', 'id'), 6);
`
