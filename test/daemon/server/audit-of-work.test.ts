/** The lines of the relay's commands in the audit, for each kind of outbox, and those of commands that do more than change a row. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { relayHome } from '../../../daemon/relay/ingest/outbox-address.ts'
import { startRelay } from '../../../daemon/relay/relay.ts'
import { begun } from '../../support/begun.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import type { Json } from '../../support/json.ts'
import { testPostgres } from '../../support/postgres.ts'
import { ended, folkmoot } from '../../support/program.ts'
import { receiver, status, until } from '../relay/support.ts'

const server = await testPostgres()
const me = `cli:${userInfo().username}`

const linesOf = (lines: readonly string[]): Json[] =>
  lines.flatMap((text) => text.split('\n')).flatMap((text) => (text === '' ? [] : [JSON.parse(text) as Json]))

/** Commands on a storage, and on the relay of its outbox. */
function commandsOn(storage: string, outbox: string) {
  const ran = async (...args: readonly string[]): Promise<Json[]> => {
    const { lines, refused } = await folkmoot(...args, '--storage', storage, '--json')
    expect([args, refused]).toEqual([args, undefined])
    return linesOf(lines)
  }
  const relay = (...args: readonly string[]) => ended('folkmoot-relay', ...args, '--outbox', outbox, '--json')
  const told = async (network: string): Promise<Json[]> => {
    const lines = await ran('audit', 'list', '--network', network, '--limit', '1000')
    return lines.toReversed()
  }
  return { ran, relay, told }
}

const engines: readonly (readonly [string, () => { readonly storage: string; readonly outbox: string }])[] = [
  [
    'a directory',
    () => {
      const directory = temporaryDirectory()
      return { storage: `lowdb:${join(directory, 'db.json')}`, outbox: join(directory, 'outbox') }
    },
  ],
  [
    'SQLite',
    () => {
      const storage = `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`
      return { storage, outbox: storage }
    },
  ],
  [
    'PostgreSQL',
    () => {
      const storage = `${server.url}?schema=${server.newSchema()}`
      onTestFinished(() => rmSync(relayHome(storage), { recursive: true, force: true }))
      return { storage, outbox: storage }
    },
  ],
]

/** Two networks with an endpoint each, whose deliveries are dead: two and one. */
async function withDead({ storage, outbox }: { readonly storage: string; readonly outbox: string }) {
  const hook = await receiver(status(500))
  const commands = commandsOn(storage, outbox)
  const { ran } = commands
  const networks: { id: string; endpoint: string }[] = []
  for (const [name, events] of [
    ['first', 2],
    ['second', 1],
  ] as const) {
    const owner = ['--owner-email', 'ada@example.org', '--owner-name', 'Ada Ash']
    const [network] = await ran('networks', 'create', '--subdomain', name, '--title', name, ...owner)
    const url = ['--url', hook.url, '--token', 'the-key', '--name', 'Shop']
    const [endpoint] = await ran('endpoints', 'add', '--network', network.id, ...url)
    for (let place = 0; place < events; place++) await ran('trigger', 'PostCreated', '--network', network.id)
    networks.push({ id: network.id, endpoint: endpoint.id })
  }
  let dead = 0
  const relay = await startRelay({
    ...{ outbox, settings: { retrySchedule: [0], allowHttp: true, allowPrivate: true } },
    onAttempt: ({ state }) => {
      if (state === 'dead') dead++
    },
  })
  await until(() => dead === 3, 'all are dead')
  await relay.close(0)
  hook.respond = status(204)
  const [first, second] = networks
  return { ...commands, first: first ?? { id: '', endpoint: '' }, second: second ?? { id: '', endpoint: '' } }
}

