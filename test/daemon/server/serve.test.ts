import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { catalogue } from '../../../lib/events/catalogue.ts'
import { begun } from '../../support/begun.ts'
import { run } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import type { Json } from '../../support/json.ts'
import { ended, folkmoot } from '../../support/program.ts'

const demo = ['serve', '--demo', '--allow-http', '--json', '--port', '0'] as const

async function get(url: string, token: string): Promise<{ status: number; body: Json }> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  return { status: response.status, body: await response.json() }
}

test('serve --json prints one line with all that a program needs, and ends cleanly on SIGTERM', async () => {
  const directory = temporaryDirectory()
  const server = run('folkmoot', ...demo, '--storage', `lowdb:${join(directory, 'db.json')}`)
  const facts = JSON.parse(await server.firstLine())
  expect(facts).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    network_id: '1',
    subdomain: 'demo',
    token: expect.stringMatching(/^fmt_[0-9A-Za-z]{49}$/),
    outbox: join(directory, 'outbox'),
    assets: join(directory, 'assets'),
    control: join(directory, 'db.json.control'),
    panel: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/admin\/panel\/login\?code=[\w-]{43}$/),
  })
  const me = await get(`${facts.url}/admin/v1/networks/demo/me`, facts.token)
  expect(me).toMatchObject({ status: 200, body: { role: 'host', network_id: '1' } })
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  expect(server.out.stdout.split('\n')).toHaveLength(2)
  expect(server.out.stderr).toBe('')
})

test('a demo whose network is read-only does not start, and says what to do', async () => {
  const storage = ['--storage', `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`]
  const server = run('folkmoot', ...demo, ...storage)
  await server.firstLine()
  server.child.kill('SIGTERM')
  await server.ended
  const update = (flag: string) => ended('folkmoot', 'networks', 'update', flag, ...storage)
  expect((await update('--read-only')).code).toBe(0)
  const refused = await ended('folkmoot', ...demo, ...storage)
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/is read-only: .*networks update --no-read-only/)])
  expect((await update('--no-read-only')).code).toBe(0)
})

test('a server whose log no one reads any more continues to respond', async () => {
  const directory = temporaryDirectory()
  const server = run('folkmoot', ...demo, '--access-log', '--storage', `lowdb:${join(directory, 'db.json')}`)
  const { url, token } = JSON.parse(await server.firstLine())
  server.child.stdout?.destroy()
  server.child.stderr?.destroy()
  // Each of these is a fault in the log.
  await rm(directory, { recursive: true })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const create = { method: 'POST', headers, body: '{"title":"Oil"}' }
  for (let turn = 0; turn < 3; turn++) expect((await fetch(`${url}/admin/v1/networks/1/tags`, create)).status).toBe(503)
  expect((await get(`${url}/admin/v1/networks/1/me`, token)).status).toBe(200)
})

test('a terminal that is closed ends the server as SIGTERM does', async () => {
  const server = run('folkmoot', ...demo, '--storage', `lowdb:${join(temporaryDirectory(), 'db.json')}`)
  await server.firstLine()
  server.child.kill('SIGHUP')
  expect(await server.ended).toBe(0)
})

test('a signal while the server starts gives back what it has taken', async () => {
  const directory = temporaryDirectory()
  const server = run('folkmoot', ...demo, '--relay', '--storage', `lowdb:${join(directory, 'db.json')}`)
  const held = async () => (await readdir(directory)).filter((name) => name.includes('.lock'))
  await expect.poll(held, { interval: 1 }).not.toEqual([])
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  expect(await held()).toEqual([])
})

test('a server that cannot remove one of its files ends all the same, and gives back the others', async () => {
  const directory = temporaryDirectory()
  const server = run('folkmoot', ...demo, '--relay', '--storage', `lowdb:${join(directory, 'db.json')}`)
  const { control } = JSON.parse(await server.firstLine())
  // As on a disk that has become read-only, which no test can make while files are open: this one cannot be removed.
  await rm(control)
  await mkdir(control)
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(1)
  expect(JSON.parse(server.out.stderr)).toEqual({ error: expect.stringContaining(control) })
  expect((await readdir(directory)).filter((name) => name.includes('.lock'))).toEqual([])
})

