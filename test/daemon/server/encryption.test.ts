/** Tokens and signing secrets of endpoints on every storage: the bytes on the disk, and the output of commands without the key. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { startRelay } from '../../../daemon/relay/relay.ts'
import { openStorage } from '../../../daemon/server/storage/open.ts'
import { createCommunity, type Endpoints } from '../../../lib/index.ts'
import { webhookEndpoints } from '../../../lib/storage/tables/administration.ts'
import { begun } from '../../support/begun.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { testPostgres } from '../../support/postgres.ts'
import { folkmoot } from '../../support/program.ts'
import { receiver, until } from '../relay/support.ts'

const server = await testPostgres()
const [first, second] = [1, 2].map((fill) => Buffer.alloc(32, fill).toString('base64')) as [string, string]
const secretOf = (fill: number) => `whsec_${Buffer.alloc(24, fill).toString('base64')}`

interface Place {
  readonly address: string
  /** Everything that is kept there, as text. */
  kept(): Promise<string>
}

const filesBelow = (directory: string): string =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n')

async function onDisk(kind: 'lowdb' | 'sqlite'): Promise<Place> {
  const directory = temporaryDirectory()
  return { address: `${kind}:${join(directory, 'db')}`, kept: async () => filesBelow(directory) }
}

async function inPostgres(): Promise<Place> {
  const schema = server.newSchema()
  const client = await server.client()
  async function kept() {
    const { rows: tables } = await client.query(`SELECT schemaname, tablename FROM pg_tables WHERE schemaname LIKE '${schema}%'`)
    const texts: string[] = []
    for (const { schemaname, tablename } of tables)
      texts.push(JSON.stringify((await client.query(`SELECT t::text FROM "${schemaname}"."${tablename}" t`)).rows))
    return texts.join('\n')
  }
  return { address: `${server.url}?schema=${schema}`, kept }
}

const owner = { email: 'host@example.org', first_name: 'Ada', last_name: 'Host' }

/** A network on a storage, with what works on it. */
async function communityOn({ address }: Place, encryptionKeys: readonly string[]) {
  const { storage, outbox } = await openStorage(address, undefined, () => {})
  const community = createCommunity({ storage, encryptionKeys })
  onTestFinished(() => community.close())
  return { community, storage, outbox }
}

/** Registers and rotates an endpoint, and gives every value that is to be nowhere in plain text. */
async function registerAndRotate(endpoints: Endpoints, network: string, url: string): Promise<readonly string[]> {
  const given = { network, url, token: 'plain-key-1', secrets: [secretOf(7)] }
  const { id } = await endpoints.upsert(given)
  const { token = '', secrets = [] } = await endpoints.rotate(network, id, { token: true, secrets: true })
  await endpoints.update(network, id, { name: 'Renamed' })
  return [given.token, ...given.secrets, token, ...secrets]
}

describe.each([
  ['lowdb', () => onDisk('lowdb')],
  ['SQLite', () => onDisk('sqlite')],
  ['PostgreSQL', inPostgres],
])('on %s', (_, make) => {
  test('neither the storage, nor the outbox, nor the relay keeps a key or secret in plain text', async () => {
    const place = await make()
    const hook = await receiver()
    const { community, outbox } = await communityOn(place, [first])
    const { network } = await community.networks.create({ subdomain: 'demo', title: 'Demo', owner })
    const plain = await registerAndRotate(community.endpoints, network.id, hook.url)
    const before = await place.kept()
    expect(before).toContain('encrypted:1:')
    for (const value of plain) expect(before).not.toContain(value)

    const settings = { allowHttp: true, allowPrivate: true }
    const relay = await startRelay({ outbox, settings, encryptionKeys: [second, first] })
    onTestFinished(() => relay.close(0))
    await until(() => [...relay.scheduler.endpoints].length === 1, 'the endpoint is ingested')
    await community.call('members.create', {
      network: network.id,
      body: { email: 'b@example.org', first_name: 'Bo', last_name: 'Member' },
    })
    await until(() => hook.received.length > 0, 'a webhook arrives')
    expect(hook.received[0]?.headers).toMatchObject({ authorization: `Bearer ${plain[2]}` })
    const [one, two] = String(hook.received[0]?.headers['webhook-signature']).split(' ')
    expect([one, two]).toEqual([expect.stringMatching(/^v1,/), expect.stringMatching(/^v1,/)])
    await relay.close(0)
    const after = await place.kept()
    for (const value of plain) expect(after).not.toContain(value)
  })
})

