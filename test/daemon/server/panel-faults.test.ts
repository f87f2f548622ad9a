/**
 * The panel of a running `folkmoot serve` while its database fails, and while its visitors leave in the middle. Each program
 * serves many cases: after all of them it must run, have nothing in flight, and end as asked.
 */
import { writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import { relayHome } from '../../../daemon/relay/ingest/outbox-address.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { hostScoped } from '../../../lib/storage/scoped.ts'
import { audit } from '../../../lib/storage/tables/administration.ts'
import { run } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { freePort } from '../../support/free-port.ts'
import { testPostgres } from '../../support/postgres.ts'
import { proxyTo } from '../../support/proxy.ts'
import { noSmallDisk, smallDisk } from '../../support/small-disk.ts'
import { pass, receiver, until } from '../relay/support.ts'

const server = await testPostgres()

interface Responder {
  readonly status: number
  readonly text: string
}

/** A server with the relay in its process, and a browser that is signed in to its panel. */
async function panelOf(storage: string) {
  const metrics = await freePort()
  const hook = await receiver()
  const flags = ['--demo', '--relay', '--allow-http', '--json', '--port', '0', '--metrics-port', String(metrics)]
  const webhook = ['--webhook-url', hook.url, '--webhook-token', 'the-key']
  const program = run('folkmoot', 'serve', '--storage', storage, ...flags, ...webhook)
  const facts = JSON.parse(await program.firstLine())
  const entered = await fetch(facts.panel, { redirect: 'manual' })
  const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const headers = { cookie, 'sec-fetch-site': 'same-origin' }
  const base = new URL('/admin/panel/1/', facts.url)
  const ask = async (path: string, init: RequestInit = {}): Promise<Responder> => {
    const response = await fetch(new URL(path, base), { headers, redirect: 'manual', ...init })
    return { status: response.status, text: await response.text().catch(() => 'cut') }
  }
  const post = (path: string, fields: Readonly<Record<string, string>> = {}) =>
    ask(path, { method: 'POST', body: new URLSearchParams(fields) })

  const [, endpoint = ''] = /webhooks\/(\d+)/.exec((await ask('webhooks')).text) ?? []
  const [, key = ''] = /keys\/(\d+)\/revoke/.exec((await ask('keys')).text) ?? []
  await post(`webhooks/${endpoint}/test`)
  const pages = [
    ...['keys', 'keys/new', `keys/${key}/revoke`, 'webhooks', 'webhooks/new', 'webhooks/events', `webhooks/${endpoint}`],
    ...[`webhooks/${endpoint}/edit`, `webhooks/${endpoint}/rotate`, `webhooks/${endpoint}/remove`, 'deliveries', 'overview'],
    ...['audit', 'audit/export', 'reference', '../'],
  ]
  /** Forms that can be sent over and over. */
  const forms: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['keys', { name: 'Export', access: '*:read' }],
    [`webhooks/${endpoint}/pause`, {}],
    [`webhooks/${endpoint}/resume`, {}],
    [`webhooks/${endpoint}/edit`, { url: hook.url, name: 'Shop', which: 'every', order: 'none' }],
    [`webhooks/${endpoint}/rotate`, { sent: '1', secrets: 'make', keepOldSeconds: '0' }],
    [`webhooks/${endpoint}/test`, {}],
  ]

  /** Nothing is in flight but the questions of this test. */
  const isIdle = async () => {
    const figures = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text()
    return /^folkmoot_requests_in_flight 0$/m.test(figures) && /^folkmoot_in_flight_bytes 0$/m.test(figures)
  }
  /** The process runs, answers, has nothing in flight, has heard of no rejection, and ends with 0 when it is asked to. */
  async function isWell(): Promise<void> {
    for (const path of pages) expect([path, (await ask(path)).status]).toEqual([path, path === '../' ? 303 : 200])
    await until(isIdle, 'nothing is in flight', 60)
    expect(program.out.stderr).not.toMatch(/unhandled|\(node:\d+\)|warning:/i)
    program.child.kill('SIGTERM')
    expect(await program.ended).toBe(0)
    expect(program.out.stderr).not.toMatch(/unhandled|\(node:\d+\)|warning:/i)
  }
  return { program, ask, post, pages, forms, isIdle, isWell, headers, base }
}

type Panel = Awaited<ReturnType<typeof panelOf>>

