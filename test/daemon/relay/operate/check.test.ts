/** `check` finds out what `run` would meet, and changes nothing. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { execPath, getuid } from 'node:process'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { openOutbox } from '../../../../adapters/outbox/file.ts'
import { newWriterId } from '../../../../adapters/outbox/segment-name.ts'
import { postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import { storePath } from '../../../../daemon/relay/open-store.ts'
import { type CheckFlags, check } from '../../../../daemon/relay/operate/commands/check.ts'
import { outboxOf, readSettings } from '../../../../daemon/relay/operate/settings/read-settings.ts'
import { openSqliteStore } from '../../../../daemon/relay/store/sqlite/store.ts'
import type { OutboxRecord } from '../../../../lib/outbox/record.ts'
import { begunRelay } from '../../../support/begun.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { ended } from '../../../support/program.ts'
import { endpoint, event, until } from '../support.ts'

const server = await testPostgres()

const found = async (flags: CheckFlags) => JSON.parse((await check({ json: true, ...flags })).text)

/** Every file below a directory with what is in it. */
function everything(directory: string): readonly (readonly [string, string])[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort()
  return names.map((name) => {
    const path = join(directory, name)
    return [name, statSync(path).isFile() ? readFileSync(path, 'base64') : '']
  })
}

async function outboxWith(...records: readonly OutboxRecord[]): Promise<string> {
  const directory = temporaryDirectory()
  const outbox = await openOutbox({ directory })
  await outbox.append(records.map((record) => [record]))
  await outbox.close()
  return directory
}

test('counts what waits in words that fit the number', async () => {
  const outbox = await outboxWith(endpoint('https://example.org/hook'))
  expect((await check({ outbox })).text).toContain('1 endpoint, 1 commit waits in the outbox')
})

test.each([
  ['a directory', () => join(temporaryDirectory(), 'nope')],
  ['a SQLite file', () => `sqlite:${join(temporaryDirectory(), 'nope.sqlite')}`],
])('%s that is not there is a problem, and is not made', async (_, address) => {
  const outbox = address()
  expect(await found({ outbox })).toEqual({
    ok: false,
    running: false,
    endpoints: 0,
    waiting_commits: 0,
    problems: [`there is no outbox at ${outbox}: correct --outbox, or start the API server, which makes it`],
  })
  expect(existsSync(outbox.replace('sqlite:', ''))).toBe(false)
})

test('a SQLite file of another program is no outbox, and stays as it is', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'theirs.sqlite')
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE theirs (x)')
  database.close()
  const before = everything(directory)
  const { problems } = await found({ outbox: `sqlite:${path}` })
  expect(problems).toEqual([expect.stringContaining('there is no outbox in sqlite:')])
  expect(everything(directory)).toEqual(before)
})

test('a PostgreSQL database without an outbox is a problem, and nothing is made in it', async () => {
  const schema = server.newSchema()
  const outbox = `${server.url}?schema=${schema}`
  expect((await found({ outbox })).problems).toMatchObject([expect.stringContaining(`there is no outbox in schema ${schema} of`)])
  const { rows } = await (await server.client()).query('SELECT 1 FROM pg_namespace WHERE nspname LIKE $1', [`${schema}%`])
  expect(rows).toEqual([])
})

