/** A relay in a separate process, over an outbox that may be written to. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { openOutbox } from '../../adapters/outbox/file.ts'
import type { EndpointUpsert, EventRecord } from '../../lib/outbox/record.ts'

const program = join(import.meta.dirname, '..', '..', 'daemon', 'bin', 'folkmoot-relay.ts')

export interface WatchedRelay {
  readonly directory: string
  readonly port: number
  readonly outbox: Awaited<ReturnType<typeof openOutbox>>
  readonly child: ChildProcess
  /** Kills it and starts it again on the same port. */
  restart(): Promise<void>
  /** Kills it immediately. */
  kill(): Promise<void>
  /** One of its figures. */
  figure(name: string): Promise<number>
}

export const endpoint = (url: string, id = '1'): EndpointUpsert => ({
  ...{ kind: 'endpoint', action: 'upsert', id, network_id: '1', url, key: 'the-key', secrets: [], events: null },
  ...{ audience: 'integration', enabled: true, order: 'none', rate_per_second: null },
})

let made = 0
/** @param filler makes the payload large */
export function event(filler = ''): EventRecord {
  const event_id = `00000000-0000-4000-8000-${String(++made).padStart(12, '0')}`
  const head = { event_id, event_type: 'PostCreatedHook', event_timestamp: new Date().toISOString() }
  return {
    kind: 'event',
    network_id: '1',
    ...head,
    audience: 'integration',
    body: JSON.stringify({ ...head, payload: { filler } }),
  }
}

export async function startRelay(directory: string, flags: readonly string[] = []): Promise<WatchedRelay> {
  const outbox = await openOutbox({ directory })
  let child: ChildProcess
  let port = 0

  async function start(): Promise<void> {
    const always = ['run', '--outbox', directory, '--allow-http', '--allow-private', '--json']
    const started = spawn(process.execPath, [program, ...always, '--control-port', String(port), ...flags], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    child = started
    let text = ''
    port = await new Promise<number>((resolve, reject) => {
      started.stdout.setEncoding('utf8').on('data', (piece: string) => {
        if (text === 'done') return
        text += piece
        const control = /"control":(\d+)/.exec(text)?.[1]
        if (control === undefined) return
        text = 'done'
        resolve(Number(control))
      })
      started.once('exit', (code) => reject(new Error(`the relay of ${directory} ended with ${code}`)))
    })
  }

  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  await start()
  return {
    directory,
    outbox,
    get port() {
      return port
    },
    get child() {
      return child
    },
    async restart() {
      await kill()
      await start()
    },
    kill,
    async figure(name) {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    },
  }
}
