/** `folkmoot backup` and `restore`, beside a server that takes writes and a relay that delivers. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { tarEntries, tarHeader } from '../../../daemon/server/backup/tar.ts'
import { begunRelay } from '../../support/begun.ts'
import { run } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import type { Json } from '../../support/json.ts'
import { ended } from '../../support/program.ts'
import { noSmallDisk, smallDisk } from '../../support/small-disk.ts'

const wait = { timeout: 120_000 }
/** Attempts do not run out while the receiver is down. */
const schedule = ['0', ...Array.from({ length: 19 }, () => '2')].join(',')
const reach = ['--allow-http', '--allow-private', '--retry-schedule', schedule, '--breaker-cooldown', '1']
const owner = ['--owner-email', 'ada@example.org', '--owner-name', 'Ada Ash']

interface Place {
  readonly storage: string
  readonly outbox: string
  readonly assets: string
}

const placeIn = (engine: string, directory: string): Place => {
  const storage = `${engine}:${join(directory, 'db')}`
  return { storage, outbox: engine === 'sqlite' ? storage : join(directory, 'outbox'), assets: join(directory, 'assets') }
}

async function json(...args: readonly string[]): Promise<Json> {
  const { code, stdout, stderr } = await ended('folkmoot', ...args, '--json')
  expect([code, stdout === '' ? stderr : ''], stderr).toEqual([0, ''])
  return JSON.parse(stdout)
}

/** A storage with a network and a key. */
async function made(engine: string): Promise<Place & { readonly token: string }> {
  const place = placeIn(engine, temporaryDirectory())
  const on = ['--storage', place.storage]
  await json('networks', 'create', '--subdomain', 'one', '--title', 'One', '--plan', 'unlimited', ...owner, ...on)
  const { token } = await json('keys', 'create', '--name', 'test', '--scope', '*', ...on)
  return { ...place, token }
}

/** A receiver that notes the bodies of what it has taken; while it is down it takes nothing. */
async function receiver() {
  const state = { isDown: false, taken: [] as string[] }
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (text) => {
      body += text
    })
    request.on('end', () => {
      if (!state.isDown) state.taken.push(body)
      response.writeHead(state.isDown ? 503 : 204).end()
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => void server.close())
  const has = (name: string) => state.taken.some((body) => body.includes(`"first_name":"${name}"`))
  return { state, has, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
}

const joined = async (url: string, token: string, name: string): Promise<number> => {
  const response = await fetch(`${url}/admin/v1/networks/one/members`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ email: `${name}@example.org`, first_name: name, last_name: 'Oak', send_welcome_email: false }),
  })
  await response.arrayBuffer()
  return response.status
}

const namesOf = async (storage: string): Promise<ReadonlySet<string>> => {
  const { stdout } = await ended('folkmoot', 'members', 'list', '--limit', '10000', '--json', '--storage', storage)
  return new Set(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).first_name),
  )
}

const names = (letter: string, count: number) => Array.from({ length: count }, (_, number) => `${letter}${number}`)

