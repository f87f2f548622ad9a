/**
 * `node bench/relay/deadline.ts`: what a deadline for each attempt costs: none, the relay's own timer that aborts the
 * request's controller, and cockatiel's timeout policy with its signal handed to undici. Rounds interleaved, medians shown.
 * Options: --count N (requests a round, 20000), --rounds N (5), --in-flight N (64)
 */
import { fork } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Table from 'cli-table3'
import { TimeoutStrategy, timeout } from 'cockatiel'
import { Pool } from 'undici'
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
const policy = timeout(10_000, TimeoutStrategy.Aggressive)

const post = (body: string, cancelled?: (abort: () => void) => () => void): Promise<void> =>
  new Promise((resolve, reject) => {
    let ended: () => void = () => undefined
    pool.dispatch(
      { path: '/', method: 'POST', headers: { 'content-type': 'application/json' }, body },
      {
        onRequestStart: (controller) => {
          ended = cancelled?.(() => controller.abort(new Error('deadline'))) ?? ended
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
  'a timer of our own': (body) =>
    post(body, (abort) => {
      const timer = setTimeout(abort, 10_000)
      return () => clearTimeout(timer)
    }),
  'cockatiel’s timeout and its signal': (body) =>
    policy.execute(async ({ signal }) => {
      const answer = await pool.request({
        path: '/',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        signal,
      })
      await answer.body.dump()
    }),
  'the same without a deadline': async (body) => {
    const answer = await pool.request({ path: '/', method: 'POST', headers: { 'content-type': 'application/json' }, body })
    await answer.body.dump()
  },
}

const seen = new Map<string, number[]>()
for (let round = 0; round <= rounds; round++)
  for (const [name, way] of Object.entries(ways)) {
    receiver.send({ expect: count })
    await next()
    const all = next()
    const begun = performance.now()
    let place = 0
    const work = async (): Promise<void> => {
      while (place < count) await way(eventOf(place++).body)
    }
    await Promise.all(Array.from({ length: inFlight }, work))
    await all
    // The first round warms up.
    if (round > 0) seen.set(name, [...(seen.get(name) ?? []), (count / (performance.now() - begun)) * 1000])
  }

const middle = (name: string): number => (seen.get(name) ?? []).toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0
const table = new Table({ head: ['deadline', 'requests/s', '× none'], style: { head: [], border: [] } })
for (const name of Object.keys(ways))
  table.push([name, Math.round(middle(name)), (middle(name) / middle('no deadline')).toFixed(2)])
console.log(`Node ${process.version}, events of 1 KiB, ${inFlight} in flight, ${count} a round, medians of ${rounds} rounds`)
console.log(table.toString())
await pool.close()
receiver.disconnect()
