/** How storages, the outbox, ports and rate limits refuse options that no one should give. */
import { expect, test } from 'vitest'
import { openOutbox, takeAuditLines } from '../../adapters/outbox/file.ts'
import { directoryAssets, guardedDownloads, ports, s3Assets } from '../../adapters/ports/index.ts'
import { postgresRateLimits, rateLimits } from '../../adapters/rate-limits/index.ts'
import { lowdbStorage } from '../../adapters/storage/lowdb.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { migratePostgres, postgresOutbox, postgresStorage } from '../../adapters/storage/postgres.ts'
import { migrateSqlite, sqliteOutbox, sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { relayAdminOverControl } from '../../lib/panel/index.ts'
import { memoryStore, receive, respond, sign } from '../../lib/receiver/index.ts'

const unreadableAddress =
  'option `url` must be an address such as postgres://user:password@host:5432/database. In a password write # as %23, / as %2F, ? as %3F and @ as %40'
const nowhere = '/proc/nothing-can-be-made-here'
const outbox = { append: async () => {}, close: async () => {} }

test.each<[string, (given: never) => unknown, unknown, string]>([
  [
    'openOutbox',
    openOutbox,
    './data/outbox',
    'the options must be an object, as in openOutbox({ directory: \'./data/outbox\' }), got "./data/outbox"',
  ],
  [
    'openOutbox',
    openOutbox,
    undefined,
    "the options must be an object, as in openOutbox({ directory: './data/outbox' }), got undefined",
  ],
  [
    'openOutbox',
    openOutbox,
    { dir: nowhere, rotateBytes: 0 },
    'option `dir` does not exist; did you mean directory?; option `directory` must be the path of a directory, got undefined; option `rotateBytes` must be a whole number above 0, got 0',
  ],
  [
    'lowdbStorage',
    lowdbStorage,
    { path: nowhere },
    'option `outbox` must be an outbox, as in await openOutbox({ directory }), got undefined',
  ],
  [
    'lowdbStorage',
    lowdbStorage,
    { path: nowhere, outbox: './data/outbox' },
    'option `outbox` must be an outbox, as in await openOutbox({ directory }), got "./data/outbox"',
  ],
  [
    'lowdbStorage',
    lowdbStorage,
    { path: nowhere, outbox: Promise.resolve(outbox) },
    'option `outbox` must be awaited, got a Promise: await it',
  ],
  [
    'lowdbStorage',
    lowdbStorage,
    { path: '', outbox, warn: true },
    'option `path` must be the path of a file, got ""; option `warn` must be a function, got true',
  ],
  [
    'memoryStorage',
    memoryStorage,
    { outbox: null },
    'option `outbox` must be an outbox, as in await openOutbox({ directory }), got null',
  ],
  [
    'postgresRateLimits',
    postgresRateLimits,
    { url: 'postgres://x', retryMs: 0 },
    'option `retryMs` must be a number above 0, got 0',
  ],
  [
    'postgresRateLimits',
    postgresRateLimits,
    { url: 'postgres://x', timeout: 5 },
    'option `timeout` does not exist; did you mean timeoutMs?',
  ],
  ['memoryStorage', memoryStorage, [], 'the options must be an object, as in memoryStorage({ outbox }), got a list'],
  ['sqliteStorage', sqliteStorage, 'data.sqlite', 'the options must be an object'],
  [
    'sqliteStorage',
    sqliteStorage,
    { path: nowhere, busyTimeoutMs: Number.NaN, readOnly: true },
    'option `readOnly` does not exist',
  ],
  [
    'sqliteStorage',
    sqliteStorage,
    { database: 'data.sqlite' },
    'option `database` must have a method location, got "data.sqlite"; new DatabaseSync(path) of node:sqlite has',
  ],
  ['sqliteStorage', sqliteStorage, { path: nowhere, database: { location() {} } }, 'give option `path` or `database`, not both'],
  [
    'migrateSqlite',
    migrateSqlite,
    { path: ':memory:' },
    'option `path` must be the path of a file, such as ./data/db.sqlite; for memory there is `memoryStorage`, got ":memory:"',
  ],
  ['takeAuditLines', (given: never) => takeAuditLines(given, './data/outbox'), {}, 'the first argument must be a community'],
  [
    'takeAuditLines',
    (given: never) => takeAuditLines({ by: () => given }, given),
    undefined,
    "the second argument must be the directory of the outbox, such as './data/outbox'",
  ],
  ['relayAdminOverControl', relayAdminOverControl, undefined, 'the options must be an object with `url` and `token`'],
  ['memoryStore', memoryStore, { maximum: 5 }, 'option `maximum` does not exist. Options: max; did you mean max?'],
  ['memoryStore', memoryStore, 5, 'the options must be an object. Options: max'],
  ['sign', (given: never) => sign('{}', given), undefined, 'the options must be an object. Options: token, secrets, id, now'],
  [
    'sign',
    (given: never) => sign('{}', given),
    { secret: 'x' },
    'option `secret` does not exist. Options: token, secrets, id, now; did you mean secrets?',
  ],
  [
    'receive',
    (given: never) => receive(new Request('http://x'), given),
    { secret: 'x' },
    'option `secret` does not exist. Options: token, secrets, store, tolerance, maxBytes, now; did you mean secrets?',
  ],
  [
    'respond',
    (given: never) => respond(new Request('http://x'), { token: 'k', secrets: false }, given),
    undefined,
    'the third argument must be a function that does your work',
  ],
  [
    'migratePostgres',
    migratePostgres,
    { urls: 'postgres://x', dryrun: true },
    'option `urls` does not exist; did you mean url?; option `dryrun` does not exist; did you mean dryRun?; option `url` must be an address such as postgres://user:password@host:5432/database, got undefined',
  ],
  [
    'postgresOutbox',
    postgresOutbox,
    { url: 'postgres://x', looking: true },
    'option `looking` does not exist; allowed: url, schema, exclusive',
  ],
  [
    'migrateSqlite',
    migrateSqlite,
    { file: `${nowhere}/db.sqlite`, dryRun: 1 },
    'option `file` does not exist; allowed: path, dryRun, tables; option `path` must be the path of a file, such as ./data/db.sqlite; for memory there is `memoryStorage`, got undefined; option `dryRun` must be true or false, got 1',
  ],
  [
    'sqliteOutbox',
    sqliteOutbox,
    { path: `${nowhere}/db.sqlite` },
    'the first argument must be the path of a file, such as ./data/db.sqlite, got an object',
  ],
  ['postgresStorage', postgresStorage, { uri: 'postgres://x' }, 'option `uri` does not exist; did you mean url?'],
  [
    'postgresStorage',
    postgresStorage,
    { url: new URL('postgres://x') },
    'option `url` must be an address such as postgres://user:password@host:5432/database, got a URL',
  ],
  ...['localhost/db', 'mysql://host/db', 'postgres://host:99999/db', 'postgres://ada:p#ss@host/db'].flatMap(
    (url): [string, (given: never) => unknown, unknown, string][] => [
      ['postgresStorage', postgresStorage, { url }, unreadableAddress],
      ['postgresRateLimits', postgresRateLimits, { url }, unreadableAddress],
    ],
  ),
  [
    'postgresStorage',
    postgresStorage,
    { pool: {} },
    'option `pool` must have a method connect, got an object; new pg.Pool() has',
  ],
  [
    'postgresStorage',
    postgresStorage,
    { pool: { connect() {}, options: { binary: true } } },
    'option `pool` must be a pool without `binary: true`',
  ],
  [
    'postgresRateLimits',
    postgresRateLimits,
    { url: 'postgres://x', pool: { connect() {} } },
    'give option `url` or `pool`, not both',
  ],
  [
    'ports',
    ports,
    { asets: {}, assets: { dir: 'files', baseUrl: 'assets' }, download: { allows: true, lookup: () => {}, timeout: 0 } },
    'option `asets` does not exist; did you mean assets?; option `assets.dir` does not exist; did you mean directory?; option `assets.directory` must name a directory, got undefined; option `assets.baseUrl` must be an absolute http or https URL, or a path such as /assets, got "assets"; option `download.allows` must be a function, got true; option `download.timeout` must be a number above 0, got 0',
  ],
  [
    'ports',
    ports,
    { assets: { put: async () => '' } },
    'option `assets` must have a method remove, got an object; directoryAssets({…}) and s3Assets({…}) have',
  ],
  ['ports', ports, { assets: 'files' }, 'option `assets` must be an object, got "files"'],
  ['directoryAssets', directoryAssets, undefined, 'option `assets` must be an object, got undefined'],
  [
    's3Assets',
    s3Assets,
    { client: {}, bucket: '', prefix: 5, url: '/assets' },
    'option `assets.url` does not exist; allowed: client, bucket, prefix, baseUrl; option `assets.client` must have the methods putObject, deleteObject, got an object; the S3 of @aws-sdk/client-s3 has; option `assets.bucket` must name a bucket, got ""; option `assets.prefix` must be a text such as assets/, got 5; option `assets.baseUrl` must be an absolute http or https URL, or a path such as /assets, got undefined',
  ],
  [
    'guardedDownloads',
    guardedDownloads,
    { allow: () => true },
    'option `download.allow` does not exist; did you mean allows?; option `download.allows` must be a function, got undefined; option `download.lookup` must be a function, got undefined',
  ],
  [
    'rateLimits',
    rateLimits,
    { limiters: 5, limiter: {} },
    'option `limiters` does not exist; did you mean limiter?; option `limiter` must be a function, got an object',
  ],
])('%s names every problem of its options, and makes nothing', async (name, open, given, sentence) => {
  const outcome = await Promise.resolve()
    .then(() => open(given as never))
    .catch((error: unknown) => error)
  expect(outcome).toBeInstanceOf(TypeError)
  expect(String(outcome)).toContain(`${name}: ${sentence}`)
})