test('a second start changes nothing in the demo network and only makes a fresh token', async () => {
  const directory = temporaryDirectory()
  const storage = `lowdb:${join(directory, 'db.json')}`
  const seen: Json[] = []
  for (let start = 0; start < 2; start++) {
    const server = begun(...demo, '--storage', storage)
    const facts = JSON.parse(await server.firstLine())
    const lists = ['members', 'posts', 'polls', 'events', 'tags', 'badges', 'plans', 'spaces', 'custom_fields'].map((name) =>
      get(`${facts.url}/admin/v1/networks/1/${name}?per_page=100`, facts.token),
    )
    const bodies = (await Promise.all(lists)).filter(({ status }) => status === 200).map(({ body }) => body.items)
    seen.push({ token: facts.token, bodies })
    expect(await server.stop()).toBe(0)
  }
  expect(seen[1].bodies).toEqual(seen[0].bodies)
  expect(seen[0].bodies[0]).toHaveLength(60)
  for (const items of seen[0].bodies) expect(items.length).toBeGreaterThanOrEqual(3)
  expect(seen[1].token).not.toBe(seen[0].token)
})

test('the demo is the same on every machine, ids and times included', async () => {
  const texts = await Promise.all(
    [run('folkmoot', ...demo, '--storage', 'memory:'), begun(...demo, '--storage', 'memory:')].map(async (server) => {
      const facts = JSON.parse(await server.firstLine())
      const { body } = await get(`${facts.url}/admin/v1/networks/1/members?per_page=100`, facts.token)
      return JSON.stringify(body.items)
    }),
  )
  expect(texts[0]).toBe(texts[1])
})

test('a lowdb file belongs to one process: the second is refused with a sentence, the first continues', async () => {
  const directory = temporaryDirectory()
  const storage = `lowdb:${join(directory, 'db.json')}`
  const first = run('folkmoot', ...demo, '--storage', storage)
  const facts = JSON.parse(await first.firstLine())
  const second = run('folkmoot', ...demo, '--storage', storage)
  expect(await second.ended).toBe(2)
  expect(second.out.stdout).toBe('')
  expect(second.out.stderr).toContain(String(first.child.pid))
  expect(second.out.stderr.trim().split('\n')).toHaveLength(1)
  expect((await get(`${facts.url}/admin/v1/networks/1/`, facts.token)).status).toBe(200)
})

