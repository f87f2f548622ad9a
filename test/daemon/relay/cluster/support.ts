/**
 * Shared by the tests of several relays on one database: real relays, and a look into their store. Those that are killed or
 * stopped by a signal are processes. A process costs half a second of processor time before its first delivery, so the others
 * run in the process of the test.
 */
import { writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { onTestFinished } from 'vitest'
import { postgresStorage } from '../../../../adapters/storage/postgres.ts'
import type { AttemptReport } from '../../../../daemon/relay/events.ts'
import { relayHome } from '../../../../daemon/relay/ingest/outbox-address.ts'
import { type Relay, startRelay } from '../../../../daemon/relay/relay.ts'
import type { Settings } from '../../../../daemon/relay/settings.ts'
import type { OutboxRecord } from '../../../../lib/outbox/record.ts'
import { type Command, run } from '../../../support/command.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { type Receiver, type Responder, receiver, until } from '../support.ts'

/** The needs of a cluster of a PostgreSQL server; `query` may be asked again after the server was restarted. */
export interface ClusterServer {
  readonly url: string
  newSchema(): string
  query(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>
}

/** A server as clusters take it, with one connection of the test file's own. */
export async function clusterServer(server: {
  readonly url: string
  newSchema(): string
  client(): Promise<pg.Client>
}): Promise<ClusterServer> {
  const client = await server.client()
  return {
    url: server.url,
    newSchema: () => server.newSchema(),
    query: async (sql, values = []) => (await client.query(sql, [...values])).rows,
  }
}

/** A line of a relay's log. */
export type Line = Readonly<Record<string, unknown>>

export interface RelayProcess extends Command {
  readonly pid: number
  /** Everything that it has logged. */
  log(): readonly Line[]
  /** Its reasons for lines with this message. */
  faults(): readonly string[]
  /** Ends it as a crash does. */
  kill(): Promise<void>
  /** Asks it to end, and gives its exit code. */
  stop(): Promise<number | null>
}

/** A relay in the process of the test. */
export interface RelayHere {
  readonly relay: Relay
  readonly attempts: readonly AttemptReport[]
  /** Its faults, as a process logs them. */
  faults(): readonly string[]
  /** Asks it to end, and waits until it has. */
  stop(): Promise<void>
}

export interface RelayOptions {
  readonly settings?: Partial<Settings>
  /** The network between it and the database. */
  readonly proxy?: { readonly url: string }
  readonly flags?: readonly string[]
}

export interface Cluster {
  readonly schema: string
  /** The value of `--outbox` for relays, and of `--storage` for servers. */
  readonly address: string
  /** Puts records into the outbox, each in a separate commit, one after the other. */
  append(...records: readonly OutboxRecord[]): Promise<void>
  /** Puts records into the outbox in one commit. */
  appendTogether(records: readonly OutboxRecord[]): Promise<void>
  /** Starts a relay and waits for its output that it has started. */
  start(options?: RelayOptions): Promise<RelayProcess>
  /** Begins a relay in the process of the test. It ends with the test. */
  begin(options?: Omit<RelayOptions, 'flags'>): Promise<RelayHere>
  /** Rows; `$relay` stands for the schema of the relays, `$outbox` for that of the outbox. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>
  /** How many endpoints each relay has, by process; those that are no one's under 0. */
  shares(): Promise<Readonly<Record<number, number>>>
  /** The process that has an endpoint. */
  holder(endpoint: string): Promise<number | undefined>
  /** How many deliveries wait. */
  pending(): Promise<number>
}

/** Relays of tests try again soon and may send to this machine. */
const settings: Partial<Settings> = {
  allowHttp: true,
  allowPrivate: true,
  retrySchedule: [0, ...Array.from({ length: 60 }, () => 0.2)],
}

export async function cluster(server: ClusterServer): Promise<Cluster> {
  const schema = server.newSchema()
  const addressAt = (url: string) => `${url}?schema=${schema}`
  const address = addressAt(server.url)
  const directory = temporaryDirectory()
  const storage = await postgresStorage({ url: server.url, schema, tables: [] })
  let count = 0

  const query: Cluster['query'] = (sql, values) =>
    server.query(sql.replaceAll('$relay', `"${schema}_relay"`).replaceAll('$outbox', `"${schema}"`), values)
  onTestFinished(async () => {
    await storage.close()
    await rm(relayHome(address), { recursive: true, force: true })
  })

  return {
    schema,
    address,
    query,
    async append(...records) {
      for (const record of records) await storage.transaction((tx) => tx.append([record]))
    },
    appendTogether: (records) => storage.transaction((tx) => tx.append(records)),
    async start(options = {}) {
      const config = join(directory, `relay-${++count}.json`)
      writeFileSync(config, JSON.stringify({ ...settings, ...options.settings }))
      const outbox = addressAt(options.proxy?.url ?? server.url)
      const relay = relayProcess(
        run('folkmoot-relay', 'run', '--outbox', outbox, '--config', config, '--json', ...(options.flags ?? [])),
      )
      if (options.proxy) onTestFinished(() => rm(relayHome(outbox), { recursive: true, force: true }))
      const started = () => relay.log().some(({ message }) => message === 'relay.started')
      await until(() => {
        if (relay.child.exitCode !== null) throw new Error(`the relay has ended: ${relay.out.stderr}`)
        return started()
      }, 'a relay has started')
      return relay
    },
    async begin(options = {}) {
      const outbox = addressAt(options.proxy?.url ?? server.url)
      if (options.proxy) onTestFinished(() => rm(relayHome(outbox), { recursive: true, force: true }))
      const faults: string[] = []
      const attempts: AttemptReport[] = []
      const relay = await startRelay({
        outbox,
        settings: { ...settings, ...options.settings },
        onAttempt: (report) => void attempts.push(report),
        onFault: (what, error) => void faults.push(`${what}: ${error}`),
      })
      onTestFinished(() => relay.close(0))
      return { relay, attempts, faults: () => faults, stop: () => relay.close() }
    },
    async shares() {
      const rows = await query(
        `SELECT coalesce((r.process->>'pid')::int, 0) AS pid, count(*)::int AS n
         FROM $relay.leases l LEFT JOIN $relay.relays r ON r.id = l.relay GROUP BY 1`,
      )
      return Object.fromEntries(rows.map(({ pid, n }) => [Number(pid), Number(n)]))
    },
    async holder(endpoint) {
      const [row] = await query(
        `SELECT (r.process->>'pid')::int AS pid FROM $relay.endpoints e JOIN $relay.leases l ON l.endpoint = e.ref
         JOIN $relay.relays r ON r.id = l.relay WHERE e.id = $1 AND e.removed_at IS NULL`,
        [endpoint],
      )
      return row ? Number(row['pid']) : undefined
    },
    async pending() {
      const [row] = await query(`SELECT count(*)::int AS n FROM $relay.deliveries WHERE state = 'pending'`)
      return Number(row?.['n'])
    },
  }
}

function relayProcess(command: Command): RelayProcess {
  const { child, out, ended } = command
  const lines: Line[] = []
  let read = 0
  const log = (): readonly Line[] => {
    // Tests look often: each line is read once.
    for (let end = out.stdout.indexOf('\n', read); end !== -1; end = out.stdout.indexOf('\n', read)) {
      lines.push(JSON.parse(out.stdout.slice(read, end)) as Line)
      read = end + 1
    }
    return [...lines]
  }
  return {
    ...command,
    pid: child.pid ?? 0,
    log,
    faults: () =>
      log()
        .filter(({ message }) => message === 'fault')
        .map(({ what, reason }) => `${what}: ${reason}`),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}

/** A receiver that keeps count of what it is being sent at once, by path. */
export interface Watched extends Receiver {
  /** The ids that came to a path, in their order. */
  ids(path: string): readonly string[]
  /** How many requests to a path are open. */
  open(path: string): number
  /** The most requests to a path that were open at once since it was last asked. */
  most(path: string): number
  /** Events that came to a path while the same one was open there: two were sending it. */
  readonly twice: readonly string[]
  /** The URL of a path. */
  at(path: string): string
}

export async function watched(respond: Responder): Promise<Watched> {
  const open = new Map<string, number>()
  const most = new Map<string, number>()
  const running = new Set<string>()
  const twice: string[] = []
  const hook = await receiver()
  hook.respond = (request, response) => {
    const { path, id } = request
    const name = `${path} ${id}`
    if (running.has(name)) twice.push(name)
    running.add(name)
    const now = (open.get(path) ?? 0) + 1
    open.set(path, now)
    most.set(path, Math.max(most.get(path) ?? 0, now))
    response.on('close', () => {
      open.set(path, (open.get(path) ?? 1) - 1)
      running.delete(name)
    })
    current(request, response)
  }
  let current = respond
  return {
    ...hook,
    twice,
    get respond() {
      return current
    },
    set respond(next) {
      current = next
    },
    ids: (path) => hook.received.filter((each) => each.path === path).map(({ id }) => id),
    open: (path) => open.get(path) ?? 0,
    most(path) {
      const result = most.get(path) ?? 0
      most.set(path, open.get(path) ?? 0)
      return result
    },
    at: (path) => new URL(path, hook.url).href,
  }
}

/** Resolves when each relay has this many endpoints, whichever they are, and its store agrees. */
export function untilShared(
  group: Cluster,
  relays: readonly (RelayProcess | RelayHere)[],
  counts: readonly number[],
  seconds?: number,
) {
  const wanted = JSON.stringify([...counts].sort())
  return until(
    async () => {
      const shares = await group.shares()
      const here = relays.flatMap((each) => ('relay' in each ? [[...each.relay.scheduler.endpoints].length] : []))
      const others = relays.flatMap((each) => ('relay' in each ? [] : [shares[each.pid] ?? 0]))
      const agrees = here.reduce((sum, count) => sum + count, 0) === (shares[process.pid] ?? 0)
      return agrees && JSON.stringify([...here, ...others].sort()) === wanted && !(0 in shares)
    },
    `the relays have ${counts.join(', ')} endpoints`,
    seconds,
  )
}

export const times = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)