test.each([
  [
    'a directory',
    async () => {
      const path = await outboxWith(endpoint('https://127.0.0.1/'), event('a'))
      return { outbox: path, trace: () => everything(path) }
    },
  ],
  [
    'a SQLite file',
    async () => {
      const directory = temporaryDirectory()
      const path = join(directory, 'db.sqlite')
      const storage = await sqliteStorage({ path, tables: [] })
      for (const record of [endpoint('https://127.0.0.1/'), event('a')]) await storage.transaction((tx) => tx.append([record]))
      await storage.close()
      return { outbox: `sqlite:${path}`, trace: () => everything(directory) }
    },
  ],
  [
    'a PostgreSQL database',
    async () => {
      const schema = server.newSchema()
      const storage = await postgresStorage({ url: server.url, schema, tables: [] })
      for (const record of [endpoint('https://127.0.0.1/'), event('a')]) await storage.transaction((tx) => tx.append([record]))
      await storage.close()
      const client = await server.client()
      const trace = async () => {
        const tables = await client.query('SELECT relname FROM pg_class WHERE relnamespace::regnamespace::text LIKE $1', [
          `${schema}%`,
        ])
        const rows = await client.query(`SELECT count(*) FROM ${schema}.outbox`)
        return [tables.rows, rows.rows]
      }
      return { outbox: `${server.url}?schema=${schema}`, trace }
    },
  ],
])('registrations that wait in %s are judged, and everything stays as it is', async (_, make) => {
  const { outbox, trace } = await make()
  const before = await trace()
  expect(await found({ outbox })).toEqual({
    ok: false,
    running: false,
    endpoints: 1,
    waiting_commits: 2,
    problems: [
      'endpoint 7 of network 1: 127.0.0.1 is not a public address; --allow-addresses, or the setting `allowAddresses`, allows such addresses; for development, --allow-private allows all',
    ],
  })
  expect((await found({ outbox, allowPrivate: true })).problems).toEqual([])
  expect(await trace()).toEqual(before)
})

test('an endpoint counts as it will be: changed and removed by what waits', async () => {
  const outbox = await outboxWith(
    endpoint('https://127.0.0.1/'),
    endpoint('https://example.org/'),
    endpoint('https://10.0.0.1/', { id: '8' }),
    { kind: 'endpoint', action: 'remove', id: '8', network_id: '1' },
  )
  expect(await found({ outbox })).toMatchObject({ ok: true, endpoints: 1, problems: [] })
})

test('records that cannot be used are problems, and are not set aside yet', async () => {
  const outbox = await outboxWith({ ...event('a'), audience: 'all' } as unknown as OutboxRecord)
  const { problems } = await found({ outbox })
  expect(problems).toMatchObject([expect.stringContaining('an event cannot be used: its `audience`')])
  expect(readdirSync(outbox).filter((name) => name.endsWith('.broken'))).toEqual([])
})

test('a port of the control that is taken is a problem', async () => {
  const other = createServer()
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
  onTestFinished(() => void other.close())
  const { port } = other.address() as AddressInfo
  const outbox = await outboxWith()
  const { problems } = await found({ outbox, controlPort: String(port) })
  const sentence = `--control-port ${port} cannot be used: it is taken: end the program that listens there, or choose another with --control-port`
  expect(problems).toEqual([sentence])
  expect(await ended('folkmoot-relay', 'run', '--outbox', outbox, '--control-port', String(port), '--json')).toMatchObject({
    code: 1,
    stderr: `${JSON.stringify({ error: sentence })}\n`,
  })
})

test.each(['mysql://db.example/community', 'xyz:', 'postgres:', 'sqlite:', 'redis://127.0.0.1'])(
  '%s names no outbox',
  (address) => {
    expect(() => outboxOf(address)).toThrow(/--outbox must be a directory, sqlite:PATH or postgres:/)
  },
)

test.each(['./data/outbox', '/var/lib/x:y', 'C:\\outbox', './mysql:'])('%s names a directory', (address) => {
  expect(outboxOf(address)).toBe(address)
})

test.each([
  [{ ca: 'not PEM' }, /setting `ca` must be PEM text of certificates/],
  [{ json: true }, /setting `json` does not exist; allowed: retrySchedule, timeout/],
  [{ 'control-port': 9464 }, /setting `control-port` does not exist; did you mean controlPort/],
  [
    { allowAddresses: ['10.0.3.0/33'] },
    /setting `allowAddresses.0` must be an address or a range, such as 10.0.3.5 or 10.0.3.0\/24/,
  ],
  [{ allowAddresses: '10.0.3.5' }, /setting `allowAddresses` must be a list/],
  [{ controlPort: '9464' }, /setting `controlPort` must be a whole number/],
])('a configuration with %j is refused, by run and check alike', async (settings, sentence) => {
  const config = join(temporaryDirectory(), 'relay.json')
  writeFileSync(config, JSON.stringify(settings))
  await expect(readSettings({ config })).rejects.toThrow(sentence)
  await expect(check({ outbox: temporaryDirectory(), config })).rejects.toThrow(sentence)
})