test('--webhook-url with --relay: an event arrives at the endpoint with its key', async () => {
  const received: { headers: Json; body: Json }[] = []
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      received.push({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) })
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void receiver.close())
  const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  const keyFile = join(temporaryDirectory(), 'hook.key')
  await writeFile(keyFile, 'secret-key\n')
  const webhook = ['--webhook-url', hook, '--webhook-token-file', keyFile]
  const server = begun(...demo, '--storage', 'memory:', '--relay', ...webhook, '--webhook-order', 'subject')
  const facts = JSON.parse(await server.firstLine())
  const listed = await folkmoot('endpoints', 'list', '--server', facts.control, '--json')
  expect(listed.lines.map((line) => JSON.parse(line))).toMatchObject([{ url: hook, order: 'subject' }])
  const posted = await fetch(`${facts.url}/admin/v1/networks/1/posts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${facts.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ space_id: 2001, title: 'Hello' }),
  })
  const post = (await posted.json()) as Json
  await vi.waitFor(() => expect(received).toHaveLength(1), { timeout: 60_000, interval: 50 })
  expect(received[0]?.headers).toMatchObject({
    'content-type': 'application/json',
    accept: 'application/json',
    authorization: 'Bearer secret-key',
    'user-agent': expect.stringMatching(/^folkmoot-relay\/\d+\.\d+\.\d+/),
  })
  expect(received[0]?.body).toEqual({
    event_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    event_timestamp: post.created_at,
    event_type: 'PostCreatedHook',
    payload: { ...post, author: { id: '1001', email: 'ada.ash.1@example.org', first_name: 'Ada' } },
  })
})

test('wrong usage is one sentence on standard error and exit code 2', async () => {
  const wrong = [
    [...demo, '--storage', 'memory:', '--webhook-url', 'https://example.org'],
    ['serve', '--port', '0', '--storage', 'memory:', '--webhook-url', 'https://example.org', '--webhook-token', 'k'],
    [...demo, '--storage', 'memory:', '--webhook-order', 'subject'],
    [...demo, '--storage', 'memory:', '--webhook-url', 'https://example.org', '--webhook-token', 'k', '--webhook-order', 'lifo'],
    [...demo, '--storage', 'papyrus:scroll'],
    ['serve', '--port', 'many'],
    ['serve', '--port', '0', '--storage', 'memory:', '--public-url', 'https://api.example.org/'],
    ['serve', '--port', '0', '--storage', 'sqlite::memory:'],
    ['keys', 'list', '--storage', 'sqlite::memory:'],
    ['serve', '--port', '0', '--storage', 'memory:', '--tls-cert', 'cert.pem'],
    ['keys', 'create', '--storage', 'memory:', '--name', 'x', '--scope', '*', '--network', 'nowhere'],
    ['serve', '--storage', 'memory:', '--port', '0', '--assets', '/dev/null'],
    ['dance'],
  ]
  const [first = [], ...others] = wrong
  const process = run('folkmoot', ...first)
  const outcomes = [{ code: await process.ended, ...process.out }]
  for (const args of others) outcomes.push(await ended('folkmoot', ...args))
  for (const [place, { code, stdout, stderr }] of outcomes.entries()) {
    expect([wrong[place], code, stdout]).toEqual([wrong[place], 2, ''])
    expect(stderr).toMatch(/\S/)
    expect(stderr).not.toContain('    at ')
  }
})

test('a network and keys from the command line: made, listed, used, revoked', async () => {
  const directory = temporaryDirectory()
  const storage = ['--storage', `lowdb:${join(directory, 'db.json')}`]
  const json = async (...args: string[]): Promise<Json> => {
    const { code, stdout, stderr } = await ended('folkmoot', ...args, ...storage, '--json')
    expect([code, args, stderr]).toEqual([0, args, ''])
    return JSON.parse(stdout)
  }
  const network = await json(
    'networks',
    'create',
    '--subdomain',
    'knitters',
    '--title',
    'Knitters',
    '--owner-email',
    'ada@example.org',
    '--owner-name',
    'Ada Ash',
  )
  const key = await json(
    'keys',
    'create',
    '--network',
    'knitters',
    '--name',
    'Connector',
    '--scope',
    'members:read',
    '--scope',
    'me:read',
  )
  const listed = await json('keys', 'list', '--network', network.id)
  expect(listed).toEqual(expect.objectContaining({ id: key.id, name: 'Connector', status: 'Active', last_used_at: null }))
  expect(JSON.stringify(listed)).not.toContain(key.token)
  const endpoint = await json(
    'endpoints',
    'add',
    '--network',
    'knitters',
    '--url',
    'https://example.org/hook',
    '--token',
    'k',
    '--event',
    'PostCreated',
  )
  expect(await json('endpoints', 'list', '--network', 'knitters')).toEqual(endpoint)
  expect(endpoint).toMatchObject({ events: ['PostCreatedHook'], url: 'https://example.org/hook' })

  const use = async () => {
    const server = begun('serve', '--allow-http', '--json', '--port', '0', ...storage)
    const facts = JSON.parse(await server.firstLine())
    expect(facts).toMatchObject({ network_id: null, token: null })
    const reply = await get(`${facts.url}/admin/v1/networks/knitters/members`, key.token)
    await server.stop()
    return reply
  }
  expect(await use()).toMatchObject({ status: 200, body: { items: [{ first_name: 'Ada', last_name: 'Ash' }] } })
  await json('keys', 'revoke', key.id, '--network', 'knitters')
  expect(await use()).toMatchObject({ status: 401, body: { error: 'token_expired' } })
})

test('spec prints the documents', async () => {
  const api = run('folkmoot', 'spec')
  const hooks = await ended('folkmoot', 'spec', '--webhooks')
  expect([await api.ended, hooks.code]).toEqual([0, 0])
  expect(JSON.parse(api.out.stdout)).toMatchObject({ openapi: '3.1.1', paths: { '/admin/v1/networks/{network_id}/me': {} } })
  expect(Object.keys(JSON.parse(hooks.stdout).webhooks)).toHaveLength(Object.keys(catalogue).length)
})

test('an upload is kept, and served again as what it is; nothing else of the disk is', async () => {
  const directory = temporaryDirectory()
  const server = begun(...demo, '--storage', `lowdb:${join(directory, 'db.json')}`)
  const { url, token } = JSON.parse(await server.firstLine())
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  )
  const form = new FormData()
  form.set('asset_style', 'post')
  // The name and the type are the caller's claims; the bytes say what it is.
  form.set('asset_file', new Blob([png], { type: 'text/html' }), 'picture.html')
  const uploaded = await fetch(`${url}/admin/v1/networks/1/assets`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
  })
  expect(uploaded.status).toBe(201)
  const asset = (await uploaded.json()) as Json
  const file = await fetch(asset.url)
  expect([file.status, file.headers.get('content-type'), file.headers.get('x-content-type-options')]).toEqual([
    200,
    'image/png',
    'nosniff',
  ])
  expect(Buffer.from(await file.arrayBuffer())).toEqual(png)
  const { length } = png
  const parts = [
    ['bytes=1-3', 206, `bytes 1-3/${length}`, png.subarray(1, 4)],
    ['bytes=5-', 206, `bytes 5-${length - 1}/${length}`, png.subarray(5)],
    ['bytes=2-9999999', 206, `bytes 2-${length - 1}/${length}`, png.subarray(2)],
    ['bytes=-4', 206, `bytes ${length - 4}-${length - 1}/${length}`, png.subarray(-4)],
    ['bytes=-9999999', 206, `bytes 0-${length - 1}/${length}`, png],
    ['bytes=3-1', 200, null, png],
    ['bytes=0-1,3-4', 200, null, png],
    ['bytes=-', 200, null, png],
    ['lines=1-2', 200, null, png],
  ] as const
  for (const [range, status, place, bytes] of parts) {
    const part = await fetch(asset.url, { headers: { range } })
    expect([range, part.status, part.headers.get('content-range')]).toEqual([range, status, place])
    expect(Buffer.from(await part.arrayBuffer())).toEqual(Buffer.from(bytes))
  }
  for (const range of [`bytes=${length}-`, 'bytes=999999999999999-', 'bytes=-0']) {
    const none = await fetch(asset.url, { headers: { range } })
    expect([range, none.status, none.headers.get('content-range')]).toEqual([range, 416, `bytes */${length}`])
    expect(await none.json()).toEqual({ error: `The file has ${length} bytes; the header Range asks for others` })
  }
  const changed = await fetch(asset.url, { headers: { range: 'bytes=1-3', 'if-range': '"v1"' } })
  expect([changed.status, (await changed.bytes()).length]).toEqual([200, length])
  const head = await fetch(asset.url, { method: 'HEAD', headers: { range: 'bytes=1-3' } })
  expect([head.status, head.headers.get('content-length'), head.headers.get('accept-ranges')]).toEqual([
    200,
    `${length}`,
    'bytes',
  ])
  for (const path of ['/assets/..%2fdb.json', '/assets/../db.json', '/assets/', '/assets/none.png'])
    expect([path, (await fetch(url + path)).status]).toEqual([path, 404])
})
