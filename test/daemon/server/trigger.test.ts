/** `folkmoot trigger`, to a separate receiver over real HTTP. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { examplesOf } from '../../../daemon/help.ts'
import { catalogue } from '../../../lib/events/catalogue.ts'
import { type ReceivedEvent, receive } from '../../../lib/receiver/index.ts'
import { begun } from '../../support/begun.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import type { Json } from '../../support/json.ts'
import { onLoopback } from '../../support/on-loopback.ts'
import { folkmoot } from '../../support/program.ts'

const key = 'my-webhook-token'

/** A receiver on loopback, and the events that it gets. */
async function startReceiver() {
  const events: ReceivedEvent[] = []
  let told = () => {}
  const origin = await onLoopback(async (request, response) => {
    events.push((await receive(request, { token: key, secrets: false })).event)
    response.writeHead(204).end()
    told()
  })
  const until = (count: number): Promise<void> =>
    new Promise((resolve) => {
      told = () => {
        if (events.length >= count) resolve()
      }
      told()
    })
  return { url: `${origin}/webhooks`, events, until }
}

async function startServer() {
  const storage = `lowdb:${join(temporaryDirectory(), 'db.json')}`
  const server = begun('serve', '--demo', '--relay', '--allow-http', '--json', '--port', '0', '--storage', storage)
  const facts = JSON.parse(await server.firstLine()) as Json
  const receiver = await startReceiver()
  const { refused } = await folkmoot('endpoints', 'add', '--storage', storage, '--url', receiver.url, '--token', key)
  expect(refused).toBeUndefined()
  return { storage, facts, receiver }
}

test('every event reaches an endpoint with the id of the network, and no record changes', async () => {
  const { storage, receiver } = await startServer()
  // Its outbox aside, which lowdb writes first.
  const tables = async () => JSON.stringify(JSON.parse(await readFile(storage.slice('lowdb:'.length), 'utf8')).tables)
  const before = await tables()
  const names = Object.keys(catalogue)
  for (const name of names) {
    const { lines, refused } = await folkmoot('trigger', name, '--storage', storage, '--json')
    expect([name, refused]).toEqual([name, undefined])
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ event_type: `${name}Hook`, endpoints: [expect.any(String)] })
  }
  await receiver.until(names.length)
  expect(receiver.events.map(({ event_type }) => event_type).sort()).toEqual(names.map((name) => `${name}Hook`).sort())
  const joined = receiver.events.find(({ event_type }) => event_type === 'MemberJoinedHook')
  expect(joined?.payload).toMatchObject({ network_id: '1', member: { first_name: 'Ada' } })
  expect((await tables()) === before).toBe(true)
})

test('fields of the payload can be set, by their path', async () => {
  const { storage, receiver } = await startServer()
  const fields = [
    'member.first_name=Bob',
    'member.referral_count=7',
    'member.bio=null',
    'member.categories.0.title=12',
    'space_id=3001',
  ]
  const { refused } = await folkmoot(
    'trigger',
    'MemberJoined',
    '--storage',
    storage,
    ...fields.flatMap((each) => ['--field', each]),
  )
  expect(refused).toBeUndefined()
  await receiver.until(1)
  expect(receiver.events[0]?.payload).toMatchObject({
    space_id: '3001',
    member: { first_name: 'Bob', referral_count: 7, bio: null, categories: [{ title: '12' }] },
  })
})

/** The sentence about an event that is in the outbox. */
const inOutbox = (whose: string): RegExp =>
  new RegExp(`^PostCreatedHook is in the outbox as event [0-9a-f-]{36}, for ${whose} of pals\\.$`)

/** A storage with one network, and no server. */
async function madeStorage(): Promise<string> {
  const storage = `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`
  const owner = ['--owner-email', 'ada@example.org', '--owner-name', 'Ada Ash']
  await folkmoot('networks', 'create', '--storage', storage, '--subdomain', 'pals', '--title', 'Pals', ...owner)
  return storage
}

