/** The server killed amid its writes, seen from outside: what it has answered is there, with its event, and is done once. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openSource } from '../../../daemon/relay/ingest/outbox-address.ts'
import { recordsOf } from '../../adapters/storage/records-of.ts'
import { type Command, run } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import type { Json } from '../../support/json.ts'
import { testPostgres } from '../../support/postgres.ts'
import { ended } from '../../support/program.ts'
import { rounds as roundsOf } from '../../support/rounds.ts'

const server = await testPostgres()
const client = await server.client()

const rounds = roundsOf(2, 8)
/** Requests under way at once. */
const clients = 6
const wait = { timeout: 300_000 }

interface Place {
  readonly storage: string
  /** Where events wait. */
  readonly outbox: string
  /** Whether somebody still holds something of it. */
  isHeld(): Promise<boolean>
}

const engines: Readonly<Record<string, () => Promise<Place>>> = {
  async lowdb() {
    const directory = temporaryDirectory()
    const outbox = join(directory, 'outbox')
    return { storage: `lowdb:${join(directory, 'db.json')}`, outbox, isHeld: async () => false }
  },
  async sqlite() {
    const storage = `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`
    return { storage, outbox: storage, isHeld: async () => false }
  },
  async postgres() {
    const schema = server.newSchema()
    const storage = `${server.url}?schema=${schema}`
    const isHeld = async () => {
      const { rows } = await client.query(
        `SELECT 1 FROM pg_locks JOIN pg_class ON pg_class.oid = relation WHERE relnamespace = $1::regnamespace`,
        [schema],
      )
      return rows.length > 0
    }
    return { storage, outbox: storage, isHeld }
  },
}

async function json(...args: readonly string[]): Promise<Json> {
  const { code, stdout, stderr } = await ended('folkmoot', ...args, '--json')
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

async function start(...flags: readonly string[]): Promise<{ api: Command; url: string; token: string }> {
  const api = run('folkmoot', 'serve', '--allow-http', '--json', '--port', '0', ...flags)
  return { api, ...JSON.parse(await api.firstLine()) }
}

/** A person who is to be a member, and the response; nothing, where the server died first. */
interface Request {
  readonly email: string
  id?: string
}

const post = async (
  url: string,
  token: string,
  { email }: Request,
): Promise<{ status: number; body: Json; replayed: boolean }> => {
  const response = await fetch(`${url}/admin/v1/networks/killed/members`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': email },
    body: JSON.stringify({ email, first_name: 'Mary', last_name: 'Shelley', send_welcome_email: false }),
    signal: AbortSignal.timeout(60_000),
  })
  return {
    status: response.status,
    body: await response.json(),
    replayed: response.headers.get('idempotency-replayed') === 'true',
  }
}

async function membersOf(url: string, token: string): Promise<readonly Json[]> {
  const all: Json[] = []
  for (let next: string | null = `${url}/admin/v1/networks/killed/members?per_page=100`; next; ) {
    const page: Json = await (await fetch(next, { headers: { authorization: `Bearer ${token}` } })).json()
    all.push(...page.items)
    next = page.links.next
  }
  return all
}

describe.each(Object.keys(engines))('%s', (engine) => {
  test(
    'kill -9 at any moment: every acknowledged record is there with its event, and a repeated key makes no second record',
    wait,
    async () => {
      const place = await (engines[engine] ?? expect.fail)()
      const storage = ['--storage', place.storage]
      const owner = ['--owner-email', 'host@example.org', '--owner-name', 'Ada Host']
      await json('networks', 'create', '--subdomain', 'killed', '--title', 'Killed', '--plan', 'unlimited', ...owner, ...storage)
      const { token } = await json('keys', 'create', '--network', 'killed', '--name', 'test', '--scope', '*', ...storage)

      const everybody: Request[] = []
      let before: readonly Request[] = []
      for (let round = 0; ; round++) {
        const { api, url } = await start(...storage)
        // The requests to the server that died, sent again: done now, or found to be done.
        const again = await Promise.all(before.map((request) => post(url, token, request)))
        for (const [index, { status, body, replayed }] of again.entries()) {
          const request = before[index]
          expect({ status, email: body.email }).toEqual({ status: 201, email: request?.email })
          if (request?.id) expect({ id: body.id, replayed }).toEqual({ id: request.id, replayed: true })
        }
        if (round === rounds) {
          const members = (await membersOf(url, token)).filter(({ first_name }) => first_name === 'Mary')
          api.child.kill('SIGTERM')
          expect(await api.ended).toBe(0)
          expect(members.length).toBe(everybody.length)
          await expectOneEventEach(place, members)
          break
        }

        const asked: Request[] = []
        let responded = 0
        const enough = Promise.withResolvers<void>()
        const asking = Array.from({ length: clients }, async (_, one) => {
          for (let n = 0; ; n++) {
            const request: Request = { email: `m${round}-${one}-${n}@example.org` }
            asked.push(request)
            const response = await post(url, token, request).catch(() => undefined)
            if (!response) return
            expect(response.status).toBe(201)
            request.id = response.body.id
            if (++responded >= 5 + round * 4) enough.resolve()
          }
        })
        await enough.promise
        api.child.kill('SIGKILL')
        await Promise.all([api.ended, ...asking])
        await expect.poll(() => place.isHeld()).toBe(false)
        everybody.push(...asked)
        before = asked
      }
      const ids = everybody.flatMap(({ id }) => id ?? [])
      expect(ids.length).toBeGreaterThan(rounds * 5)
      expect(new Set(ids).size).toBe(ids.length)
    },
  )
})

/** Every member has joined once, and no one else has. An event that is in the outbox twice has the same id. */
async function expectOneEventEach({ outbox }: Place, members: readonly Json[]): Promise<void> {
  const joins = new Map<string, string>()
  for (const record of await recordsOf(await openSource(outbox)))
    if (record.kind === 'event' && record.event_type === 'MemberJoinedHook')
      joins.set(record.event_id, JSON.parse(record.body).payload.member.id)
  expect([...joins.values()].sort()).toEqual(members.map(({ id }) => id).sort())
}

test('memory: after kill -9 the server starts empty', async () => {
  const flags = ['--demo', '--storage', 'memory:']
  const counts: number[] = []
  for (let round = 0; round < 2; round++) {
    const { api, url, token } = await start(...flags)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const members = (await (await fetch(`${url}/admin/v1/networks/1/members?per_page=100`, { headers })).json()) as Json
    counts.push(members.items.length)
    const body = JSON.stringify({ email: 'mary@example.org', first_name: 'Mary', last_name: '' })
    expect((await fetch(`${url}/admin/v1/networks/1/members`, { method: 'POST', headers, body })).status).toBe(201)
    api.child.kill('SIGKILL')
    await api.ended
    expect(api.out.stderr).toBe('')
  }
  expect(counts).toEqual([60, 60])
})
