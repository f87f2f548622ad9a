/** `folkmoot listen` beside a real server with a relay, in front of an application over real HTTP. */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { receive } from '../../../../lib/receiver/index.ts'
import { begun, begunRelay } from '../../../support/begun.ts'
import { environment, program, run, watched } from '../../../support/command.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import type { Json } from '../../../support/json.ts'
import { onLoopback } from '../../../support/on-loopback.ts'
import { folkmoot } from '../../../support/program.ts'

const key = 'my-webhook-token'
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

interface Taken {
  readonly event_type: string
  readonly headers: IncomingHttpHeaders
}

/** The application under development: it verifies what it gets, and responds with the next of these statuses. */
async function startApplication(...statuses: readonly number[]) {
  const taken: Taken[] = []
  const next = [...statuses]
  const origin = await onLoopback(async (request, response) => {
    const { event } = await receive(request, { token: key, secrets: secret })
    taken.push({ event_type: event.event_type, headers: request.headers })
    response.writeHead(next.shift() ?? 204).end()
  })
  return { url: `${origin.replace('127.0.0.1', 'localhost')}/webhooks`, taken }
}

const serving = ['serve', '--demo', '--relay', '--json', '--port', '0', '--storage'] as const

const newStorage = (): string => `lowdb:${join(temporaryDirectory(), 'db.json')}`

async function startServer(...flags: readonly string[]) {
  const storage = newStorage()
  const server = begun(...serving, storage, ...flags)
  await server.firstLine()
  return { ...server, storage }
}

const listening = (storage: string): readonly string[] => ['listen', '--storage', storage, '--token', key, '--secret', secret]

const startListener = (storage: string, ...flags: readonly string[]) => begun(...listening(storage), ...flags)

/** A listener as a process, with a pipe for its keys. */
function listenerProcess(storage: string, ...flags: readonly string[]) {
  const child = spawn(process.execPath, [program('folkmoot'), ...listening(storage), ...flags], {
    stdio: 'pipe',
    env: environment(),
  })
  return { ...watched('folkmoot', child as never), press: (text: string) => child.stdin.write(text) }
}

const urlsIn = async (storage: string): Promise<readonly string[]> => {
  const { lines } = await folkmoot('endpoints', 'list', '--storage', storage, '--json')
  return lines
    .join('\n')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).url)
}

const trigger = async (event: string, storage: string) => {
  expect((await folkmoot('trigger', event, '--storage', storage)).refused).toBeUndefined()
}

test('deliveries are shown and forwarded with their signatures; a key press sends the last one again; stopping removes its endpoint', async () => {
  const { storage } = await startServer('--allow-http')
  const application = await startApplication(204)
  const listener = listenerProcess(
    storage,
    '--forward-to',
    application.url,
    '--headers',
    'x-tenant: 7',
    '--events',
    'PostCreated,RsvpCreatedHook',
  )
  await listener.written('Connected: a test delivery has come back.')
  await trigger('MemberJoined', storage)
  await trigger('PostCreated', storage)
  await listener.written('PostCreatedHook  ')
  listener.press('r')
  await listener.written('re-sent by you')
  expect(application.taken.map(({ event_type, headers }) => [event_type, headers['x-tenant'], headers['webhook-id']])).toEqual([
    ['PostCreatedHook', '7', expect.any(String)],
    ['PostCreatedHook', '7', application.taken[0]?.headers['webhook-id']],
  ])
  expect(listener.out.stdout).toMatch(/^\d\d:\d\d:\d\d {2}204 {2}PostCreatedHook {2}[\da-f-]{36} {2}\d+ ms$/m)
  expect(listener.out.stdout).toContain('\n  Ada published the post “Spring in the garden”\n')
  expect(listener.out.stdout).not.toContain('MemberJoinedHook')
  expect(await urlsIn(storage)).toHaveLength(1)
  listener.child.kill('SIGINT')
  expect([await listener.ended, listener.out.stderr, await urlsIn(storage)]).toEqual([0, '', []])
})

test("the application's status reaches the relay, which sends the event again, and that is shown; without the relay it ends", async () => {
  const directory = temporaryDirectory()
  const storage = `sqlite:${join(directory, 'db.sqlite')}`
  const owner = ['--owner-email', 'ada@example.org', '--owner-name', 'Ada Ash']
  await folkmoot('networks', 'create', '--storage', storage, '--subdomain', 'pals', '--title', 'Pals', ...owner)
  const relay = ['run', '--outbox', storage, '--allow-http', '--allow-private', '--retry-schedule', '0,0.2,0.2']
  const relaying = begunRelay(...relay)
  const application = await startApplication(500, 204)
  const listener = startListener(storage, '--forward-to', application.url, '--json')
  await listener.written('"kind":"connected"')
  await trigger('PostCreated', storage)
  await listener.written('"times":2')
  const lines = listener.out.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Json)
  expect(lines.map(({ kind, status, times }) => [kind, status, times])).toEqual([
    ['registered', undefined, undefined],
    ['connected', undefined, undefined],
    ['delivery', 500, 1],
    ['delivery', 204, 2],
  ])
  expect(lines[2]).toMatchObject({
    event_type: 'PostCreatedHook',
    event: { payload: { title: 'Spring in the garden' } },
    problem: null,
  })

  expect(await relaying.stop()).toBe(0)
  expect(await listener.ended).toBe(1)
  expect(listener.out.stderr).toContain('the relay has ended: nothing more will come')
})

