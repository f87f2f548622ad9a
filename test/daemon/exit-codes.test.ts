/** Exit codes of both programs: 2 if the command line, a setting or a file has to change, 1 if what is requested cannot be had. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openOutbox } from '../../adapters/outbox/file.ts'
import { storePath } from '../../daemon/relay/open-store.ts'
import { openSqliteStore } from '../../daemon/relay/store/sqlite/store.ts'
import { temporaryDirectory } from '../support/directory.ts'
import { onLoopback } from '../support/on-loopback.ts'
import { ended } from '../support/program.ts'
import { endpoint } from './relay/support.ts'

interface Place {
  readonly storage: string
  readonly outbox: string
  /** A port that somebody has. */
  readonly port: string
  /** An address at which no one listens. */
  readonly nobody: string
}

const network = ['--subdomain', 'one', '--title', 'One', '--owner-email', 'ada@example.org', '--owner-name', 'Ada']

async function makePlace(): Promise<Place> {
  const directory = temporaryDirectory()
  const storage = `sqlite:${join(directory, 'db.sqlite')}`
  expect((await ended('folkmoot', 'networks', 'create', ...network, '--storage', storage)).code).toBe(0)
  const outbox = join(directory, 'outbox')
  await (await openOutbox({ directory: outbox })).close()
  const store = await openSqliteStore(storePath(outbox))
  await store.ingest({ commits: [[endpoint('https://example.org/')]], positions: {}, damage: [], more: false }, Date.now(), 0)
  await store.close()
  const { port } = new URL(await onLoopback(() => {}))
  return { storage, outbox, port, nobody: 'http://127.0.0.1:9' }
}

type Asked = (place: Place) => readonly string[]
const server = (text: string, about: Asked) => [`folkmoot ${text}`, 'folkmoot', about] as const
const relay = (text: string, about: Asked) => [`folkmoot-relay ${text}`, 'folkmoot-relay', about] as const

const usage = [
  server('with an unknown command', () => ['dance']),
  server('with an unknown option', ({ storage }) => ['keys', 'list', '--storage', storage, '--wid']),
  server('without a required option', ({ storage }) => ['keys', 'create', '--storage', storage]),
  server('with a storage that is not there', ({ storage }) => ['keys', 'list', '--storage', `${storage}x`]),
  server('with a value that the library refuses', ({ storage }) => ['networks', 'update', '--storage', storage, '--title', '']),
  server('with a scope that does not exist', ({ storage }) => [
    'keys',
    'create',
    '--storage',
    storage,
    '--name',
    'x',
    '--scope',
    'y',
  ]),
  server('with a subdomain that is taken', ({ storage }) => ['networks', 'create', ...network, '--storage', storage]),
  server('with a certificate that cannot be read', () => [
    'serve',
    '--storage',
    'memory:',
    '--tls-cert',
    '/no',
    '--tls-key',
    '/no',
  ]),
  server('with a host that is not its own', () => ['serve', '--storage', 'memory:', '--port', '0', '--host', '192.0.2.1']),
  relay('without an outbox', () => ['status']),
  relay('with a value that cannot be', ({ outbox }) => ['deliveries', '--outbox', outbox, '--limit', 'all']),
  relay('with a configuration that is none', ({ outbox }) => ['run', '--outbox', outbox, '--config', '/nowhere.json']),
]

const failures = [
  server('for a network that is not there', ({ storage }) => ['keys', 'list', '--storage', storage, '--network', 'two']),
  server('for a key that is not there', ({ storage }) => ['keys', 'revoke', '99', '--storage', storage]),
  server('for an endpoint that is not there', ({ storage }) => ['endpoints', 'disable', '99', '--storage', storage]),
  server('for a member who is not there', ({ storage }) => [
    'members',
    'consent',
    '--storage',
    storage,
    '--email',
    'no@example.org',
  ]),
  server('for a server that does not run', ({ storage }) => ['panel-link', '--storage', storage]),
  server('for a control of nobody', ({ outbox }) => ['keys', 'list', '--server', join(outbox, 'none.control')]),
  server('on a port that is taken', ({ port }) => ['serve', '--storage', 'memory:', '--port', port]),
  server('on a port of metrics that is taken', ({ port }) => [
    'serve',
    '--storage',
    'memory:',
    '--port',
    '0',
    '--metrics-port',
    port,
  ]),
  server('from a server that cannot be reached', ({ nobody, storage }) => [
    ...['pull', '--from', nobody, '--network', '1', '--token', 't', '--to', `${storage}-copy`],
  ]),
  relay('for an endpoint that is not there', ({ outbox }) => ['close-circuit', '--outbox', outbox, '--endpoint-id', '99']),
  relay('for a network that is not there', ({ outbox }) => ['deliveries', '--outbox', outbox, '--network-id', '99']),
  relay('on a control port that is taken', ({ outbox, port }) => ['run', '--outbox', outbox, '--control-port', port]),
  relay('for a check that finds a problem', ({ outbox, port }) => ['check', '--outbox', outbox, '--control-port', port]),
]

test.each(usage)('%s ends with 2', async (_, name, asked) => {
  const { code, stderr } = await ended(name, ...asked(await makePlace()))
  expect([code, stderr]).toEqual([2, expect.stringMatching(/\S/)])
  expect(stderr).not.toContain('    at ')
})

test.each(failures)('%s ends with 1', async (_, name, asked) => {
  const { code, stdout, stderr } = await ended(name, ...asked(await makePlace()))
  expect([code, stdout + stderr]).toEqual([1, expect.stringMatching(/\S/)])
  expect(stderr).not.toContain('    at ')
})

test('diff ends as its namesake does: 1 for a difference, 2 for a server that cannot be compared', async () => {
  const tokens = join(temporaryDirectory(), 'token')
  writeFileSync(tokens, 't\n')
  const [a, b] = ['--a', '--b'].map((side) => [side, 'http://127.0.0.1:9', `${side}-token-file`, tokens])
  expect((await ended('folkmoot', 'diff', ...(a ?? []), ...(b ?? []), '--network', '1')).code).toBe(2)
})
