/**
 * `npx node bench/relay/deadline.ts`: what a deadline for each request costs: none, a timer, and cockatiel's cooperative timeout as the relay
 * uses it and with its default `abortOnReturn`. Rounds interleaved, medians shown. For the relay as a whole see `checkouts.ts`.
 * Options: --count N (requests a round, 20000), --rounds N (5), --in-flight N (64)
 */
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { TimeoutStrategy, timeout } from 'cockatiel'
import { type Dispatcher, Pool } from 'undici'
import { eventOf } from './made.ts'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
    'in-flight': { type: 'string', default: '64' },
  },
})
const [count, rounds, inFlight] = [Number(values.count), Number(values.rounds), Number(values['in-flight'])]

const receiver = fork(join(import.meta.dirname, 'receiver.ts'))
const next = <T>(): Promise<T> => new Promise((resolve) => void receiver.once('message', (message) => resolve(message as T)))
const { port } = await next<{ port: number }>()
const pool = new Pool(`http://127.0.0.1:${port}`, { connections: inFlight, pipelining: 1 })
const asTheRelay = timeout(10_000, { strategy: TimeoutStrategy.Cooperative, abortOnReturn: false })
const byDefault = timeout(10_000, TimeoutStrategy.Cooperative)

const post = (body: string, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    const abort = (): void => controller?.abort(new Error('deadline'))
    signal?.addEventListener('abort', abort)
    const ended = (): void => signal?.removeEventListener('abort', abort)
    pool.dispatch(
      { path: '/', method: 'POST', headers: { 'content-type': 'application/json' }, body },
      {
        onRequestStart: (given) => {
          controller = given
        },
        onResponseStart: () => undefined,
        onResponseData: () => undefined,
        onResponseEnd: () => {
          ended()
          resolve()
        },
        onResponseError: (_, error) => {
          ended()
          reject(error)
        },
      },
    )
  })

const ways: Readonly<Record<string, (body: string) => Promise<void>>> = {
  'no deadline': (body) => post(body),
  'a timer': async (body) => {
    const timer = setTimeout(() => undefined, 10_000)
    await post(body).finally(() => clearTimeout(timer))
  },
  'cockatiel’s timeout, as the relay uses it': (body) =>
    asTheRelay.execute(({ signal }) => post(body, signal), new AbortController().signal),
  'cockatiel’s timeout, with `abortOnReturn`': (body) =>
    byDefault.execute(({ signal }) => post(body, signal), new AbortController().signal),
}

const seen = new Map<string, number[]>()
const cpu = new Map<string, number[]>()
for (let round = 0; round <= rounds; round++)
  for (const [name, way] of Object.entries(ways)) {
    receiver.send({ expect: count })
    await next()
    const all = next()
    const begun = performance.now()
    const before = process.cpuUsage()
    let place = 0
    const work = async (): Promise<void> => {
      while (place < count) await way(eventOf(place++).body)
    }
    await Promise.all(Array.from({ length: inFlight }, work))
    await all
    const { user, system } = process.cpuUsage(before)
    // The first round warms up.
    if (round === 0) continue
    seen.set(name, [...(seen.get(name) ?? []), (count / (performance.now() - begun)) * 1000])
    cpu.set(name, [...(cpu.get(name) ?? []), (user + system) / count])
  }

const middle = (figures: ReadonlyMap<string, readonly number[]>, name: string): number =>
  (figures.get(name) ?? []).toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0
console.log(`Node ${process.version}, events of 1 KiB, ${inFlight} in flight, ${count} a round, medians of ${rounds} rounds`)
const figures = Object.keys(ways).map((name) => ({
  deadline: name,
  'requests/s': Math.round(middle(seen, name)),
  'CPU µs per request': middle(cpu, name).toFixed(1),
}))
console.table(figures)
await pool.close()
receiver.disconnect()