const works = [200, 201, 303]
const internals = /no such table|SQLITE|sqlite|ECONN|terminat|127\.0\.0\.1:\d+\/(?!hook)|relation|\bat \w+ \(|Error:/

/** A page that works, or a fault with the advice for what to do. */
function tellsWhatToDo(path: string, { status, text }: Responder, isForm: boolean): void {
  const advice = isForm ? 'look whether its change is there' : 'Reload the page in a moment'
  const isFine = works.includes(status) || (status >= 500 && text.includes(advice) && text.includes('notify the operator'))
  expect([path, status, isFine ? 'as it should be' : text]).toEqual([path, status, 'as it should be'])
  if (!works.includes(status)) expect(text.replace(/<style.*?<\/style>/gs, '')).not.toMatch(internals)
}

/** Asks for every page and sends every form, all at once, and returns how many of them met the fault. */
async function askForAll({ ask, post, pages, forms }: Panel): Promise<number> {
  const asked = [
    ...pages.map(async (path) => ({ path, isForm: false, given: await ask(path) })),
    ...forms.map(async ([path, fields]) => ({ path, isForm: true, given: await post(path, fields) })),
  ]
  const answered = await Promise.all(asked)
  for (const { path, isForm, given } of answered) tellsWhatToDo(path, given, isForm)
  return answered.filter(({ given }) => !works.includes(given.status)).length
}

/** Lines for an export of many pages. */
async function fillAudit(storage: Storage, other: DatabaseSync, count: number): Promise<void> {
  const at = '2026-11-20T10:00:00.000Z'
  const line = { network_id: '1', created_at: at, updated_at: at, actor: 'ada', address: null, action: 'key.created' } as const
  const about = { subject_type: 'key', subject_id: '7', subject_name: 'Export', details: { text: 'x'.repeat(190) } } as const
  await storage.transaction((tx) => hostScoped(tx, '1').insert(audit, { ...line, ...about, id: '1000' }))
  // The others are its copies.
  const names = Object.keys(audit.columns).filter((name) => name !== 'id')
  const columns = names.map((name) => `"${name}"`).join(', ')
  other.exec(`INSERT INTO folkmoot_audit (id, ${columns})
    SELECT id + n, ${columns} FROM folkmoot_audit,
      (WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${count - 1}) SELECT n FROM s) WHERE id = 1000`)
}

/** Sends the beginning of a request and leaves when the response has begun, or at once. */
async function leave(
  { base, headers }: Panel,
  head: string,
  path: string,
  body: string,
  when: 'at once' | 'answered',
): Promise<void> {
  const socket = connect(Number(base.port), base.hostname)
  const gone = new Promise<void>((resolve) => socket.on('close', () => resolve()).on('error', () => {}))
  const fields = Object.entries({ host: base.host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const begun = new Promise<void>((resolve) => socket.once('data', () => resolve()))
  await new Promise<void>((sent) =>
    socket.write(`${head} ${base.pathname}${path} HTTP/1.1\r\n${fields.join('')}${body}`, () => sent()),
  )
  if (when === 'answered') await Promise.race([begun, gone])
  socket.destroy()
  await gone
}

const typed = 'content-type: application/x-www-form-urlencoded\r\n'

/** Visitors who leave at every page, in the middle of a form, after a form, and in the middle of a download. */
async function leaveEverywhere(panel: Panel): Promise<void> {
  for (const path of panel.pages) await leave(panel, 'GET', path, '\r\n', 'at once')
  for (const path of panel.pages) await leave(panel, 'HEAD', path, '\r\n', 'answered')
  for (const [path, fields] of panel.forms) {
    const text = new URLSearchParams(fields).toString()
    await leave(panel, 'POST', path, `${typed}content-length: 5000\r\n\r\n${text}`, 'at once')
    await leave(panel, 'POST', path, `${typed}transfer-encoding: chunked\r\n\r\n5\r\nname=\r\n`, 'at once')
    await leave(panel, 'POST', path, `${typed}content-length: ${text.length}\r\n\r\n${text}`, 'at once')
  }
  const times = Array.from({ length: 10 })
  await Promise.all(times.map(() => leave(panel, 'GET', 'audit/export', '\r\n', 'answered')))
}

test('on SQLite every fault is a page that shows what to do, and an aborted request leaves nothing behind', async () => {
  const path = join(temporaryDirectory(), 'db.sqlite')
  const panel = await panelOf(`sqlite:${path}`)
  const other = new DatabaseSync(path, { timeout: 60_000 })
  onTestFinished(() => other.close())
  other.exec('PRAGMA legacy_alter_table = ON')
  let faults = 0
  for (const name of ['networks', 'api_keys', 'webhook_endpoints', 'audit', 'idempotency_keys', 'members']) {
    const table = `folkmoot_${name}`
    other.exec(`ALTER TABLE ${table} RENAME TO ${table}_away`)
    faults += await askForAll(panel)
    other.exec(`ALTER TABLE ${table}_away RENAME TO ${table}`)
  }
  expect(faults).toBeGreaterThan(20)

  // Another process holds the file for longer than a transaction waits: every form is refused, and every page is shown.
  const { post, forms, ask, pages } = panel
  other.exec('BEGIN IMMEDIATE')
  const refused = await Promise.all(forms.map(async ([form, fields]) => [form, await post(form, fields)] as const))
  for (const [form, given] of refused) tellsWhatToDo(form, given, true)
  expect(refused.filter(([, { status }]) => !works.includes(status)).length).toBeGreaterThan(3)
  for (const page of pages) expect([page, works.includes((await ask(page)).status)]).toEqual([page, true])
  other.exec('COMMIT')

  const storage = await sqliteStorage({ path })
  await fillAudit(storage, other, 20_000)
  await storage.close()
  const before = panel.program.out.stderr.length
  await leaveEverywhere(panel)
  await until(panel.isIdle, 'nothing is in flight', 60)
  // A visitor who leaves is no fault of the server.
  expect(panel.program.out.stderr.slice(before)).not.toContain('"panel')

  // A download whose table goes away ends early, and is reported.
  const download = await fetch(new URL('audit/export', panel.base), { headers: panel.headers })
  const reader = download.body?.getReader()
  await reader?.read()
  other.exec('ALTER TABLE folkmoot_audit RENAME TO folkmoot_audit_away')
  const ending = (async () => {
    while (!(await reader?.read())?.done);
  })()
  await expect(ending).rejects.toThrow()
  expect(panel.program.out.stderr.slice(before)).toContain('the export of the audit')
  other.exec('ALTER TABLE folkmoot_audit_away RENAME TO folkmoot_audit')
  await panel.isWell()
}, 120_000)

test('a full disk is a page that shows what to do, and the panel works when there is room', async (context) => {
  const directory = smallDisk('8m') ?? context.skip(noSmallDisk)
  const panel = await panelOf(`sqlite:${join(directory, 'db.sqlite')}`)
  const filler = join(directory, 'filler')
  for (let size = 65_536; size >= 512; size /= 2)
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: 'a' })
    } catch {
      // Full, for this size.
    }
  expect(await askForAll(panel)).toBeGreaterThan(2)
  await rm(filler)
  await panel.isWell()
}, 120_000)