test('the port of the control may be a setting; the flag goes before it', async () => {
  const config = join(temporaryDirectory(), 'relay.json')
  writeFileSync(config, '{"controlPort": 9464}')
  const settings = await readSettings({ config })
  const flagged = await readSettings({ config, controlPort: '9000' })
  expect([settings.controlPort, flagged.controlPort]).toEqual([9464, 9000])
})

test('a relay without its outbox reports it, makes it, and delivers every event', async () => {
  const outbox = join(temporaryDirectory(), 'later')
  const relay = begunRelay('run', '--outbox', outbox, '--json')
  expect(JSON.parse(await relay.firstLine())).toMatchObject({
    level: 'warn',
    message: 'outbox.missing',
    text: expect.stringContaining(`there is no outbox at ${outbox}`),
  })
  await until(() => relay.out.stdout.includes('relay.started'), 'it has started')
  expect(await found({ outbox })).toMatchObject({ ok: true, running: true })
  expect(await relay.stop()).toBe(0)
})

test('a store that may not be read is said to be one, and not to be missing', ({ skip }) => {
  skip(getuid?.() !== 0, 'files of another user need root')
  const directory = temporaryDirectory()
  chmodSync(directory, 0o700)
  const opening = join(import.meta.dirname, '../../../../daemon/relay/open-store.ts')
  const asNobody = `import { openOperatorStore } from ${JSON.stringify(opening)}
    process.setuid(65534)
    await openOperatorStore(${JSON.stringify(directory)})`
  const { stderr } = spawnSync(execPath, ['--input-type=module', '--eval', asNobody], { encoding: 'utf8' })
  expect(stderr).toContain('cannot be read (EACCES): run this as the user of the relay')
})

test('a relay that runs is judged by its own settings, and not by the flags of the command', async () => {
  const outbox = await outboxWith(endpoint('http://127.0.0.1:40009/hook'))
  const lenient = begunRelay('run', '--json', '--outbox', outbox, '--allow-http', '--allow-private')
  await lenient.written('"relay.started"')
  await until(async () => (await found({ outbox })).waiting_commits === 0, 'the endpoint is known')
  expect(await found({ outbox })).toMatchObject({ ok: true, running: true, endpoints: 1, problems: [] })
  expect((await check({ outbox })).text).toContain('its settings count, not the flags of this command')
  expect(await lenient.stop()).toBe(0)
  expect((await found({ outbox })).problems).toEqual([expect.stringContaining('http: is not allowed')])
  const strict = begunRelay('run', '--json', '--outbox', outbox)
  await strict.written('"relay.started"')
  expect((await found({ outbox, allowHttp: true, allowPrivate: true })).problems).toEqual([
    expect.stringContaining('http: is not allowed'),
  ])
})

test.each([
  ['new.sqlite', (path: string) => `did you mean sqlite:${path}?`],
  ['new.SQLITE3', (path: string) => `did you mean sqlite:${path}?`],
  ['new.db', (path: string) => `did you mean sqlite:${path}?`],
  ['db.json', (path: string) => `the outbox of lowdb:${path} is the directory ${join(dirname(path), 'outbox')}`],
])('%s without its kind is refused by run and check, whether it is there or not', async (name, sentence) => {
  const outbox = join(temporaryDirectory(), name)
  expect((await found({ outbox })).problems).toEqual([expect.stringContaining(sentence(outbox))])
  const { code, stderr } = await ended('folkmoot-relay', 'run', '--outbox', outbox)
  expect([code, stderr]).toEqual([2, expect.stringContaining(sentence(outbox))])
  expect(existsSync(outbox)).toBe(false)
  writeFileSync(outbox, '')
  expect((await found({ outbox })).problems).toEqual([expect.stringContaining(`is not a directory: ${sentence(outbox)}`)])
})

