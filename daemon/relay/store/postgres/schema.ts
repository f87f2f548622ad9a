/** The tables of the store on PostgreSQL, in words that a person can query. They stand in a schema beside the outbox's. */

/** Goes up with every incompatible change; a newer one is refused, not touched. */
export const schemaVersion = 4

/** The schema of the relays that share an outbox. */
export const relaySchemaOf = (schema: string): string => `${schema}_relay`

/** What of the outbox could not be used, for a person to look at. */
const setAside = (schema: string): string => `
CREATE TABLE ${schema}.set_aside (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL,
  reason text NOT NULL,
  network_id text,
  endpoint_id text,
  event_id text,
  content text NOT NULL
);
`

/** Of deliveries in the order of their subjects, and of those that were skipped. */
const subjects = (schema: string): string => `
CREATE INDEX deliveries_subject ON ${schema}.deliveries (endpoint, subject, event) WHERE state = 'pending' AND subject IS NOT NULL;
CREATE INDEX deliveries_skipped ON ${schema}.deliveries (at) WHERE state = 'skipped';`

/** What makes tables of a version into those of the next one, by the version that they have. */
export const migrations: Readonly<Record<number, (schema: string) => string>> = {
  1: (schema) => `ALTER TABLE ${schema}.events ADD COLUMN crc bigint; ${setAside(schema)}`,
  2: (schema) => `ALTER TABLE ${schema}.endpoints ADD COLUMN fresh_starts bigint NOT NULL DEFAULT 0;
ALTER TABLE ${schema}.events ADD COLUMN subject text;
ALTER TABLE ${schema}.deliveries ADD COLUMN subject text;
${subjects(schema)}`,
  3: (schema) => `ALTER TABLE ${schema}.endpoints ADD COLUMN name text, ADD COLUMN old text, ADD COLUMN old_until bigint`,
}

/**
 * The statements that make the tables.
 * @param schema made of letters, digits and underscores
 */
export const tables = (schema: string): string => `
CREATE TABLE ${schema}.meta (name text PRIMARY KEY, value bigint NOT NULL);

CREATE TABLE ${schema}.relays (
  id text PRIMARY KEY,
  host text NOT NULL,
  process json NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  in_flight bigint[] NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);

CREATE TABLE ${schema}.endpoints (
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
CREATE INDEX endpoints_defined ON ${schema}.endpoints (defined);

CREATE TABLE ${schema}.leases (
  endpoint bigint PRIMARY KEY,
  relay text,
  touched bigint NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX leases_free ON ${schema}.leases (endpoint) WHERE relay IS NULL;

CREATE TABLE ${schema}.events (
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

CREATE TABLE ${schema}.deliveries (
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
CREATE INDEX deliveries_waiting ON ${schema}.deliveries (endpoint, lane, due, id) WHERE state = 'pending';
CREATE INDEX deliveries_dead ON ${schema}.deliveries (at) WHERE state = 'dead';
CREATE INDEX deliveries_event ON ${schema}.deliveries (event);
${subjects(schema)}

CREATE TABLE ${schema}.attempts (
  delivery bigint NOT NULL,
  number integer NOT NULL,
  at bigint NOT NULL,
  milliseconds integer NOT NULL,
  status integer,
  outcome text NOT NULL,
  answer text,
  PRIMARY KEY (delivery, number, at)
);

CREATE TABLE ${schema}.notices (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL,
  kind text NOT NULL,
  network_id text,
  endpoint_id text,
  event_id text,
  text text NOT NULL
);
${setAside(schema)}
INSERT INTO ${schema}.meta (name, value) VALUES ('version', 0), ('schema_version', ${schemaVersion});
`