test('without --forward-to deliveries are acknowledged; --print-json prints their bodies alone', async () => {
  const { storage } = await startServer('--allow-http')
  const listener = startListener(storage, '--print-json', '--output', 'full')
  await vi.waitUntil(() => listener.out.stderr.includes('Connected'), { timeout: 60_000 })
  await trigger('MemberTagAdded', storage)
  const body = JSON.parse(await listener.firstLine()) as Json
  expect(body).toMatchObject({ event_type: 'MemberTagAddedHook', payload: { member: { first_name: 'Ada' } } })
  expect(listener.out.stderr).toContain('not forwarded')
  expect(listener.out.stderr).toContain('  webhook-signature: v1,')
})

test('an application that is away is shown, and its delivery is not acknowledged; a server on memory is named by its control', async () => {
  const server = begun(...serving, 'memory:', '--allow-http')
  const { control } = JSON.parse(await server.firstLine()) as Json
  const listener = startListener('memory:', '--server', control, '--forward-to', '127.0.0.1:1')
  await listener.written('Connected')
  expect((await folkmoot('trigger', 'PostCreated', '--server', control)).refused).toBeUndefined()
  await listener.written('nothing listens there')
  expect(listener.out.stdout).toMatch(/ {2}502 {2}PostCreatedHook .*nothing listens there$/m)
  await vi.waitUntil(() => server.out.stderr.includes('attempt 1: 502'), { timeout: 60_000 })
})

test('an application that responds with 410 ends the listener, because the relay disables its endpoint', async () => {
  const { storage } = await startServer('--allow-http')
  const application = await startApplication(410)
  const listener = startListener(storage, '--forward-to', application.url)
  await listener.written('Connected')
  await trigger('PostCreated', storage)
  expect(await listener.ended).toBe(1)
  expect(listener.out.stderr).toContain('folkmoot: the relay has disabled endpoint')
})

/** Spoils the connection of a listener, which ends with an error. */
async function endsListener(storage: string, spoil: (endpoint: string) => unknown, sentence: RegExp): Promise<void> {
  const listener = startListener(storage, '--json')
  await listener.written('"kind":"connected"')
  const { endpoint_id } = JSON.parse(await listener.firstLine()) as Json
  await spoil(endpoint_id)
  expect(await listener.ended).toBe(1)
  const { error } = JSON.parse(listener.out.stderr.trim().split('\n').at(-1) ?? '') as Json
  expect(`folkmoot: ${error}`).toMatch(sentence)
  expect(await urlsIn(storage)).toEqual([])
}

test.each([
  ['removed', 'remove'],
  ['disabled', 'disable'],
])('a %s endpoint ends the listener with an error', async (how, command) => {
  const { storage } = await startServer('--allow-http')
  const spoil = (id: string) => folkmoot('endpoints', command, id, '--storage', storage)
  await endsListener(storage, spoil, new RegExp(`was ${how}: nothing more will come`))
})

test('a server that is killed ends the listener with an error, and the endpoint is removed from the file itself', async () => {
  const storage = newStorage()
  const server = run('folkmoot', ...serving, storage, '--allow-http')
  await server.firstLine()
  const kill = () => server.child.kill('SIGKILL')
  await endsListener(storage, kill, /^folkmoot: the server cannot be reached any more/m)
})

test('a relay that may not reach this machine is no connection, and the remedy is named', async () => {
  const { storage } = await startServer('--trust-proxy')
  const listener = startListener(storage)
  expect(await listener.ended).toBe(1)
  expect(listener.out.stderr).toContain('the relay may not reach this machine: start the server with --demo --relay --allow-http')
  expect(listener.out.stdout).not.toContain('Connected')
  expect(await urlsIn(storage)).toEqual([])
})

test('forged deliveries are refused and shown; with --skip-verify nothing is verified', async () => {
  const { storage } = await startServer('--allow-http')
  const strict = startListener(storage, '--json')
  await strict.written('"kind":"connected"')
  const { url } = JSON.parse(await strict.firstLine()) as Json
  const post = (to: string) =>
    fetch(to, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: '{"event_type":"Odd\\u001b[2J"}' })
  expect((await post(url)).status).toBe(401)
  await strict.written('signature_missing')
  const lax = startListener(storage, '--skip-verify')
  await lax.written('Connected')
  const [other = ''] = (await urlsIn(storage)).filter((each) => each !== url)
  expect((await post(other)).status).toBe(204)
  await lax.written('Odd?[2J')
})

test.each([
  [['--forward-to', 'ftp://localhost/x'], '--forward-to must be like http://localhost:3000/webhooks, got "ftp://localhost/x"'],
  [['--headers', 'host: x'], "--headers must be like 'x-tenant: 7', and not a header of the connection"],
  [['--headers', 'nothing'], "--headers must be like 'x-tenant: 7'"],
  [['--events', 'PostCreate'], 'there is no event "PostCreate": did you mean PostCreated?'],
  [[], 'no server runs on lowdb:'],
])('listen %j is refused', async (flags, sentence) => {
  const directory = temporaryDirectory()
  mkdirSync(join(directory, 'data'))
  writeFileSync(join(directory, 'data', 'db.json'), '{}')
  const { refused } = await folkmoot('listen', '--storage', `lowdb:${join(directory, 'data', 'db.json')}`, ...flags)
  expect(refused).toContain(sentence)
})
