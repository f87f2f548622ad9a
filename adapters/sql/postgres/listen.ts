/** Listens on channels, for as long as a connection holds. */
import { setTimeout } from 'node:timers/promises'
import { quoted } from '../dialect.ts'
import { newClient } from './pool.ts'

export interface Listening {
  close(): Promise<void>
}

const connectTimeoutMs = 5_000
/** Milliseconds before a connection that broke is made again. */
const pause = 1_000

/**
 * Listens on channels, on a separate connection that is reopened whenever it breaks. Notifications in between are lost. Nothing
 * is received while PostgreSQL is unreachable or has no channels: hints, never promises.
 *
 * @param notified called with the channel
 */
export function listenOn(url: string, channels: readonly string[], notified: (channel: string) => void): Listening {
  const stopping = new AbortController()
  const { signal } = stopping

  async function once(): Promise<void> {
    const client = await newClient({
      connectionString: url,
      connectionTimeoutMillis: connectTimeoutMs,
      application_name: 'folkmoot-listener',
      keepAlive: true,
    })
    if (signal.aborted) return
    const { promise: broken, resolve } = Promise.withResolvers<void>()
    const end = () => resolve()
    client.on('error', end)
    client.on('end', end)
    signal.addEventListener('abort', end)
    client.on('notification', ({ channel }) => notified(channel))
    try {
      await client.connect()
      for (const channel of channels) await client.query(`LISTEN ${quoted(channel)}`)
      await broken
    } finally {
      signal.removeEventListener('abort', end)
      await client.end().catch(() => undefined)
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await once().catch(() => undefined)
      await setTimeout(pause, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  const running = run()
  return {
    async close() {
      stopping.abort()
      await running
    },
  }
}