describe.each(engines)('of an outbox in %s', (name, place) => {
  test('each command of the relay leaves its lines on the networks that it concerns, with the numbers of each', async () => {
    const at = place()
    const { relay, told, first, second } = await withDead(at)
    const before = [(await told(first.id)).length, (await told(second.id)).length] as const
    expect((await relay('resend', '--all', '--per-second', '100')).stdout).toBe('{"resent":3}\n')
    expect((await relay('skip', '--endpoint-id', first.endpoint)).stdout).toBe('{"skipped":2}\n')
    expect((await relay('close-circuit', '--endpoint-id', first.endpoint)).code).toBe(0)
    const test = ['endpoints', 'test', '--endpoint-id', first.endpoint, '--allow-http', '--allow-private']
    expect((await relay(...test)).code).toBe(0)
    // Nothing is due again, and no one has such an endpoint: nothing was requested.
    expect((await relay('resend', '--all')).stdout).toBe('{"resent":0}\n')
    expect((await relay('skip', '--endpoint-id', '999')).code).toBe(1)
    if (name === 'a directory') {
      // They wait for whoever holds the storage: here a running server.
      expect(readdirSync(join(at.outbox, 'audit')).length).toBe(10)
      const api = begun('serve', '--json', '--port', '0', '--allow-http', '--storage', at.storage)
      await api.firstLine()
    }
    const lines = (await told(first.id)).slice(before[0])
    const works = (action: string, subject: object, asked: object, done: object) => [
      { actor: me, action: 'work.requested', subject, details: { work: action, ...asked } },
      { actor: me, action, subject, details: { ...asked, ...done } },
    ]
    const endpoint = { type: 'endpoint', id: first.endpoint, name: 'Shop' }
    const network = { type: 'network', id: first.id, name: null }
    const resent = { filter: { state: 'dead', limit: 10_000 }, per_second: 100 }
    const { outcome, status } = { outcome: 'delivered', status: 204 }
    expect(lines).toMatchObject([
      ...works('deliveries.resent', network, { ...resent, matched: 2 }, { resent: 2 }),
      ...works('deliveries.skipped', endpoint, { filter: {} }, { skipped: 2 }),
      ...works('endpoint.circuit_closed', endpoint, {}, { was: 'closed' }),
      ...works('endpoint.tested', endpoint, {}, { outcome, status }),
    ])
    for (const [place, { details }] of lines.entries()) expect(details.work_id).toBe(lines[place - (place % 2)].details.work_id)
    expect((await told(second.id)).slice(before[1])).toMatchObject(
      works('deliveries.resent', { ...network, id: second.id }, { ...resent, matched: 1 }, { resent: 1 }),
    )
    if (name === 'a directory') expect(readdirSync(join(at.outbox, 'audit'))).toEqual([])
  })
})

test('a command of the relay that cannot write its line does nothing, and names the cause', async () => {
  const directory = temporaryDirectory()
  const at = { storage: `lowdb:${join(directory, 'db.json')}`, outbox: join(directory, 'outbox') }
  const { relay, first } = await withDead(at)
  writeFileSync(join(at.outbox, 'audit'), 'no directory')
  for (const args of [
    ['resend', '--all'],
    ['close-circuit', '--endpoint-id', first.endpoint],
  ]) {
    const { code, stderr } = await relay(...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining('nothing was done, because the audit cannot be written')])
  }
  expect(linesOf([(await relay('dead')).stdout])).toHaveLength(3)
})

test('commands that do more than change a row leave two lines, and one that fails claims nothing', async () => {
  const storage = `lowdb:${join(temporaryDirectory(), 'db.json')}`
  const { ran, told } = commandsOn(storage, '')
  const api = begun('serve', '--demo', '--json', '--port', '0', '--allow-http', '--storage', storage)
  const facts = JSON.parse(await api.firstLine())
  const start = (await told('1')).length
  const fresh = async () =>
    (await told('1')).slice(start).map(({ actor, action, subject, details }) => ({ actor, action, subject, details }))
  const works = (action: string, subject: object, asked: object, done: object) => [
    { actor: me, action: 'work.requested', subject, details: { work: action, ...asked } },
    { actor: me, action, subject, details: { ...asked, ...done } },
  ]
  const network = { type: 'network', id: '1', name: null }
  const failed = [
    { actor: me, action: 'work.requested' },
    { actor: me, action: 'work.failed', details: { work: 'members.consent', members: 0 } },
  ]
  const [{ members }] = await ran('members', 'consent', '--all')
  const refused = await folkmoot('members', 'consent', '--member', '999', '--storage', storage)
  expect(refused.refused).toBeDefined()
  expect(await fresh()).toMatchObject([...works('members.consent', network, { consent: true }, { members }), ...failed])

  const copy = `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`
  const pull = [
    'pull',
    '--from',
    facts.url,
    '--network',
    'demo',
    '--token',
    facts.token,
    '--to',
    copy,
    '--only',
    'members',
    '--json',
  ]
  const pulled = await folkmoot(...pull)
  expect([pulled.refused, pulled.failed]).toEqual([undefined, false])
  const ofCopy = commandsOn(copy, copy)
  const from = expect.stringContaining(facts.url)
  const [asked, done] = await ofCopy.told('1')
  expect([asked, done]).toMatchObject(works('network.pulled', network, { from }, {}))
  expect(done.details.added).toBeGreaterThan(50)
})
