/** The relay inside of a host's process: over each storage, by the storage itself or by its address. */
import { randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openOutbox } from '../../../adapters/outbox/file.ts'
import { lowdbStorage } from '../../../adapters/storage/lowdb.ts'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { postgresStorage } from '../../../adapters/storage/postgres.ts'
import { sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import { type EmbeddedRelayOptions, startRelay } from '../../../daemon/relay/index.ts'
import { createCommunity } from '../../../lib/index.ts'
import { createPanel } from '../../../lib/panel/index.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { testPostgres } from '../../support/postgres.ts'
import { receiver, status, until } from './support.ts'

const server = await testPostgres()
const local = { allowHttp: true, allowPrivate: true }

const storages: Readonly<Record<string, () => Promise<Storage>>> = {
  memory: async () => memoryStorage({ outbox: await openOutbox({ directory: join(temporaryDirectory(), 'outbox') }) }),
  lowdb: async () => {
    const directory = temporaryDirectory()
    return lowdbStorage({ path: join(directory, 'db.json'), outbox: await openOutbox({ directory: join(directory, 'outbox') }) })
  },
  sqlite: () => sqliteStorage({ path: join(temporaryDirectory(), 'db.sqlite') }),
  postgres: () => postgresStorage({ url: server.url, schema: server.newSchema() }),
}

async function start(options: EmbeddedRelayOptions) {
  const relay = await startRelay(options)
  onTestFinished(() => relay.stop(0))
  return relay
}

/** A network with an endpoint that is sent each new member. */
async function communityOn(storage: Storage, url: string) {
  onTestFinished(() => storage.close())
  const encryptionKeys = [randomBytes(32).toString('base64')]
  const community = createCommunity({ storage, encryptionKeys, allowHttp: true })
  onTestFinished(() => community.close())
  const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' }
  const { network } = await community.networks.create({ subdomain: 'pals', title: 'Pals', owner })
  const endpoint = await community.endpoints.upsert({ network: network.id, url, events: ['MemberJoinedHook'], token: true })
  const joins = (name: string) =>
    community.call('members.create', {
      network: network.id,
      body: { email: `${name}@example.org`, first_name: name, last_name: 'Ash' },
    })
  return { community, network, endpoint, joins, encryptionKeys }
}

test.each(Object.keys(storages))('%s: a storage and its relay share one call', async (name) => {
  const hook = await receiver()
  const storage = await (storages[name] as () => Promise<Storage>)()
  const { joins, encryptionKeys, endpoint, network } = await communityOn(storage, `${hook.url}/`)
  const relay = await start({ storage, encryptionKeys, ...local })
  await joins('Oil')
  await until(() => hook.received.length > 0, 'the event comes')
  expect(JSON.parse(hook.received[0]?.body ?? '')).toMatchObject({ event_type: 'MemberJoinedHook' })
  await until(async () => (await relay.status()).endpoints[0]?.last_success_at != null, 'it is recorded')
  const { outbox, ...rest } = await relay.status()
  expect(rest).toMatchObject({ ready: true, inFlight: 0, controlPort: null, backlog: { count: 0 } })
  expect(rest.endpoints).toMatchObject([{ endpoint_id: endpoint.id, network_id: network.id, pending: 0, dead: 0 }])
  expect(outbox).not.toContain('password')
  expect(await relay.metrics()).toContain('relay_ready 1')
})

test('after `stop` nothing is sent, and a relay that is started by the address sends what was committed in between', async () => {
  const hook = await receiver()
  const storage = await sqliteStorage({ path: join(temporaryDirectory(), 'db.sqlite') })
  const { joins, encryptionKeys } = await communityOn(storage, `${hook.url}/`)
  const first = await start({ storage, encryptionKeys, ...local })
  await joins('Oil')
  await until(() => hook.received.length === 1, 'the first event comes')
  await first.stop()
  await joins('Ink')
  const second = await start({ storage: storage.outbox ?? '', encryptionKeys, ...local })
  await until(() => hook.received.length === 2, 'the second event comes')
  await second.stop()
  expect(hook.received.map(({ body }) => JSON.parse(body).payload.member.first_name)).toEqual(['Oil', 'Ink'])
})

test('`stop` waits for attempts in flight', async () => {
  const hook = await receiver((_, response) => void setTimeout(() => status(204)(_, response), 300))
  const storage = await storages['memory']?.()
  if (!storage) throw new Error('no storage')
  const { joins, encryptionKeys } = await communityOn(storage, `${hook.url}/`)
  const outcomes: string[] = []
  const relay = await start({
    storage,
    encryptionKeys,
    ...local,
    onAttempt: ({ outcome }) => void outcomes.push(outcome),
  })
  await joins('Oil')
  await until(() => hook.received.length === 1, 'it is in flight')
  await relay.stop()
  expect(outcomes).toEqual(['delivered'])
})

test('its administration is what the panel asks', async () => {
  const hook = await receiver()
  const storage = await sqliteStorage({ path: join(temporaryDirectory(), 'db.sqlite') })
  const { community, network, joins, encryptionKeys } = await communityOn(storage, `${hook.url}/`)
  const relay = await start({ storage, encryptionKeys, ...local })
  await joins('Oil')
  await until(() => hook.received.length === 1, 'the event comes')
  expect(await relay.admin.status({ network_id: network.id })).toMatchObject({
    running: true,
    endpoints: [{ activity: 'delivering' }],
  })
  expect(createPanel(community, { authorize: () => null, relay: relay.admin })).toBeDefined()
  const refusals = [hook.url, 'https://example.org:25/'].map((url) => relay.admin.refuses?.(url))
  expect(refusals).toEqual([undefined, 'port 25 is not allowed'])
})

test('with `controlPort` it has the control that commands find, and `stop` closes it', async () => {
  const storage = await sqliteStorage({ path: join(temporaryDirectory(), 'db.sqlite') })
  onTestFinished(() => storage.close())
  const relay = await start({ storage, controlPort: 0 })
  const { controlPort } = await relay.status()
  expect((await fetch(`http://127.0.0.1:${controlPort}/readyz`)).status).toBe(200)
  await relay.stop()
  await expect(fetch(`http://127.0.0.1:${controlPort}/readyz`)).rejects.toThrow()
})

test('what it cannot start with is refused, by name', async () => {
  const outbox = temporaryDirectory()
  await expect(startRelay({ storage: outbox, timeout: 0, nonsense: 1 } as EmbeddedRelayOptions)).rejects.toMatchObject({
    name: 'SettingsError',
    problems: expect.arrayContaining([expect.stringContaining('`timeout`'), expect.stringContaining('`nonsense`')]),
  })
  await expect(startRelay({ storage: memoryStorage() })).rejects.toThrow(
    /^startRelay: the storage has no outbox that a relay can open/,
  )
  await expect(startRelay({} as EmbeddedRelayOptions)).rejects.toThrow('startRelay: `storage` is missing')
  await expect(startRelay(undefined as unknown as EmbeddedRelayOptions)).rejects.toThrow('startRelay expects options')
  await expect(startRelay({ storage: Promise.resolve({}) as never })).rejects.toThrow('must be awaited')
  await expect(startRelay({ storage: outbox, encryptionKeyFile: 'keys' } as EmbeddedRelayOptions)).rejects.toThrow(
    'give `encryptionKeys`',
  )
  await expect(startRelay({ storage: outbox, encryptionKeys: ['short'] })).rejects.toThrow(TypeError)
  await start({ storage: outbox })
  await expect(startRelay({ storage: outbox })).rejects.toMatchObject({ code: 'locked' })
})

test.each(['new.sqlite', 'new.sqlite3', 'new.db', 'db.json'])('%s that is missing is refused, and not made', async (name) => {
  const outbox = join(temporaryDirectory(), name)
  const meant = name === 'db.json' ? `lowdb:${outbox} is the directory ${join(dirname(outbox), 'outbox')}` : `sqlite:${outbox}?`
  await expect(startRelay({ storage: outbox })).rejects.toThrow(meant)
  expect(existsSync(outbox)).toBe(false)
  await start({ storage: `${outbox}/` })
  expect(existsSync(outbox)).toBe(true)
})

test.each([
  ['mysql://db.example/community', 'must be a directory, sqlite:PATH or postgres://…, got one that begins with mysql:'],
  ['lowdb:./data/db.json', 'got one that begins with lowdb:'],
])('%s is no outbox', async (outbox, sentence) => {
  await expect(startRelay({ storage: outbox })).rejects.toThrow(sentence)
})

test('a directory with nothing but files of others is a fault, and is watched anyway', async () => {
  const outbox = temporaryDirectory()
  writeFileSync(join(outbox, 'file.txt'), 'hi')
  const faults: unknown[] = []
  await start({ storage: outbox, onFault: (what, error) => void faults.push(`${what}: ${error}`) })
  expect(faults).toEqual([expect.stringContaining('holds "file.txt", and nothing of an outbox')])
})