/** What a directory may hold that an API server writes to. */
const outboxes: Readonly<Record<string, (directory: string) => Promise<unknown>>> = {
  'an empty directory': async () => undefined,
  'a writer that has begun': async (directory) => {
    const writer = await openOutbox({ directory })
    onTestFinished(() => writer.close())
  },
  'a writer that has ended': async (directory) => (await openOutbox({ directory })).close(),
  'segments among other files': async (directory) => {
    writeFileSync(join(directory, 'db.json'), '{}')
    const writer = await openOutbox({ directory })
    await writer.append([[event('a')]])
    await writer.close()
  },
  'what was set aside': async (directory) =>
    writeFileSync(join(directory, `${newWriterId(Date.now())}-000001.v2.ndjson.0.broken`), ''),
  'the store of a relay': async (directory) => (await openSqliteStore(storePath(directory))).close(),
  'the inbox of the audit': async (directory) => mkdirSync(join(directory, 'audit')),
  'a disk of its own': async (directory) => mkdirSync(join(directory, 'lost+found')),
  'hidden files and locks': async (directory) => {
    for (const name of ['.gitkeep', '.snapshot', 'db.json.lock', 'db.json.lock.0123abcd.sock'])
      writeFileSync(join(directory, name), '')
  },
}

test.each(Object.keys(outboxes))('a directory is an outbox with %s', async (name) => {
  const outbox = temporaryDirectory()
  await outboxes[name]?.(outbox)
  expect(await found({ outbox })).toMatchObject({ ok: true, problems: [] })
})

test('a directory with nothing but files of others is a problem, and a relay warns of it', async () => {
  const outbox = temporaryDirectory()
  for (const name of ['file.txt', 'other.txt']) writeFileSync(join(outbox, name), 'hi')
  const sentence = `${outbox} holds "file.txt" and 1 more, and nothing of an outbox`
  expect(await found({ outbox })).toMatchObject({ ok: false, problems: [expect.stringContaining(sentence)] })
  const relay = begunRelay('run', '--outbox', outbox, '--json')
  expect(JSON.parse(await relay.firstLine())).toMatchObject({
    level: 'warn',
    message: 'outbox.foreign',
    text: expect.stringContaining(sentence),
  })
  await relay.written('"relay.started"')
  // Its own files make no outbox of it.
  expect(await found({ outbox })).toMatchObject({ ok: false, problems: [expect.stringContaining(sentence)] })
  expect(await relay.stop()).toBe(0)
})

test('an outbox among other files that was delivered to its end is no problem', async () => {
  const outbox = await outboxWith(endpoint('https://example.org/hook'))
  writeFileSync(join(outbox, 'db.json'), '{}')
  const relay = begunRelay('run', '--outbox', outbox, '--json')
  await until(() => readdirSync(outbox).every((name) => !name.endsWith('.ndjson')), 'the segments are removed')
  expect(await relay.stop()).toBe(0)
  expect(await found({ outbox })).toMatchObject({ ok: true, endpoints: 1, problems: [] })
})

test.each([
  ['http://example.org/', {}, 'http: is not allowed, only https:; --allow-http, or the setting `allowHttp`, allows plain HTTP'],
  [
    'https://[::1]/',
    {},
    '::1 is not a public address; --allow-addresses, or the setting `allowAddresses`, allows such addresses',
  ],
  ['https://example.org:25/', {}, 'port 25 is not allowed; the setting `ports` allows more ports'],
  ['https://9.9.9.9/', { allow_addresses: ['8.8.8.8'] }, '; folkmoot endpoints update --allow-addresses changes them'],
])('the problem with %s comes with its remedy', async (url, change, sentence) => {
  const { problems } = await found({ outbox: await outboxWith(endpoint(url, change)) })
  expect(problems).toEqual([expect.stringContaining(sentence)])
})
