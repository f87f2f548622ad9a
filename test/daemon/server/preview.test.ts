/** Commands that change something show with `--preview` what it would be, and change nothing. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { previewsOf } from '../../../daemon/server/control/calls.ts'
import { refusedByRelay, withRelayRules } from '../../../daemon/server/operate/relay-rules.ts'
import { createCommunity } from '../../../lib/index.ts'
import { begun } from '../../support/begun.ts'
import { demoNetwork } from '../../support/community.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import type { Json } from '../../support/json.ts'
import { folkmoot } from '../../support/program.ts'

const owner = ['--owner-email', 'ada@example.org', '--owner-name', 'Ada Ash']

/** The names and contents of all files of a directory. */
const filesIn = (directory: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => `${file} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`)

async function setUp() {
  const directory = temporaryDirectory()
  const storage = ['--storage', `lowdb:${join(directory, 'db.json')}`]
  const make = async (...args: readonly string[]): Promise<Json> => {
    const { lines, refused } = await folkmoot(...args, ...storage, '--json')
    expect([args, refused]).toEqual([args, undefined])
    return JSON.parse(lines.at(-1) ?? '')
  }
  const network = await make('networks', 'create', '--subdomain', 'paint-pals', '--title', 'Paint Pals', ...owner)
  const key = await make('keys', 'create', '--name', 'Export', '--scope', '*:read')
  const endpoint = await make('endpoints', 'add', '--url', 'https://example.org/hook', '--make-token')
  return { directory, storage, make, network, key, endpoint }
}

test('each command that changes something shows what it would be, and changes no byte of any file', async () => {
  const { directory, storage, network, key, endpoint } = await setUp()
  const [member, other] = [String(network.owner_id), ['--subdomain', 'second', '--title', 'Second', ...owner]]
  const before = filesIn(directory)
  const shows: readonly (readonly [args: readonly string[], sentence: string])[] = [
    [['networks', 'create', ...other], '1 network is added, 1 member is added, 2 custom fields are added; no event'],
    [['networks', 'update', '--subtitle', 'Of paint'], '1 network changes; no event'],
    [['keys', 'create', '--name', 'Import', '--scope', '*'], '1 API key is added; no event'],
    [['keys', 'revoke', String(key.id)], '1 API key changes; no event'],
    [['endpoints', 'add', '--url', 'https://two.example/hook', '--make-token'], '1 endpoint is added; no event'],
    [['endpoints', 'update', String(endpoint.id), '--name', 'Shop'], '1 endpoint changes; no event'],
    [['endpoints', 'rotate', String(endpoint.id), '--make-token'], '1 endpoint changes; no event'],
    [['endpoints', 'disable', String(endpoint.id)], '1 endpoint changes; no event'],
    [['endpoints', 'remove', String(endpoint.id)], '1 endpoint goes; no event'],
    [['endpoints', 'republish'], 'no record changes; no event'],
    [['members', 'role', member, 'host'], 'no record changes; no event'],
  ]
  for (const [args, sentence] of shows) {
    const { lines, refused } = await folkmoot(...args, ...storage, '--preview')
    expect([args, lines, refused]).toEqual([args, [`${sentence}; nothing was changed.`], undefined])
  }
  for (const args of [
    ['ban', member],
    ['remove', member],
    ['erase', member],
    ['unban', member],
    ['role', member, 'moderator'],
  ])
    expect((await folkmoot('members', ...args, ...storage, '--preview')).refused).toBeDefined()
  expect(filesIn(directory)).toEqual(before)
})

test('a preview of `trigger` names the endpoints that would get the event, and records nothing', async () => {
  const { directory, storage, make, endpoint } = await setUp()
  const filter = ['--filter', '{"changed":["role"]}']
  const role = await make('endpoints', 'add', '--url', 'https://example.org/role', '--make-token', ...filter)
  const before = filesIn(directory)
  const previewed = (...args: readonly string[]) => folkmoot('trigger', 'MemberUpdated', ...storage, '--preview', ...args)
  expect(await previewed()).toMatchObject({
    lines: [
      `Endpoint ${endpoint.id} gets it at https://example.org/hook.`,
      'no record changes; 1 event, 1 delivery to 1 endpoint; nothing was changed.',
    ],
    warnings: [`Endpoint ${role.id} is not sent it: its filter does not match what changed. --changed sets that.`],
  })
  const { lines } = await previewed('--changed', 'role', '--json')
  const deliveries = [endpoint, role].map(({ id }) => ({ endpoint_id: id, events: 1 }))
  expect(JSON.parse(lines.join())).toMatchObject({ rows: {}, events: { MemberUpdatedHook: 1 }, deliveries })
  const { refused, warnings } = await previewed('--changed', 'rol')
  expect([refused, warnings]).toEqual(['changed must not have "rol": did you mean role?', []])
  expect(filesIn(directory)).toEqual(before)
})

test('a preview of a storage that is missing makes none', async () => {
  const directory = temporaryDirectory()
  const storage = ['--storage', `lowdb:${join(directory, 'db.json')}`]
  const create = ['networks', 'create', '--subdomain', 'paint-pals', '--title', 'Paint Pals', ...owner]
  expect((await folkmoot(...create, ...storage, '--preview')).refused).toContain('db.json')
  expect(readdirSync(directory)).toEqual([])
})

test('a command beside a running server previews there', async () => {
  const server = begun('serve', '--demo', '--allow-http', '--json', '--port', '0')
  const facts = JSON.parse(await server.firstLine()) as Json
  const on = (...args: readonly string[]) => folkmoot(...args, '--server', String(facts.control), '--json')
  const [member] = (await on('members', 'list')).lines.flatMap((line) => line.split('\n')).map((line) => JSON.parse(line) as Json)
  const erase = ['members', 'erase', String(member.id)]
  const shown = JSON.parse((await on(...erase, '--preview')).lines[0] ?? '')
  expect(Object.keys(shown)).toEqual(['rows', 'events', 'deliveries', 'sentence'])
  expect(shown.rows.members.changed).toBe(1)
  expect(JSON.parse((await on('members', 'show', String(member.id))).lines[0] ?? '')).toMatchObject({ state: 'active' })
})

test('a preview beside a running server is refused by the rules of its relay', async () => {
  const community = createCommunity({ storage: memoryStorage() })
  await community.networks.create(demoNetwork)
  const guard = { allowHttp: false, allowPrivate: false, allowAddresses: [], ports: [] }
  const previewOf = previewsOf(community, async (calls) => withRelayRules(calls, guard))
  const add = (url: string) => previewOf('endpoints.upsert', [{ network: '1', url, token: true }])
  await expect(add('https://localhost/hook')).rejects.toThrow(refusedByRelay)
  expect(await add('https://example.org/hook')).toMatchObject({ rows: { webhook_endpoints: { inserted: 1 } } })
})
