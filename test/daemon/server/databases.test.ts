/** The server and the relay, two processes, with a database between them. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { relayHome } from '../../../daemon/relay/ingest/outbox-address.ts'
import { begun } from '../../support/begun.ts'
import { type Command, run, runIn } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { testPostgres } from '../../support/postgres.ts'
import { ended } from '../../support/program.ts'
import { receiver, until } from '../relay/support.ts'

const server = await testPostgres()

const sqlite = async () => `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`
const postgres = async () => `${server.url}?schema=${server.newSchema()}`

const relayOn = (outbox: string): Command => {
  onTestFinished(() => rm(relayHome(outbox), { recursive: true, force: true }))
  return run('folkmoot-relay', 'run', '--outbox', outbox, '--allow-http', '--allow-private', '--json')
}

describe.each([
  ['sqlite', sqlite],
  ['postgres', postgres],
])('%s', (_name, address) => {
  test('events go from the server to a separate relay, and wait for one that was killed', async () => {
    const storage = await address()
    const hook = await receiver()
    const flags = ['--storage', storage, '--port', '0', '--json', '--allow-http', '--demo']
    const api = begun('serve', ...flags, '--webhook-url', hook.url, '--webhook-token', 'hook-key')
    const facts = JSON.parse(await api.firstLine())
    // A supervisor keeps what is printed: the password goes to the relay by its environment.
    expect(facts.outbox).toBe(storage.replace('postgres:postgres@', 'postgres@'))
    vi.stubEnv('PGPASSWORD', 'postgres')
    onTestFinished(() => void vi.unstubAllEnvs())

    const join = async (first_name: string) => {
      const response = await fetch(`${facts.url}/admin/v1/networks/demo/members`, {
        method: 'POST',
        headers: { authorization: `Bearer ${facts.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ email: `${first_name}@example.org`, first_name, last_name: '' }),
      })
      expect(response.status).toBe(201)
    }
    const told = (name: string) => hook.received.some(({ body }) => body.includes(name))

    const first = relayOn(facts.outbox)
    await join('Early')
    await until(() => told('Early'), 'it is delivered', 60)
    first.child.kill('SIGKILL')
    await first.ended
    await join('Late')
    const second = relayOn(facts.outbox)
    await until(() => told('Late'), 'it is delivered', 60)
    expect(hook.received.every(({ headers }) => headers.authorization === 'Bearer hook-key')).toBe(true)
    second.child.kill('SIGTERM')
    expect(await second.ended).toBe(0)
    expect(await api.stop()).toBe(0)
    for (const { out } of [first, second]) expect(out.stdout + out.stderr).not.toContain('postgres:postgres')
    expect(api.out.stderr).toBe('')
  })

  test('serve --relay delivers out of the same database, and the demo is kept over a restart', async () => {
    const storage = await address()
    const hook = await receiver()
    const tokens = new Set<string>()
    for (let start = 0; start < 2; start++) {
      const flags = ['--storage', storage, '--port', '0', '--json', '--allow-http', '--demo', '--relay']
      const api = begun('serve', ...flags, '--webhook-url', hook.url, '--webhook-token', 'hook-key')
      const facts = JSON.parse(await api.firstLine())
      onTestFinished(() => rm(relayHome(facts.outbox), { recursive: true, force: true }))
      tokens.add(facts.token)
      const seen = hook.received.length
      const headers = { authorization: `Bearer ${facts.token}`, 'content-type': 'application/json' }
      const members = await (await fetch(`${facts.url}/admin/v1/networks/1/members?per_page=100`, { headers })).json()
      expect((members as { items: unknown[] }).items).toHaveLength(60 + start)
      const body = JSON.stringify({ email: `new${start}@example.org`, first_name: 'New', last_name: '' })
      await fetch(`${facts.url}/admin/v1/networks/1/members`, { method: 'POST', headers, body })
      await until(() => hook.received.length > seen, 'it is delivered', 60)
      expect(await api.stop()).toBe(0)
    }
    expect(tokens.size).toBe(2)
  })

  test('an upload is served after a restart', async () => {
    const storage = await address()
    const directory = temporaryDirectory()
    async function server() {
      const flags = ['--storage', storage, '--port', '0', '--json', '--allow-http', '--demo']
      const api = runIn(directory, 'folkmoot', 'serve', ...flags)
      return { api, facts: JSON.parse(await api.firstLine()) }
    }
    const first = await server()
    const form = new FormData()
    form.set('asset_style', 'post')
    form.set('asset_file', new Blob(['%PDF-1.7']), 'wash.pdf')
    const headers = { authorization: `Bearer ${first.facts.token}` }
    const response = await fetch(`${first.facts.url}/admin/v1/networks/demo/assets`, { method: 'POST', headers, body: form })
    expect(response.status).toBe(201)
    const { url } = (await response.json()) as { readonly url: string }
    first.api.child.kill('SIGTERM')
    await first.api.ended

    const { facts } = await server()
    const file = await fetch(new URL(new URL(url).pathname, facts.url))
    expect([file.status, await file.text()]).toEqual([200, '%PDF-1.7'])
    expect(await readdir(facts.assets)).toHaveLength(1)
  })

  test('migrate prints what it would do, does it, and then has nothing to do', async () => {
    const storage = await address()
    const migrate = (...flags: string[]) => ended('folkmoot', 'migrate', '--storage', storage, ...flags)
    const planned = await migrate('--dry-run')
    const applied = await migrate()
    const again = await migrate('--json')
    expect(planned).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('CREATE TABLE'),
      stderr: expect.stringContaining('would be run'),
    })
    expect(applied).toMatchObject({ code: 0, stdout: planned.stdout })
    expect(again).toMatchObject({ code: 0, stdout: '{"applied":true,"statements":[]}\n' })
    expect(planned.stderr + applied.stderr).not.toContain('postgres:postgres')
  })
})

test('a command on a standby names the remedy, and ends as a fault', async () => {
  const storage = await postgres()
  const network = [
    '--subdomain',
    'paint-pals',
    '--title',
    'Paint Pals',
    '--owner-email',
    'ada@example.org',
    '--owner-name',
    'Ada Ash',
  ]
  expect(await ended('folkmoot', 'networks', 'create', ...network, '--storage', storage)).toMatchObject({ code: 0 })
  const standby = `${storage}&options=-c%20default_transaction_read_only%3Don`
  expect(await ended('folkmoot', 'keys', 'create', '--name', 'Connector', '--scope', '*', '--storage', standby)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      '(PostgreSQL: cannot execute INSERT in a read-only transaction; the server is a standby, or default_transaction_read_only is on: give the address of the primary)',
    ),
  })
})

test.each([
  [['serve', '--storage', 'sqlite:/tmp/x.sqlite', '--outbox', '/tmp/x'], /--outbox goes with lowdb: and memory:/],
  [['serve', '--storage', 'mysql://root:secret@db/x'], /--storage must be lowdb:PATH, memory:, sqlite:PATH or postgres/],
  [['serve', '--storage', './community.sqlite'], /got ".\/community.sqlite": did you mean sqlite:.\/community.sqlite\?/],
  [['keys', 'list', '--storage', 'data/community.db'], /did you mean sqlite:data\/community.db\?/],
  [['info', '--storage', '/data/db.json'], /did you mean lowdb:\/data\/db.json\?/],
  [['serve', '--storage', 'memory'], /got "memory": did you mean memory:\?/],
  [['copy', '--from', 'a.sqlite3', '--to', 'lowdb:b.json'], /--from must be .* did you mean sqlite:a.sqlite3\?/],
  [['migrate', '--storage', 'db.sqlite'], /did you mean sqlite:db.sqlite\?/],
  [['migrate', '--storage', 'lowdb:./db.json'], /have no tables to migrate/],
  // Systemd starts a server again after 1, and not after 2.
  [['serve', '--storage', 'postgres://me:secret@127.0.0.1:1/x'], /PostgreSQL cannot be reached/, 1],
] as const)('folkmoot %j is refused in one sentence, without a password', async (words, sentence, expected: 1 | 2 = 2) => {
  // `serve` listens before it opens a storage, and another test may have the usual port.
  const free = words[0] === 'serve' ? ['--port', '0'] : []
  const { code, stdout, stderr } = await ended('folkmoot', ...words, ...free)
  expect({ code, stdout }).toEqual({ code: expected, stdout: '' })
  expect(stderr).toMatch(sentence)
  expect(stderr.trim().split('\n')).toHaveLength(1)
  if (words.join().includes('postgres')) expect(stderr).not.toContain('secret')
})
