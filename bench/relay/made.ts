/** Shared by every sender of the relay's benchmark: the same events, the same signature, the same way to report. */
import { createHmac, createSecretKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Pool } from 'undici'
import { uuidAt } from '../../lib/base/uuid.ts'
import type { EventRecord } from '../../lib/outbox/record.ts'

/** The task of a sender: the number of events, their destination, and the directory or address at which it keeps them. */
export interface Task {
  readonly count: number
  readonly url: string
  readonly keptAt: string
  readonly inFlight: number
  /** Events a second, each at its time; null: all of them are there from the beginning. */
  readonly perSecond: number | null
  /** Whether a relay has the backlog in its store before it begins. If not, it ingests it within the measured time. */
  readonly ingested: boolean
}

/** The usage of a sender since its process began. */
export interface Usage {
  readonly cpuSeconds: number
  readonly peakMiB: number
}

/** The report of the receiver when it has everything. */
export interface Received {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly distinct: number
  readonly deliveries: number
  /** Milliseconds since the first delivery, at each hundredth of the events. */
  readonly hundredths: readonly number[]
  /** From handing over to arrival, in milliseconds. */
  readonly p50: number
  readonly p99: number
}

/** Of a hundred: until then code is being compiled and connections are being made. */
export const warm = 25

export const key = 'bench-key'
export const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
/** As the relay has it: made of its bytes for each signature, it costs five times as much as signing. */
const hmacKey = createSecretKey(Buffer.alloc(24, 7))

const filling = 'What the sea looked like at six, and which blues it took. '.repeat(13)

/** An event of 1 KiB; its id ends with its place. `sent_at` is when it was handed over, in milliseconds. */
export function eventOf(place: number, sent_at = Date.now()): EventRecord {
  const event_id = uuidAt(sent_at, crypto.randomUUID()).slice(0, -12) + String(place).padStart(12, '0')
  const event_timestamp = new Date(sent_at).toISOString()
  const head = { event_id, event_timestamp, event_type: 'PostCreatedHook' }
  const payload = { id: String(place), sent_at, title: 'Morning light', description: filling }
  const body = JSON.stringify({ ...head, payload })
  return { kind: 'event', network_id: '1', ...head, audience: 'integration', body }
}

/** The headers that a delivery carries, Standard Webhooks signature included. */
function headersOf(event_id: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', hmacKey).update(`${event_id}.${timestamp}.${body}`).digest('base64')
  return {
    'content-type': 'application/json',
    accept: 'application/json',
    authorization: `Bearer ${key}`,
    'webhook-id': event_id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
}

/** Makes one delivery, as every sender but the relay does: the relay has its own. */
export async function post(pool: Pool, path: string, event: Pick<EventRecord, 'event_id' | 'body'>): Promise<void> {
  const headers = headersOf(event.event_id, event.body)
  const { body, statusCode } = await pool.request({ path, method: 'POST', headers, body: event.body })
  await body.dump()
  if (statusCode >= 300) throw new Error(`the response is a ${statusCode}`)
}

/** Connections to the receiver, and the path there. */
export function connectionsTo(url: string, connections: number): { readonly pool: Pool; readonly path: string } {
  const { origin, pathname } = new URL(url)
  return { pool: new Pool(origin, { connections, pipelining: 1 }), path: pathname }
}

/** Hands a whole backlog over, a thousand at a time. */
export async function inGroups(count: number, add: (places: readonly number[]) => Promise<void>): Promise<void> {
  const group = 1000
  for (let first = 0; first < count; first += group)
    await add(Array.from({ length: Math.min(group, count - first) }, (_, step) => first + step))
}

/**
 * The most memory that this process has held, in MiB. Not `maxRSS` where there is /proc: a process inherits that figure from
 * the one that started it.
 */
export function peakMiB(): number {
  try {
    const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    if (kibibytes !== undefined) return Number(kibibytes) / 1024
  } catch {
    // No /proc here.
  }
  return process.resourceUsage().maxRSS / 1024
}

/** Reads the task, prepares, reports that it is ready, and begins on demand. Its usage is reported whenever it is called. */
export async function asSender(prepare: (task: Task) => Promise<() => Promise<void>>): Promise<void> {
  const task = JSON.parse(process.argv[2] ?? '{}') as Task
  const begin = await prepare(task)
  process.on('message', async (message) => {
    if (message === 'begin') await begin()
    if (message === 'usage') {
      const { user, system } = process.cpuUsage()
      process.send?.({ cpuSeconds: (user + system) / 1e6, peakMiB: peakMiB() } satisfies Usage)
    }
    if (message === 'end') process.exit(0)
  })
  process.on('disconnect', () => process.exit(0))
  process.send?.('ready')
}

/** Calls `add` for each event at its time, spread evenly; late ones are caught up with. */
export async function atRate(count: number, perSecond: number, add: (places: readonly number[]) => Promise<void>): Promise<void> {
  const begun = performance.now()
  for (let place = 0; place < count; ) {
    const due = Math.min(count, Math.ceil(((performance.now() - begun) / 1000) * perSecond))
    if (due > place) await add(Array.from({ length: due - place }, (_, step) => place + step))
    place = Math.max(place, due)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