test.each([
  [['PostCreate'], 'there is no event "PostCreate": did you mean PostCreated?'],
  [['membrJoinedHook'], 'there is no event "membrJoinedHook": did you mean MemberJoined?'],
  [['Nonsense'], 'there is no event "Nonsense": `folkmoot trigger --list` shows all'],
  [[], 'name an event, such as PostCreated; `folkmoot trigger --list` shows all'],
  [['WelcomeEmailRequested'], "WelcomeEmailRequested is the host's own mail to send, and no event for integrations"],
  [['RsvpCreated', '--field', 'x'], '--field must be like title=Hello or member.first_name=Ada, got "x"'],
  [['MemberJoined', '--field', 'member.name=x'], /^--field member\.name: there is no such field; there are id, created_at, /],
  [['MemberJoined', '--field', 'space_id.id=x'], '--field space_id.id: space_id has no fields'],
  [['MemberJoined', '--field', 'member.referral_count=many'], /^member\.referral_count /],
  [['MemberUpdated', '--changed', 'rol'], 'changed must not have "rol": did you mean role?'],
  [['MemberUpdated', '--changed', ''], /^changed must not have "": /],
  [['PostCreated', '--changed', 'title'], 'changed must not have "title": PostCreatedHook names no changed fields'],
])('trigger %j is refused', async (args, sentence) => {
  const { refused } = await folkmoot('trigger', ...args, '--storage', await madeStorage())
  expect(refused).toMatch(sentence)
})

test('the example of its help works', async () => {
  const [example = ''] = examplesOf('folkmoot', 'trigger')
  const { refused } = await folkmoot(...example.split(' ').slice(1), '--storage', await madeStorage())
  expect(refused).toBeUndefined()
})

test('without an endpoint the command says so; a storage without a server takes the event too', async () => {
  const { lines, warnings, refused } = await folkmoot('trigger', 'PostCreatedHook', '--storage', await madeStorage())
  expect({ lines, warnings, refused }).toEqual({
    lines: [expect.stringMatching(inOutbox('0 endpoints'))],
    warnings: ['No endpoint receives it: `folkmoot listen` or `folkmoot endpoints add` registers an endpoint.'],
    refused: undefined,
  })
})

test('a disabled endpoint is among those that the event is for, and named, because its deliveries wait', async () => {
  const storage = await madeStorage()
  const at = ['--storage', storage]
  const added = await folkmoot('endpoints', 'add', ...at, '--url', 'https://example.org/hook', '--token', key, '--json')
  const { id } = JSON.parse(added.lines[0] ?? '') as { id: string }
  await folkmoot('endpoints', 'disable', id, ...at)
  const { lines, warnings, refused } = await folkmoot('trigger', 'PostCreated', ...at)
  expect({ lines, warnings, refused }).toEqual({
    lines: [expect.stringMatching(inOutbox('1 endpoint'))],
    warnings: [`Endpoint ${id} is disabled: the event waits, and is sent once you enable the endpoint.`],
    refused: undefined,
  })
  const { lines: json } = await folkmoot('trigger', 'PostCreated', ...at, '--json')
  expect(JSON.parse(json[0] ?? '')).toMatchObject({ endpoints: [id] })
})

test('an endpoint whose filter does not match is not among those that the event is for, and named', async () => {
  const storage = await madeStorage()
  const at = ['--storage', storage]
  const filter = ['--filter', '{"path":"/title","equals":"Oil"}']
  const url = ['--url', 'https://example.org/hook', '--token', key]
  const added = await folkmoot('endpoints', 'add', ...at, ...url, ...filter, '--json')
  const { id } = JSON.parse(added.lines[0] ?? '') as { id: string }
  const { lines, warnings } = await folkmoot('trigger', 'PostCreated', ...at)
  expect({ lines, warnings }).toEqual({
    lines: [expect.stringMatching(inOutbox('0 endpoints'))],
    warnings: [`Endpoint ${id} is not sent it: its filter does not match the payload. --field changes that.`],
  })
  const of = async (...fields: readonly string[]) => {
    const { lines } = await folkmoot('trigger', 'PostCreated', ...at, ...fields, '--json')
    return JSON.parse(lines[0] ?? '') as { endpoints: string[] }
  }
  expect((await of()).endpoints).toEqual([])
  expect((await of('--field', 'title=Oil')).endpoints).toEqual([id])
})

