/**
 * `npm run bench:backlog`: a relay that starts on a million pending events: seconds to its first delivery, and its memory.
 *
 * The real outbox makes the backlog, and the real relay ingests it while its endpoint is disabled. Both run in a separate
 * process. Two starts in new processes follow. The first drains the backlog of the relay's store for a while. The second has
 * a tenth of it still in the outbox, ingested and delivered at the same time.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { openOutbox } from '../adapters/outbox/file.ts'
import { youngGenerationLimit } from '../daemon/bin/young-generation.ts'
import { storePath } from '../daemon/relay/open-store.ts'
import { startRelay } from '../daemon/relay/relay.ts'
import type { EndpointUpsert } from '../lib/outbox/record.ts'
import { ingestAll } from './relay/ingested.ts'
import { eventOf, inGroups, key, peakMiB } from './relay/made.ts'
import { whole } from './support/figures.ts'
import { optionsOf } from './support/options.ts'
import { machine, printReport } from './support/report.ts'

interface Step {
  readonly step: 'write' | 'take' | 'start'
  readonly directory: string
  readonly count: number
  readonly url: string
  /** Whether the endpoint is there to be sent to. */
  readonly enabled: boolean
}

const settings = { allowHttp: true, allowPrivate: true }
const endpoint = (url: string, enabled: boolean): EndpointUpsert => ({
  ...{ kind: 'endpoint', action: 'upsert', id: '1', network_id: '1', url, key, secrets: [], events: null },
  ...{ audience: 'integration', enabled, order: 'none', rate_per_second: null },
})

/** The work of a separate process. It responds with one message, and the last one stays until it gets the order to end. */
async function work({ step, directory, count, url, enabled }: Step): Promise<void> {
  if (step === 'write') {
    const outbox = await openOutbox({ directory })
    await outbox.append([[endpoint(url, enabled)]])
    await inGroups(count, (places) => outbox.append(places.map((place) => [eventOf(place)])))
    await outbox.close()
  }
  const begun = performance.now()
  if (step === 'take') {
    await ingestAll(directory, count)
    const outbox = await openOutbox({ directory })
    await outbox.append([[endpoint(url, true)]])
    await outbox.close()
  }
  if (step === 'start') {
    const relay = await startRelay({ outbox: directory, settings })
    const started = performance.now() - begun
    process.send?.({ seconds: started / 1000, peakMiB: peakMiB() })
    process.on('message', async () => {
      const peak = peakMiB()
      await relay.close(0)
      process.send?.({ peakMiB: peak }, () => process.exit(0))
    })
    return
  }
  process.send?.({ seconds: (performance.now() - begun) / 1000, peakMiB: peakMiB() }, () => process.exit(0))
}

interface Said {
  readonly seconds: number
  readonly peakMiB: number
}

const said = (child: ChildProcess): Promise<Said> =>
  new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`a step ended with ${code}`)))
    child.once('message', (message) => resolve(message as Said))
  })

async function main(): Promise<void> {
  const values = optionsOf('npm run bench:backlog', 'Measures a relay that starts on many pending events.', {
    count: { default: '1000000', means: 'events of 1 KiB' },
    drain: { default: '30', means: 'seconds of draining' },
    json: { default: '', means: 'a file that gets all figures as JSON' },
  })
  const count = Number(values.count)
  const directory = mkdtempSync(join(tmpdir(), 'folkmoot-bench-backlog-'))
  let deliveries = 0
  let first = Promise.withResolvers<number>()
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => {
      deliveries++
      first.resolve(performance.now())
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((listening) => void receiver.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  const begin = (step: Step['step'], change: Partial<Step> = {}): ChildProcess =>
    // With the memory that `folkmoot-relay run` gives itself.
    fork(import.meta.filename, [JSON.stringify({ step, directory, count, url, enabled: false, ...change } satisfies Step)], {
      execArgv: [youngGenerationLimit],
    })
  try {
    await said(begin('write'))
    const taken = await said(begin('take'))
    const mebibytes = Math.round(statSync(storePath(directory)).size / 2 ** 20)
    first = Promise.withResolvers<number>()
    const begun = performance.now()
    const child = begin('start')
    const started = await said(child)
    const delivered = (await first.promise) - begun
    const before = deliveries
    await new Promise((over) => void setTimeout(over, Number(values.drain) * 1000))
    const rate = (deliveries - before) / Number(values.drain)
    const ended = said(child)
    child.send('end')
    const drained = await ended

    const fresh = Math.ceil(count / 10)
    const other = join(directory, 'fresh')
    await said(begin('write', { directory: other, count: fresh, enabled: true }))
    const goal = deliveries + fresh
    const begunFresh = performance.now()
    const second = begin('start', { directory: other })
    await said(second)
    while (deliveries < goal) await new Promise((next) => void setTimeout(next, 50))
    const both = performance.now() - begunFresh
    const endedFresh = said(second)
    second.send('end')
    const after = await endedFresh

    const conditions = {
      ...machine('the relay shares all cores with the receiver'),
      pending: `${whole(count)} events of 1 KiB`,
      'size of the store': `${whole(mebibytes)} MiB`,
    }
    const rows = [
      ['ingesting the backlog from the outbox', taken.seconds.toFixed(1), whole(taken.peakMiB)],
      ['start of the relay on its store', started.seconds.toFixed(2), whole(started.peakMiB)],
      ['process start to the first delivery', (delivered / 1000).toFixed(2), ''],
      [`draining, ${whole(rate)} deliveries/s`, values.drain, whole(drained.peakMiB)],
      [`ingesting and delivering ${whole(fresh)} together`, (both / 1000).toFixed(1), whole(after.peakMiB)],
    ]
    printReport({ conditions, tables: [{ title: 'A backlog', columns: ['step', 'seconds', 'peak MiB'], rows }] }, values.json)
  } finally {
    receiver.closeAllConnections()
    receiver.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

const task = process.argv[2]
if (task?.startsWith('{')) await work(JSON.parse(task) as Step)
else await main()
