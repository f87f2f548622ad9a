/** `folkmoot audit`, and the lines of every command: in its own process, and through the control of a server. */
import { readFile, stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import { createCommunity } from '../../../lib/index.ts'
import { audit } from '../../../lib/storage/tables/administration.ts'
import { begun } from '../../support/begun.ts'
import { run } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import type { Json } from '../../support/json.ts'
import { folkmoot } from '../../support/program.ts'

const me = `cli:${userInfo().username}`
const owner = ['--owner-email', 'ada@example.org', '--owner-name', 'Ada Ash']

const linesOf = (lines: readonly string[]): Json[] =>
  lines.flatMap((line) => line.split('\n')).flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Json]))

/** Commands on a storage. */
function commandsOn(storage: string) {
  const refusal = async (...args: readonly string[]) => (await folkmoot(...args, '--storage', storage)).refused
  const ran = async (...args: readonly string[]): Promise<Json[]> => {
    const { lines, refused } = await folkmoot(...args, '--storage', storage, '--json')
    expect([args, refused]).toEqual([args, undefined])
    return linesOf(lines)
  }
  const one = async (...args: readonly string[]): Promise<Json> => (await ran(...args))[0]
  /** Actor and action of every line, the oldest first. */
  const told = async (...args: readonly string[]) =>
    (await ran('audit', 'list', ...args)).toReversed().map(({ actor, action }) => [actor, action])
  return { refusal, ran, one, told }
}

/** Every command that changes something, and the values that no line may have. */
async function changeEverything({ one }: ReturnType<typeof commandsOn>, network: string): Promise<readonly string[]> {
  const on = ['--network', network]
  await one('networks', 'update', network, '--plan', 'premium')
  const key = await one('keys', 'create', '--name', 'Connector', '--scope', '*:read', ...on)
  await one('keys', 'revoke', key.id, ...on)
  const url = ['--url', 'https://crm.example.org/hook']
  const made = await one('endpoints', 'add', ...url, '--make-token', '--make-secret', ...on)
  await one('endpoints', 'update', made.id, '--rate', '5', ...on)
  await one('endpoints', 'add', ...url, '--token', 'a-given-key', ...on)
  const rotated = await one('endpoints', 'rotate', made.id, '--make-token', '--make-secret', ...on)
  await one('endpoints', 'disable', made.id, ...on)
  await one('endpoints', 'enable', made.id, ...on)
  await one('endpoints', 'republish', ...on)
  await one('endpoints', 'remove', made.id, ...on)
  return [key.token, made.token, ...made.secrets, 'a-given-key', rotated.token, ...rotated.secrets]
}

const actions = [
  ...['network.updated', 'key.created', 'key.revoked', 'endpoint.added', 'endpoint.updated', 'endpoint.updated'],
  ...['endpoint.token_rotated', 'endpoint.secrets_rotated', 'endpoint.disabled', 'endpoint.enabled'],
  ...['endpoints.republished', 'endpoint.deleted'],
]

test('every command leaves its lines under the name of its user, in its own process', async () => {
  const storage = `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`
  const commands = commandsOn(storage)
  const { id } = await commands.one('networks', 'create', '--subdomain', 'paint-pals', '--title', 'Paint Pals', ...owner)
  const secrets = await changeEverything(commands, id)
  expect(await commands.told()).toEqual(['network.created', ...actions].map((action) => [me, action]))
  const text = JSON.stringify(await commands.ran('audit', 'list'))
  for (const secret of secrets) expect(text).not.toContain(secret)
})

test('commands through the control of a server leave the same lines under the name of their user', async () => {
  const storage = `lowdb:${join(temporaryDirectory(), 'db.json')}`
  const server = begun('serve', '--demo', '--allow-http', '--json', '--port', '0', '--storage', storage)
  await server.firstLine()
  const commands = commandsOn(storage)
  const secrets = await changeEverything(commands, '1')
  const seeded = ['network.created', 'key.created'].map((action) => ['folkmoot serve --demo', action])
  expect(await commands.told()).toEqual([...seeded, ...actions.map((action) => [me, action])])
  const exported = await folkmoot('audit', 'export', '--to', '-', '--storage', storage)
  expect(linesOf(exported.lines)).toEqual((await commands.ran('audit', 'list')).toReversed())
  for (const secret of secrets) expect(exported.lines.join()).not.toContain(secret)
  await server.stop()
})