/** Ends each connection of the server that waits for a lock of the test, until `work` is done. Returns how many it has ended. */
async function endWaiting(admin: pg.Client, database: string, work: Promise<unknown>): Promise<number> {
  let ended = 0
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  while (!isDone) {
    const { rowCount } = await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'`,
      [database],
    )
    ended += rowCount ?? 0
    await Promise.race([done, pass(5)])
  }
  await done
  return ended
}

test('on PostgreSQL a connection that ends in the middle of each page is a page that shows what to do', async () => {
  const schema = server.newSchema()
  const proxy = await proxyTo(server.url)
  const storage = `${proxy.url}?schema=${schema}`
  onTestFinished(() => rm(relayHome(storage), { recursive: true, force: true }))
  const panel = await panelOf(storage)
  const { pages, forms, ask, post } = panel
  const database = new URL(server.url).pathname.slice(1)
  const [holder, admin] = [await server.client(), await server.client()]
  const { rows } = await holder.query(`SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename <> 'networks'`, [
    schema,
  ])
  const others = rows.map(({ tablename }) => `"${schema}"."${tablename}"`).join()
  let [faults, ended] = [0, 0]
  const requests = [
    ...pages.map((path) => ({ path, isForm: false, send: () => ask(path) })),
    ...forms.map(([path, fields]) => ({ path, isForm: true, send: () => post(path, fields) })),
  ]
  for (const { path, isForm, send } of requests) {
    await holder.query(`BEGIN; LOCK TABLE ${others} IN ACCESS EXCLUSIVE MODE`)
    const asked = send()
    const met = await endWaiting(admin, database, asked)
    await holder.query('ROLLBACK')
    const given = await asked
    tellsWhatToDo(path, given, isForm)
    ended += met
    if (!works.includes(given.status)) faults++
    // The next request gets another connection.
    expect([path, (await ask('keys')).status]).toEqual([path, 200])
  }
  expect(faults).toBeGreaterThan(15)
  expect(ended).toBeGreaterThanOrEqual(faults)

  proxy.cut()
  expect(await askForAll(panel)).toBe(requests.length)
  proxy.mend()
  await leaveEverywhere(panel)
  await panel.isWell()
}, 120_000)
