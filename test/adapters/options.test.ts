/** What storages and the outbox say about options that nobody should give. */
import { expect, test } from 'vitest'
import { openOutbox } from '../../adapters/outbox/file.ts'
import { postgresRateLimits, sqliteRateLimits } from '../../adapters/rate-limits/index.ts'
import { lowdbStorage } from '../../adapters/storage/lowdb.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { postgresStorage } from '../../adapters/storage/postgres.ts'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'

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
    'sqliteRateLimits',
    sqliteRateLimits,
    { path: nowhere, timeout: 5 },
    'option `timeout` does not exist; did you mean timeoutMs?',
  ],
  [
    'postgresRateLimits',
    postgresRateLimits,
    { url: 'postgres://x', retryMs: 0 },
    'option `retryMs` must be a number above 0, got 0',
  ],
  ['memoryStorage', memoryStorage, [], 'the options must be an object, as in memoryStorage({ outbox }), got a list'],
  ['sqliteStorage', sqliteStorage, 'data.sqlite', 'the options must be an object'],
  [
    'sqliteStorage',
    sqliteStorage,
    { path: nowhere, busyTimeoutMs: Number.NaN, readOnly: true },
    'option `readOnly` does not exist',
  ],
  ['postgresStorage', postgresStorage, { uri: 'postgres://x' }, 'option `uri` does not exist; did you mean url?'],
  [
    'postgresStorage',
    postgresStorage,
    { url: new URL('postgres://x') },
    'option `url` must be an address such as postgres://host/database, got an object',
  ],
])('%s says every problem of its options, and makes nothing', async (name, open, given, sentence) => {
  const outcome = await Promise.resolve()
    .then(() => open(given as never))
    .catch((error: unknown) => error)
  expect(outcome).toBeInstanceOf(TypeError)
  expect(String(outcome)).toContain(`${name}: ${sentence}`)
})