test('an endpoint with a filter on changed fields gets an update that names them, and the hint says how', async () => {
  const storage = await madeStorage()
  const at = ['--storage', storage]
  const endpointWith = async (place: string, filter: object) => {
    const url = ['--url', `https://example.org/${place}`, '--token', key]
    const { lines } = await folkmoot('endpoints', 'add', ...at, ...url, '--filter', JSON.stringify(filter), '--json')
    return (JSON.parse(lines[0] ?? '') as { id: string }).id
  }
  const role = await endpointWith('role', { changed: ['role'] })
  const both = await endpointWith('both', {
    all: [{ changed: ['role', 'email'] }, { path: '/member/first_name', equals: 'Bob' }],
  })
  const triggered = async (...args: readonly string[]) => (await folkmoot('trigger', ...args, ...at)).warnings
  const hint = (id: string, why: string) => `Endpoint ${id} is not sent it: its filter does not match ${why}`
  const byChanged = 'what changed. --changed sets that.'
  const byBoth = 'the payload and what changed. --field and --changed set them.'
  expect(await triggered('MemberUpdated')).toEqual([hint(role, byChanged), hint(both, byBoth)])
  expect(await triggered('MemberUpdated', '--field', 'member.first_name=Bob')).toEqual([
    hint(role, byChanged),
    hint(both, byChanged),
  ])
  expect(await triggered('MemberUpdated', '--changed', 'bio, email')).toEqual([hint(role, byChanged), hint(both, byBoth)])
  const bob = ['--field', 'member.first_name=Bob']
  const { lines } = await folkmoot('trigger', 'MemberUpdated', ...bob, '--changed', 'role,email', ...at, '--json')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ endpoints: [role, both], changed: ['role', 'email'] })
  const none = `Endpoint ${role} is not sent it: its filter is about changed fields, and PostCreatedHook names none.`
  expect(await triggered('PostCreated')).toContain(none)
})

test('the changed fields reach the receiver', async () => {
  const { storage, receiver } = await startServer()
  await folkmoot('trigger', 'MemberUpdated', '--storage', storage, '--changed', 'role,email')
  await receiver.until(1)
  expect(receiver.events[0]?.changed).toEqual(['email', 'role'])
})

test('the id of the event is the one that the receiver gets', async () => {
  const { storage, receiver } = await startServer()
  const { lines } = await folkmoot('trigger', 'PostCreated', '--storage', storage, '--json')
  const { lines: told } = await folkmoot('trigger', 'PostCreated', '--storage', storage)
  await receiver.until(2)
  const ids = receiver.events.map(({ event_id }) => event_id)
  expect(ids).toContain((JSON.parse(lines[0] ?? '') as Json)['event_id'])
  expect(ids).toContain(/as event (\S+),/.exec(told[0] ?? '')?.[1])
})

test('--list shows every event with its causes, in at most 100 columns', async () => {
  const { lines } = await folkmoot('trigger', '--list')
  const rows = lines.join('\n').split('\n')
  expect(rows.filter((row) => /^\w+Hook /.test(row))).toHaveLength(Object.keys(catalogue).length)
  expect(rows.filter((row) => row.length > 100)).toEqual([])
  const { lines: json } = await folkmoot('trigger', '--list', '--json')
  expect(
    json
      .join('\n')
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toContainEqual({
    event_type: 'CommentCreatedHook',
    operations: ['comments.create'],
  })
})