test.each([
  ['without a proxy is that of the connection, whatever a client claims', [], '127.0.0.1'],
  ['behind a trusted proxy is the one that this proxy has added', ['--trust-proxy'], '203.0.113.9'],
])('the address of a visitor of the panel %s, and its export is the audit', async (_name, flags, address) => {
  const storage = `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`
  const serving = ['serve', '--demo', '--allow-http', '--json', '--port', '0', '--storage', storage]
  const server = begun(...serving, ...flags)
  const facts = JSON.parse(await server.firstLine()) as Json
  const { one, ran } = commandsOn(storage)
  const key = await one('keys', 'create', '--name', 'Connector', '--scope', '*:read')
  const entered = await fetch(facts.panel, { redirect: 'manual' })
  const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const headers = { cookie, 'sec-fetch-site': 'same-origin', 'x-forwarded-for': '198.51.100.1, 203.0.113.9' }
  const panel = (path: string, method: string) =>
    fetch(`${facts.url}/admin/panel/1/${path}`, { method, headers, redirect: 'manual' })
  expect((await panel(`keys/${key.id}/revoke`, 'POST')).status).toBe(303)
  const lines = await ran('audit', 'list')
  expect(lines[0]).toMatchObject({ action: 'key.revoked', actor: `user ${userInfo().username}`, address })
  const exported = await panel('audit/export', 'GET')
  expect(exported.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
  expect(linesOf([await exported.text()])).toEqual(lines.toReversed())
  await server.stop()
})

test('two concurrent processes leave the lines of both', async () => {
  const storage = `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`
  const { one, ran } = commandsOn(storage)
  await one('networks', 'create', '--subdomain', 'paint-pals', '--title', 'Paint Pals', ...owner)
  const create = (name: string) => run('folkmoot', 'keys', 'create', '--name', name, '--scope', '*', '--storage', storage)
  const both = ['one', 'two'].map(create)
  for (const { ended } of both) await ended
  const names = (await ran('audit', 'list', '--action', 'key.created')).map(({ subject }) => subject.name)
  expect(names.toSorted()).toEqual(['one', 'two'])
})

async function withLines(count: number) {
  const path = join(temporaryDirectory(), 'db.sqlite')
  const storage = await sqliteStorage({ path })
  onTestFinished(() => storage.close())
  const community = createCommunity({ storage })
  const first = { email: 'ada@example.org', first_name: 'Ada', last_name: '' }
  await community.networks.create({ id: '1', subdomain: 'paint-pals', title: 'Paint Pals', owner: first })
  const subject = { type: 'network', id: '1' } as const
  const ada = community.by({ actor: 'ada@example.org', address: '203.0.113.7' })
  for (let place = 0; place < count; place++)
    await ada.audit.record({ network: '1', action: 'deliveries.resent', subject, details: { place } })
  return { storage, community, address: `sqlite:${path}` }
}

test('a list has its filters, and an export has every line in order', async () => {
  const { address } = await withLines(230)
  const { ran, refusal } = commandsOn(address)
  expect(await ran('audit', 'list')).toHaveLength(50)
  expect(await ran('audit', 'list', '--limit', '10000')).toHaveLength(231)
  expect(await ran('audit', 'list', '--actor', 'host')).toMatchObject([{ action: 'network.created' }])
  expect(await ran('audit', 'list', '--action', 'network.created')).toHaveLength(1)
  expect(await ran('audit', 'list', '--subject', 'network:1', '--limit', '500')).toHaveLength(231)
  expect(await ran('audit', 'list', '--subject', 'endpoint:1')).toEqual([])
  expect(await ran('audit', 'list', '--to', '2026-01-01', '--actor', 'host')).toEqual([])
  expect(await ran('audit', 'list', '--from', '2026-01-01T00:00:00+01:00', '--actor', 'host')).toHaveLength(1)
  expect(await refusal('audit', 'list', '--from', 'yesterday')).toBe(
    '--from must be a day or time that exists, like 2026-11-20 or 2026-11-20T10:00:00Z, got "yesterday"',
  )
  expect(await refusal('audit', 'list', '--to', '2026-02-31')).toMatch(/^--to must be a day or time that exists/)
  expect(await refusal('audit', 'list', '--subject', 'shoe:1')).toMatch(/^--subject must be like endpoint:7, of network, key,/)
  expect(await refusal('audit', 'list', '--limit', '0')).toMatch(/^--limit must be a number from 1 to 10000/)
  expect(await refusal('audit', 'list', '--action', 'key.stolen')).toMatch(/Allowed choices are network.created/)

  const file = join(temporaryDirectory(), 'audit.ndjson')
  expect(await ran('audit', 'export', '--to', file)).toEqual([{ network_id: '1', entries: 231, file }])
  const entries = linesOf([await readFile(file, 'utf8')])
  expect(entries.map(({ details }) => details.place)).toEqual([undefined, ...Array.from({ length: 230 }, (_, place) => place)])
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await refusal('audit', 'export', '--to', file)).toBe(`${file} exists: give the name of a new file`)
  expect(await refusal('audit', 'export', '--to', join(file, 'x'))).toMatch(/cannot be written \(ENOTDIR\)/)
})

test('an export that fails leaves no file under its name', async () => {
  const { address, storage } = await withLines(3)
  // A line that a person has damaged cannot be read.
  await storage.transaction(async (tx) => {
    const { native } = tx as unknown as { native: { exec(sql: string): void } }
    native.exec(`UPDATE folkmoot_audit SET details = 'no JSON' WHERE id = (SELECT max(id) FROM folkmoot_audit)`)
  })
  const file = join(temporaryDirectory(), 'audit.ndjson')
  expect(await commandsOn(address).refusal('audit', 'export', '--to', file)).toBeDefined()
  await expect(stat(file)).rejects.toThrow('ENOENT')
  await expect(stat(`${file}.unfinished`)).rejects.toThrow('ENOENT')
})

test('names that would move a cursor are shown as text, in at most 100 columns', async () => {
  const { storage, address } = await withLines(1)
  const at = '2026-11-20T10:00:00.000Z'
  const hostile = '\u001b[2J\u202e<script>'
  const line = { id: '5', network_id: '1', created_at: at, updated_at: at, action: 'key.revoked', subject_type: 'key' } as const
  const texts = {
    actor: hostile.repeat(9),
    address: hostile,
    subject_id: '7',
    subject_name: hostile,
    details: { [hostile]: hostile },
  }
  await storage.transaction((tx) => tx.insert(audit, { ...line, ...texts }))
  for (const wide of [[], ['--wide']]) {
    const { lines } = await folkmoot('audit', 'list', '--storage', address, ...wide)
    const shown = lines.join('\n')
    expect(shown).toContain('?[2J?<script>')
    expect(shown).not.toMatch(/[\u001b\u202e]/)
    if (wide.length === 0) expect(Math.max(...shown.split('\n').map((each) => each.length))).toBeLessThanOrEqual(100)
  }
})