test('the commands take the keys from a file or the environment, and without them say what is missing', async () => {
  const directory = temporaryDirectory()
  const place = ['--storage', `sqlite:${join(directory, 'db')}`] as const
  const file = join(directory, 'encryption-keys')
  writeFileSync(file, `${first}\n`)
  const owned = ['--owner-email', 'a@example.org', '--owner-name', 'Ada']
  await folkmoot('networks', 'create', ...place, '--subdomain', 'demo', '--title', 'Demo', ...owned)
  const url = 'https://example.org/hook'
  const added = await folkmoot(
    ...['endpoints', 'add', ...place, '--url', url, '--make-token', '--make-secret', '--json'],
    ...['--encryption-key-file', file],
  )
  const { id, token, secrets } = JSON.parse(added.lines[0] ?? '{}')
  expect([typeof token, typeof secrets[0]]).toEqual(['string', 'string'])
  const kept = filesBelow(directory)
  for (const value of [token, ...secrets]) expect(kept).not.toContain(value)

  const missing = new RegExp(
    `^the token of endpoint ${id} of network \\d+ is encrypted with the encryption key [0-9a-f]{16}, which is missing: add it to .*--encryption-key-file$`,
  )
  expect((await folkmoot('endpoints', 'rotate', ...place, id)).refused).toMatch(missing)
  const another = ['endpoints', 'add', ...place, '--url', 'https://example.org/other', '--make-token']
  expect((await folkmoot(...another)).refused).toMatch(/^endpoints of network \d+ are encrypted: give the encryption keys in/)
  expect((await folkmoot('endpoints', 'disable', ...place, id)).refused).toBeUndefined()
  expect((await folkmoot('endpoints', 'list', ...place)).refused).toBeUndefined()

  vi.stubEnv('FOLKMOOT_ENCRYPTION_KEYS', `${second},${first}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  expect((await folkmoot('endpoints', 'rotate', ...place, id)).refused).toBeUndefined()
  const { lines } = await folkmoot('endpoints', 'republish', ...place)
  expect(lines).toEqual(['The endpoints of demo are in the outbox again.'])
  vi.stubEnv('FOLKMOOT_ENCRYPTION_KEYS', second)
  expect((await folkmoot('endpoints', 'rotate', ...place, id)).refused).toBeUndefined()
  vi.stubEnv('FOLKMOOT_ENCRYPTION_KEYS', first)
  expect((await folkmoot('endpoints', 'rotate', ...place, id)).refused).toMatch(missing)
  const lost = await folkmoot('endpoints', 'rotate', ...place, id, '--make-token', '--make-secret', '--keep-old', '0')
  expect(lost.refused).toBeUndefined()
  expect((await folkmoot('endpoints', 'rotate', ...place, id)).refused).toBeUndefined()
  writeFileSync(file, 'hunter2')
  expect((await folkmoot(...another, '--encryption-key-file', file)).refused).toBe(
    `the encryption key file ${file}: key 1 of 1 must be 32 bytes in base64, as \`openssl rand -base64 32\` makes them`,
  )
})

test('a copy from one storage to another keeps the text', async () => {
  const [from, to] = [await onDisk('sqlite'), await onDisk('lowdb')]
  const { community, storage } = await communityOn(from, [first])
  const { network } = await community.networks.create({ subdomain: 'demo', title: 'Demo', owner })
  await registerAndRotate(community.endpoints, network.id, 'https://example.org/hook')
  const rows = await storage.transaction((tx) => tx.find(webhookEndpoints, {}), { readOnly: true })
  await community.close()
  expect((await folkmoot('copy', '--from', from.address, '--to', to.address)).refused).toBeUndefined()
  const copied = await communityOn(to, [first])
  expect(await copied.storage.transaction((tx) => tx.find(webhookEndpoints, {}), { readOnly: true })).toEqual(rows)
  expect(await copied.community.endpoints.rotate(network.id, rows[0]?.id ?? '', { token: true })).toHaveProperty('token')
})

test('a server without the key serves, and names the unreadable endpoint with the reason; so do commands over its control', async () => {
  const place = await onDisk('lowdb')
  const { community } = await communityOn(place, [first])
  const { network } = await community.networks.create({ subdomain: 'demo', title: 'Demo', owner })
  await registerAndRotate(community.endpoints, network.id, 'https://example.org/hook')
  const [endpoint] = await community.endpoints.list(network.id)
  await community.close()

  const serve = begun('serve', '--storage', place.address, '--port', '0', '--allow-http', '--relay', '--json')
  await serve.firstLine()
  await until(() => serve.out.stderr.includes('nothing is sent'), 'its relay says it too')
  expect(serve.out.stderr).toMatch(
    new RegExp(
      `the token of endpoint ${endpoint?.id} of network ${network.id} is encrypted with the encryption key [0-9a-f]{16}`,
    ),
  )
  const rotated = await folkmoot('endpoints', 'rotate', '--storage', place.address, endpoint?.id ?? '')
  expect(rotated.refused).toMatch(/^the token of endpoint \d+ of network \d+ is encrypted with .*, which is missing/)
  await serve.stop()

  const file = join(temporaryDirectory(), 'encryption-keys')
  writeFileSync(file, first)
  const keyed = begun('serve', '--storage', place.address, '--port', '0', '--allow-http', '--encryption-key-file', file)
  await keyed.firstLine()
  expect((await folkmoot('endpoints', 'rotate', '--storage', place.address, endpoint?.id ?? '')).refused).toBeUndefined()
  expect(await place.kept()).not.toContain('whsec_')
  expect(keyed.out.stderr).not.toContain('is encrypted with')
})
