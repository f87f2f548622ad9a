/** Shared by the relay's tests: a receiver on loopback, records, and waiting for deliveries. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { openOutbox } from '../../../adapters/outbox/file.ts'
import type { AttemptReport } from '../../../daemon/relay/events.ts'
import { type Relay, type RelayOptions, startRelay } from '../../../daemon/relay/relay.ts'
import type { Settings } from '../../../daemon/relay/settings.ts'
import type { Notice } from '../../../daemon/relay/store/notice.ts'
import type { EndpointUpsert, ErasureRecord, EventRecord, OutboxRecord } from '../../../lib/outbox/record.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { postgresOutbox } from './postgres-outbox.ts'

export interface Received {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly body: string
  /** Monotonic milliseconds. */
  readonly at: number
}

export type Responder = (request: Received, response: ServerResponse) => void

export interface Receiver {
  readonly url: string
  readonly port: number
  readonly received: readonly Received[]
  /** The most requests that got responses concurrently, since the last look. */
  peak(): number
  respond: Responder
}

export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): Responder =>
  (_, response) => {
    response.writeHead(code, headers).end()
  }

/** A receiver on loopback that keeps what it gets. */
export async function receiver(respond: Responder = status(204)): Promise<Receiver> {
  const received: Received[] = []
  const sockets = new Set<Socket>()
  let running = 0
  let most = 0
  const result = {
    url: '',
    port: 0,
    received,
    peak() {
      const peak = most
      most = running
      return peak
    },
    respond,
  }
  const server = createServer((request, response) => {
    most = Math.max(most, ++running)
    response.on('close', () => running--)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8')
      const got = {
        id: /"event_id":"([^"]*)"/.exec(body)?.[1] ?? '',
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body,
        at: performance.now(),
      }
      received.push(got)
      result.respond(got, response)
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => undefined)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  result.port = (server.address() as AddressInfo).port
  result.url = `http://127.0.0.1:${result.port}/hook`
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return result
}

export const endpoint = (url: string, change: Partial<EndpointUpsert> = {}): EndpointUpsert => ({
  kind: 'endpoint',
  action: 'upsert',
  id: '7',
  network_id: '1',
  url,
  key: 'the-key',
  secrets: [],
  events: null,
  audience: 'integration',
  enabled: true,
  order: 'none',
  rate_per_second: null,
  ...change,
})

export const event = (id: string, change: Partial<EventRecord> = {}): EventRecord => ({
  kind: 'event',
  network_id: '1',
  event_id: id,
  event_type: 'PostCreatedHook',
  event_timestamp: '2026-11-20T10:00:00.000Z',
  audience: 'integration',
  body: JSON.stringify({ event_id: id, event_type: 'PostCreatedHook', payload: {} }),
  ...change,
})

export const events = (prefix: string, count: number): EventRecord[] =>
  Array.from({ length: count }, (_, index) => event(`${prefix}${index}`))

/**
 * Waits for something that has to come; a test fails with these words when it does not. On a busy machine it may come late.
 * Conditions that are queries cost the database: they are asked less often when it takes long.
 */
export async function until(condition: () => boolean | Promise<boolean>, what: string, seconds = 90): Promise<void> {
  const begin = performance.now()
  for (;;) {
    const met = condition()
    if (await met) return
    const waited = performance.now() - begin
    if (waited > seconds * 1000) throw new Error(`waited ${seconds} s in vain until ${what}`)
    const pause = typeof met === 'boolean' ? Math.min(20, waited / 50) : Math.min(100, waited / 10)
    await new Promise<void>((done) => void setTimeout(done, Math.max(5, pause)))
  }
}

/** Lets time pass in which nothing may happen. */
export const pass = (milliseconds: number): Promise<void> => new Promise((done) => void setTimeout(done, milliseconds))

/** An outbox that tests append to. */
export interface TestOutbox {
  /** The value of a relay's `outbox`. */
  readonly address: string
  append(commits: readonly (readonly OutboxRecord[])[]): Promise<void>
  close(): Promise<void>
}

async function directoryOutbox(): Promise<TestOutbox> {
  const directory = temporaryDirectory()
  const writer = await openOutbox({ directory })
  return { address: directory, append: (commits) => writer.append(commits), close: () => writer.close() }
}

/** The project `relay-postgres` of `vitest.config.ts` runs what every relay does on the store that relays share. */
const newOutbox = process.env['FOLKMOOT_TEST_RELAY'] === 'postgres' ? postgresOutbox : directoryOutbox

export interface Bench {
  /** The outbox as a relay takes it: a directory, as a rule. */
  readonly directory: string
  readonly relay: Relay
  readonly attempts: AttemptReport[]
  readonly notices: Notice[]
  readonly faults: unknown[]
  append(...records: (EventRecord | EndpointUpsert | ErasureRecord)[]): Promise<void>
  remove(id: string): Promise<void>
  closeOutbox(): Promise<void>
  /** Closes the relay and starts another one on the same outbox. */
  restart(settings?: Partial<Settings>): Promise<void>
}

/** An outbox and a relay on it, with a short schedule. */
export async function bench(
  settings: Partial<Settings> = {},
  options: Partial<RelayOptions> = {},
  makeOutbox: () => Promise<TestOutbox> = newOutbox,
): Promise<Bench> {
  const outbox = await makeOutbox()
  const directory = outbox.address
  const attempts: AttemptReport[] = []
  const notices: Notice[] = []
  const faults: unknown[] = []
  const start = (changed: Partial<Settings>): Promise<Relay> =>
    startRelay({
      outbox: directory,
      settings: { allowHttp: true, allowPrivate: true, retrySchedule: [0, 0.1, 0.1, 0.1], ...changed },
      onAttempt: (report) => attempts.push(report),
      onNotice: (notice) => notices.push(notice),
      onFault: (what, error) => faults.push([what, error]),
      ...options,
    })
  const result = {
    directory,
    relay: await start(settings),
    attempts,
    notices,
    faults,
    append: (...records: (EventRecord | EndpointUpsert | ErasureRecord)[]) => outbox.append(records.map((record) => [record])),
    remove: (id: string) => outbox.append([[{ kind: 'endpoint', action: 'remove', id, network_id: '1' }]]),
    closeOutbox: () => outbox.close(),
    async restart(changed: Partial<Settings> = {}) {
      await result.relay.close(0)
      result.relay = await start({ ...settings, ...changed })
    },
  }
  onTestFinished(async () => {
    await result.relay.close(0)
    await outbox.close()
  })
  return result
}
