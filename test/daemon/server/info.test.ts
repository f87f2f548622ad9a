/** `folkmoot info`: what it says of each storage, and that nothing secret is in it. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openOutbox } from '../../../adapters/outbox/file.ts'
import { lowdbStorage } from '../../../adapters/storage/lowdb.ts'
import { version } from '../../../adapters/version.ts'
import { startRelay } from '../../../daemon/relay/index.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { testPostgres } from '../../support/postgres.ts'
import { ended } from '../../support/program.ts'

const server = await testPostgres()
const owner = ['--owner-email', 'ada@example.org', '--owner-name', 'Ada Ash']

async function info(...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const { code, stdout, stderr } = await ended('folkmoot', 'info', '--json', ...args)
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

test.each(['lowdb', 'sqlite', 'postgres'])(
  '%s: its networks and endpoints are counted, and the relay is looked at',
  async (name) => {
    const directory = temporaryDirectory()
    const storage = ['--storage', name === 'postgres' ? server.url : `${name}:${join(directory, 'db')}`]
    await ended('folkmoot', 'networks', 'create', '--subdomain', 'pals', '--title', 'Pals', ...owner, ...storage)
    const url = 'https://example.org/a-secret-path'
    await ended('folkmoot', 'endpoints', 'add', '--url', url, '--make-token', '--make-secret', ...storage)
    expect(await info(...storage)).toEqual({
      folkmoot: version,
      node: process.version.slice(1),
      platform: expect.stringContaining(`${process.platform} ${process.arch}`),
      sqlite: expect.stringMatching(/^\d+\.\d+/),
      pg: expect.stringMatching(/^\d+\.\d+/),
      postgres: name === 'postgres' ? expect.stringMatching(/^\d+/) : null,
      storage: name,
      state: 'ok',
      networks: 1,
      endpoints: 1,
      relay: null,
    })
    const outbox =
      name === 'postgres' ? server.url : name === 'sqlite' ? `sqlite:${join(directory, 'db')}` : join(directory, 'outbox')
    const relay = await startRelay({ storage: outbox })
    await expect.poll(async () => (await relay.status()).endpoints.length).toBe(1)
    const relayFacts = { running: 1, endpoints: 1, disabled: 0, circuits_open: 0, pending: 0, dead: 0 }
    expect(await info(...storage)).toMatchObject({ relay: relayFacts })
    const { stdout } = await ended('folkmoot', 'info', ...storage)
    await relay.stop(0)
    expect(stdout).toMatch(/^relay running +1$/m)
    for (const secret of ['secret-path', 'example.org', directory, 'password', '@']) expect(stdout).not.toContain(secret)
  },
)

test('what cannot be read has its reason, without an address, a path or a name', async () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'db.json')
  expect(await info('--storage', `lowdb:${path}`)).toMatchObject({ state: 'missing', networks: null, relay: null })
  const held = await lowdbStorage({ path, outbox: await openOutbox({ directory: join(directory, 'outbox') }) })
  expect(await info('--storage', `lowdb:${path}`)).toMatchObject({ state: expect.stringMatching(/locked|missing/) })
  await held.close()
  const away = await ended('folkmoot', 'info', '--storage', 'postgres://ada:a-password@127.0.0.1:1/private-name')
  expect(away.code).toBe(0)
  expect(away.stdout).toMatch(/^state +unavailable/m)
  expect(`${away.stdout}${away.stderr}`).not.toMatch(/ada|a-password|private-name|127\.0\.0\.1/)
})

test('an address of no known form is refused without its password', async () => {
  const { code, stderr } = await ended('folkmoot', 'info', '--storage', 'postgres://ada:a-password@:x/')
  expect([code, stderr]).toEqual([2, expect.stringContaining('--storage must be lowdb:PATH')])
  expect(stderr).not.toContain('a-password')
})