describe.each(['sqlite', 'lowdb'])('%s', (engine) => {
  test(
    'a backup under load has every acknowledged write, and what waits; what was delivered is not sent again',
    wait,
    async () => {
      const place = await made(engine)
      const { state, has, url: address } = await receiver()
      await json('endpoints', 'add', '--url', address, '--token', 'x', '--storage', place.storage)
      const api = run('folkmoot', 'serve', '--allow-http', '--json', '--port', '0', '--storage', place.storage)
      const { url } = JSON.parse(await api.firstLine())
      const relay = run('folkmoot-relay', 'run', '--json', '--outbox', place.outbox, ...reach)
      const [delivered, waiting] = [names('A', 20), names('B', 10)]
      for (const name of delivered) expect(await joined(url, place.token, name)).toBe(201)
      const list = async (state: string) =>
        (await ended('folkmoot-relay', 'deliveries', '--state', state, '--json', '--limit', '1000', '--outbox', place.outbox))
          .stdout
      await vi.waitFor(async () => expect((await list('delivered')).trim().split('\n').length).toBeGreaterThanOrEqual(20), 30_000)
      mkdirSync(place.assets, { recursive: true })
      writeFileSync(join(place.assets, '7.png'), 'a picture')
      state.isDown = true
      for (const name of waiting) expect(await joined(url, place.token, name)).toBe(201)

      let isOver = false
      let later = 0
      const writers = names('C', 3).map(async (name) => {
        while (!isOver) if ((await joined(url, place.token, `${name}x${++later}`)) !== 201) throw new Error('a write failed')
      })
      const file = join(temporaryDirectory(), 'all.tar')
      const { relay: hasRelay, uploads } = await json('backup', file, '--storage', place.storage)
      isOver = true
      await Promise.all(writers)
      expect([hasRelay, uploads, later > 0]).toEqual([true, 1, true])
      expect(statSync(file).mode & 0o777).toBe(0o600)
      for (const each of [relay, api]) each.child.kill('SIGTERM')
      await Promise.all([relay.ended, api.ended])
      state.isDown = false
      state.taken = []

      const sending = placeIn(engine, join(temporaryDirectory(), 'a'))
      await json('restore', file, '--send', '--storage', sending.storage)
      const kept = await namesOf(sending.storage)
      expect([...delivered, ...waiting].filter((name) => !kept.has(name))).toEqual([])
      expect(readFileSync(join(sending.assets, '7.png'), 'utf8')).toBe('a picture')
      const second = begunRelay('run', '--json', '--outbox', sending.outbox, ...reach)
      await vi.waitFor(() => expect(waiting.filter((name) => !has(name))).toEqual([]), 30_000)
      expect(delivered.filter(has)).toEqual([])
      await second.stop()

      state.taken = []
      const quiet = placeIn(engine, join(temporaryDirectory(), 'b'))
      const { disabled, sends } = await json('restore', file, '--storage', quiet.storage)
      expect([disabled.length, sends]).toEqual([1, false])
      const third = begunRelay('run', '--json', '--outbox', quiet.outbox, ...reach)
      await third.written('"relay.started"')
      const status = JSON.parse((await ended('folkmoot-relay', 'status', '--json', '--outbox', quiet.outbox)).stdout)
      expect(status.endpoints).toMatchObject([
        { activity: 'disabled', disabled: expect.stringMatching(/^restored from a backup of 20/) },
      ])
      expect(status.endpoints[0].pending).toBeGreaterThanOrEqual(10)
      // A change of its settings, as a program makes one when it starts, does not let it send.
      await json('endpoints', 'add', '--url', address, '--name', 'renamed', '--storage', quiet.storage)
      await sleep(1_000)
      expect(state.taken).toEqual([])
      await json('endpoints', 'enable', '--all', '--storage', quiet.storage)
      await vi.waitFor(() => expect(waiting.filter((name) => !has(name))).toEqual([]), 30_000)
      expect(delivered.filter(has)).toEqual([])
      await third.stop()
      const audit = await ended('folkmoot', 'audit', 'list', '--json', '--action', 'network.restored', '--storage', quiet.storage)
      expect(JSON.parse(audit.stdout)).toMatchObject({ details: { sends: false, disabled } })
    },
  )

  test('a damaged, cut or foreign file is refused, and nothing is made of it', async () => {
    const place = await made(engine)
    const directory = temporaryDirectory()
    const file = join(directory, 'all.tar')
    mkdirSync(place.assets)
    writeFileSync(join(place.assets, '7.png'), 'a picture')
    await json('backup', file, '--storage', place.storage)
    const whole = readFileSync(file)
    const target = placeIn(engine, join(directory, 'target'))
    const refused = async (bytes: Uint8Array | string, reason: string) => {
      writeFileSync(join(directory, 'bad.tar'), bytes)
      const { code, stderr } = await ended('folkmoot', 'restore', join(directory, 'bad.tar'), '--storage', target.storage)
      expect([code, stderr]).toEqual([2, expect.stringContaining(reason)])
      expect(existsSync(join(directory, 'target'))).toBe(false)
    }
    const handle = await open(file)
    onTestFinished(() => handle.close())
    for await (const { name, start, size } of tarEntries(handle, file)) {
      const changed = Buffer.from(whole)
      changed[start + Math.floor(size / 2)] = (changed[start + Math.floor(size / 2)] ?? 0) ^ 1
      await refused(changed, 'is no whole backup')
      const header = Buffer.from(whole)
      header[start - 512] = 'x'.charCodeAt(0)
      await refused(header, 'is no whole backup')
      await refused(whole.subarray(0, start + size), name === 'manifest.json.sha256' ? 'it ends too soon' : 'is no whole backup')
    }
    await refused('', 'it ends too soon')
    await refused('{"folkmoot":1}'.repeat(100), 'byte 0 begins no part of one')
    await refused(Buffer.alloc(1024), 'its manifest is missing')
    expect(execFileSync('tar', ['tf', file], { encoding: 'utf8' }).split('\n')).toEqual(
      expect.arrayContaining([engine === 'sqlite' ? 'storage.sqlite' : 'storage.json', 'uploads/7.png', 'manifest.json']),
    )
  })

  test('a storage that is there is left alone, and a file too', async () => {
    const place = await made(engine)
    const file = join(temporaryDirectory(), 'all.tar')
    await json('backup', file, '--storage', place.storage)
    expect(await ended('folkmoot', 'backup', file, '--storage', place.storage)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${file} exists`),
    })
    expect(await ended('folkmoot', 'restore', file, '--storage', place.storage)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is there already'),
    })
    const other = placeIn(engine === 'sqlite' ? 'lowdb' : 'sqlite', join(temporaryDirectory(), 'other'))
    expect(await ended('folkmoot', 'restore', file, '--storage', other.storage)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`is of a storage ${engine}:PATH`),
    })
    expect(await ended('folkmoot', 'backup', join(temporaryDirectory(), 'x'), '--storage', other.storage)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is no storage at'),
    })
  })

  test('a full disk is named, and leaves nothing behind', async ({ skip }) => {
    const disk = smallDisk('512k')
    if (!disk) return skip(noSmallDisk)
    const place = await made(engine)
    mkdirSync(place.assets)
    writeFileSync(join(place.assets, '7.png'), Buffer.alloc(1_000_000, 7))
    const { code, stderr } = await ended('folkmoot', 'backup', join(disk, 'all.tar'), '--storage', place.storage)
    expect([code, stderr]).toEqual([1, expect.stringMatching(/all\.tar(?: cannot be written)?: .*(?:ENOSPC|full)/)])
    expect(readdirSync(disk)).toEqual([])
  })

  test('a backup that is killed leaves no file under its name, and the next one succeeds', wait, async () => {
    const place = await made(engine)
    mkdirSync(place.assets)
    const upload = join(place.assets, '7.bin')
    writeFileSync(upload, '')
    truncateSync(upload, 2 ** 29)
    const file = join(temporaryDirectory(), 'all.tar')
    const backup = run('folkmoot', 'backup', file, '--storage', place.storage)
    const size = () => statSync(`${file}.unfinished`, { throwIfNoEntry: false })?.size ?? 0
    await vi.waitFor(() => expect(size()).toBeGreaterThan(2 ** 20), { timeout: 60_000, interval: 2 })
    backup.child.kill('SIGKILL')
    await backup.ended
    expect(existsSync(file)).toBe(false)
    truncateSync(upload, 10)
    await json('backup', file, '--storage', place.storage)
    expect(readdirSync(join(file, '..'))).toEqual(['all.tar'])
  })

  test('encrypted credentials stay encrypted, and the restore names the key', async () => {
    vi.stubEnv('FOLKMOOT_ENCRYPTION_KEYS', Buffer.alloc(32, 7).toString('base64'))
    onTestFinished(() => void vi.unstubAllEnvs())
    const place = await made(engine)
    await json('endpoints', 'add', '--url', 'https://example.org/', '--token', 'top-secret', '--storage', place.storage)
    vi.unstubAllEnvs()
    const file = join(temporaryDirectory(), 'all.tar')
    const { encryption_keys } = await json('backup', file, '--storage', place.storage)
    expect(encryption_keys).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/)])
    expect(readFileSync(file).includes('top-secret')).toBe(false)
    const target = placeIn(engine, join(temporaryDirectory(), 'new'))
    const { stdout } = await ended('folkmoot', 'restore', file, '--storage', target.storage)
    expect(stdout).toContain(`need the encryption keys ${encryption_keys[0]}`)
  })
})

test('PostgreSQL gets its own commands, without a password, and memory a reason', async () => {
  const address = 'postgres://ada:secret@db.example.org/moot?schema=mine'
  const [made, used] = [
    await ended('folkmoot', 'backup', 'a b.dump', '--storage', address),
    await ended('folkmoot', 'restore', 'a.dump', '--storage', address),
  ]
  expect([made.code, used.code]).toEqual([2, 2])
  expect(made.stderr).toContain(
    "pg_dump --format=custom --schema=mine --schema=mine_relay --exclude-table-data=mine.rate_limits --file='a b.dump' postgres://ada@db.example.org/moot\n",
  )
  expect(used.stderr).toContain('pg_restore --single-transaction --no-owner --dbname=postgres://ada@db.example.org/moot a.dump\n')
  expect(await ended('folkmoot', 'backup', 'x', '--storage', 'memory:')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('begins and ends empty'),
  })
  expect(await ended('folkmoot', 'backup', 'x', '--storage', 'papyrus:x')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('papyrus'),
  })
})

test('a backup needs a file', async () => {
  const { storage } = await made('sqlite')
  const { code, stderr } = await ended('folkmoot', 'backup', '-', '--storage', storage)
  expect([code, stderr]).toEqual([2, 'folkmoot: a backup is read again after it is written: give the name of a file\n'])
  expect(existsSync('-')).toBe(false)
})

test('a part larger than eight digits of octal is found', async () => {
  const path = join(temporaryDirectory(), 'large.tar')
  const size = 9 * 2 ** 30 + 1
  writeFileSync(path, tarHeader('uploads/large.bin', size, 0))
  truncateSync(path, 512 + size + 511 + 1024)
  const file = await open(path)
  onTestFinished(() => file.close())
  const found = []
  for await (const entry of tarEntries(file, path)) found.push(entry)
  expect(found).toEqual([{ name: 'uploads/large.bin', size, start: 512 }])
})

test('endpoints are enabled and disabled together, in one network or in all', async () => {
  const place = await made('sqlite')
  const on = ['--storage', place.storage]
  await json('networks', 'create', '--subdomain', 'two', '--title', 'Two', ...owner, ...on)
  for (const network of ['one', 'two'])
    await json('endpoints', 'add', '--url', 'https://example.org/', '--token', 'x', '--network', network, ...on)
  const states = async () =>
    Promise.all(['one', 'two'].map(async (network) => (await json('endpoints', 'list', '--network', network, ...on)).enabled))
  expect((await ended('folkmoot', 'endpoints', 'disable', '--all', ...on)).stdout.trim().split('\n')).toHaveLength(2)
  expect(await states()).toEqual([false, false])
  await json('endpoints', 'enable', '--all', '--network', 'two', ...on)
  expect(await states()).toEqual([false, true])
  expect((await ended('folkmoot', 'endpoints', 'enable', '--all', ...on)).stdout.trim().split('\n')).toHaveLength(1)
  for (const words of [[], ['7', '--all'], ['--all', '--preview']])
    expect((await ended('folkmoot', 'endpoints', 'enable', ...words, ...on)).code).toBe(2)
})
