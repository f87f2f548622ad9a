/**
 * `npm run try:alerts`: brings relays into the states that the alert rules are about, and lets a real Prometheus watch them.
 * It lists the alerts that fire. All times of the rules are divided by 150. It takes about a minute and never more than
 * three.
 *
 * Needs `prometheus` on the PATH. A full disk needs root on Linux. A rule that cannot be tried is listed, and is not a
 * failure.
 */
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openOutbox } from '../adapters/outbox/file.ts'
import { storePath } from '../daemon/relay/open-store.ts'
import { type Firing, freePort, isInstalled, rulesFile, rulesOf, startPrometheus } from './alerts/prometheus.ts'
import { endpoint, event, startRelay, type WatchedRelay } from './alerts/relay.ts'

const factor = 150
const limit = 150_000

interface State {
  readonly name: string
  readonly flags?: readonly string[]
  /** Where its outbox is to be, if not just anywhere. */
  readonly disk?: boolean
  /** Brings the relay into this state. */
  readonly bring: (relay: WatchedRelay, origin: string) => Promise<void>
  /** The alert that has to fire. */
  readonly fires: readonly string[]
  /** The alerts that may fire on the way. */
  readonly may?: readonly string[]
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, milliseconds))
const cannotWork = ['FolkmootRelayNotReady', 'FolkmootRelayOutboxBehind', 'FolkmootRelayFaults']

async function until(condition: () => boolean | Promise<boolean>, what: string, milliseconds = 40_000): Promise<void> {
  for (const begun = performance.now(); !(await condition()); await pause(200))
    if (performance.now() - begun > milliseconds) throw new Error(`in vain waited until ${what}`)
}

/** Open until the end. */
const snapshots: DatabaseSync[] = []

/** A file of client identities that names none yet. */
function noIdentities(): string {
  const directory = mkdtempSync(join(tmpdir(), 'folkmoot-identities-'))
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(join(directory, 'identities.json'), '{}')
  return join(directory, 'identities.json')
}
const identities = noIdentities()

/** Adds one whose certificate is valid for so many days. */
function addIdentity(days: number): void {
  const made = ['-keyout', 'key.pem', '-out', 'cert.pem', '-days', String(days), '-subj', '/CN=relay']
  spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...made], { cwd: dirname(identities) })
  writeFileSync(identities, JSON.stringify({ identities: { bank: { cert: 'cert.pem', key: 'key.pem' } } }))
}

const states: readonly State[] = [
  {
    name: 'all is well',
    bring: async ({ outbox }, origin) => outbox.append([[endpoint(`${origin}/204`)], [event()], [event()]]),
    fires: [],
  },
  {
    name: 'the outbox directory is gone',
    bring: async ({ directory }) => renameSync(directory, `${directory}-away`),
    fires: cannotWork,
  },
  {
    name: 'the disk is full',
    disk: true,
    async bring({ child, directory, outbox }) {
      child.kill('SIGSTOP')
      await outbox.append(Array.from({ length: 500 }, () => [event()]))
      try {
        writeFileSync(join(directory, '..', 'ballast'), Buffer.alloc(64 * 1024 * 1024))
      } catch {
        // Full, as it is meant to be.
      }
      child.kill('SIGCONT')
    },
    fires: cannotWork,
    may: ['FolkmootRelayDown'],
  },
  { name: 'the process is gone', bring: async ({ kill }) => kill(), fires: ['FolkmootRelayDown'] },
  {
    name: 'twenty endpoints are dead',
    flags: ['--retry-schedule', '0,0.2,0.2,0.2,0.2,0.2,3600'],
    async bring({ outbox }) {
      const unused = `http://127.0.0.1:${await freePort()}/`
      const dead = Array.from({ length: 20 }, (_, index) => endpoint(unused, `${index + 1}`))
      await outbox.append([dead, ...Array.from({ length: 5 }, () => [event()])])
    },
    fires: ['FolkmootRelayCircuitOpen', 'FolkmootRelayBehind'],
  },
  {
    name: 'the proxy is not there',
    flags: ['--proxy', 'http://127.0.0.1:9'],
    bring: async ({ outbox }, origin) => outbox.append([[endpoint(`${origin}/204`)], [event()]]),
    fires: ['FolkmootRelayProxyDown'],
    may: ['FolkmootRelayBehind'],
  },
  {
    name: 'a client certificate expires tomorrow',
    flags: ['--client-identities', identities],
    async bring({ child }) {
      addIdentity(1)
      child.kill('SIGHUP')
    },
    fires: ['FolkmootRelayCertificateExpires'],
  },
  {
    name: 'an endpoint responds with 410',
    bring: async ({ outbox }, origin) => outbox.append([[endpoint(`${origin}/410`)], [event()]]),
    fires: ['FolkmootRelayEndpointDisabled'],
    may: ['FolkmootRelayBehind'],
  },
  {
    name: 'no attempts are left',
    flags: ['--retry-schedule', '0'],
    bring: async ({ outbox }, origin) => outbox.append([[endpoint(`${origin}/500`)], [event()]]),
    fires: ['FolkmootRelayDeadDeliveries'],
  },
  {
    name: 'a segment is damaged',
    async bring({ child, directory }) {
      child.kill('SIGSTOP')
      const writer = await openOutbox({ directory })
      await writer.append([[event()]])
      await writer.close()
      for (const name of readdirSync(directory).filter((each) => each.endsWith('.ndjson')))
        appendFileSync(join(directory, name), 'this is no record\n')
      child.kill('SIGCONT')
    },
    fires: ['FolkmootRelayDamage'],
    may: ['FolkmootRelayDown'],
  },
  {
    name: 'the relay dies three times during one delivery',
    flags: ['--timeout', '60'],
    async bring(relay, origin) {
      await relay.outbox.append([[endpoint(`${origin}/hang`)], [event()]])
      for (let death = 0; death < 3; death++) {
        await until(async () => (await relay.figure('relay_inflight')) === 1, 'it is in flight')
        await relay.restart()
      }
    },
    fires: ['FolkmootRelayPoison'],
    may: ['FolkmootRelayDown', 'FolkmootRelayBehind'],
  },
  {
    name: 'a process reads an old snapshot of the store',
    async bring({ directory, outbox }, origin) {
      const reader = new DatabaseSync(storePath(directory), { readOnly: true })
      reader.exec('BEGIN')
      reader.prepare('SELECT count(*) FROM events').get()
      snapshots.push(reader)
      const large = Array.from({ length: 150 }, () => [event('x'.repeat(200_000))])
      await outbox.append([[endpoint(`${origin}/204`)], ...large])
    },
    fires: ['FolkmootRelayStoreLog'],
    may: ['FolkmootRelayBehind'],
  },
  {
    name: 'more comes than is delivered',
    flags: ['--timeout', '60'],
    async bring({ outbox }, origin) {
      await outbox.append([[endpoint(`${origin}/hang`)]])
      const more = setInterval(() => void outbox.append(Array.from({ length: 200 }, () => [event()])).catch(() => undefined), 500)
      more.unref()
      setTimeout(() => clearInterval(more), 60_000).unref()
    },
    fires: ['FolkmootRelayBacklogGrows'],
    may: ['FolkmootRelayBehind'],
  },
]

/** Fires for all relays together. */
const ofAll = 'FolkmootRelayManyCircuitsOpen'
/** Fires when no relay is watched any more. */
const ofNone = 'FolkmootRelayMissing'

async function main(): Promise<number> {
  const began = performance.now()
  const home = mkdtempSync(join(tmpdir(), 'folkmoot-try-alerts-'))
  const receiver = createServer((request, response) => {
    const status = Number(request.url?.slice(1))
    request.resume()
    if (status > 0) response.writeHead(status).end()
  })
  await new Promise<void>((listening) => void receiver.listen(0, '127.0.0.1', listening))
  const origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const disk = join(home, 'disk')
  mkdirSync(disk)
  const mounted = process.getuid?.() === 0 && spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk]).status === 0
  const tried = states.filter((state) => !state.disk || mounted)
  for (const { name } of states.filter((state) => !tried.includes(state)))
    console.log(`LEFT OUT: ${name} (mounting a small disk needs root on Linux)`)

  const prometheus = await startPrometheus(home, factor)
  const relays: WatchedRelay[] = []
  try {
    // One after the other: a start keeps a core busy.
    for (const { flags, disk: small, name } of tried)
      relays.push(await startRelay(join(small ? disk : home, `outbox-${name.replaceAll(' ', '-')}`), flags))
    await prometheus.watch(relays.map(({ port }) => port))
    await until(async () => (await prometheus.up()) === relays.length, 'all relays are watched')
    await pause(5000)
    const early = await prometheus.firing()
    console.log(early.length === 0 ? 'ok    nothing fires while all is well' : `WRONG ${JSON.stringify(early)} while all is well`)

    await Promise.all(tried.map(({ bring }, index) => bring(relays[index] as WatchedRelay, origin)))
    const seen = new Map<string, Firing>()
    const has = (name: string, index?: number): boolean =>
      seen.has(`${name} ${index === undefined ? undefined : `127.0.0.1:${relays[index]?.port}`}`)
    const missing = (): readonly string[] => [
      ...tried.flatMap(({ name, fires }, index) => fires.filter((each) => !has(each, index)).map((each) => `${each} (${name})`)),
      ...(has(ofAll) ? [] : [ofAll]),
    ]
    while (missing().length > 0 && performance.now() - began < limit) {
      for (const each of await prometheus.firing()) seen.set(`${each.name} ${each.instance}`, each)
      await pause(500)
    }
    for (const each of missing()) console.log(`WRONG ${each} does not fire`)
    let wrong = missing().length + early.length
    for (const [index, { name, fires, may = [] }] of tried.entries()) {
      const fired = [...seen.values()].filter(({ instance }) => instance === `127.0.0.1:${relays[index]?.port}`)
      const too = fired.filter((each) => !fires.includes(each.name) && !may.includes(each.name))
      wrong += too.length
      const names = fired.map((each) => each.name.replace('FolkmootRelay', '')).join(', ')
      console.log(`${too.length === 0 ? 'ok   ' : 'WRONG'} ${name}: ${names === '' ? 'nothing fires' : names}`)
    }
    await prometheus.watch([])
    await until(async () => (await prometheus.firing()).some(({ name }) => name === ofNone), `${ofNone} fires`)
    console.log('ok    no relay is watched: Missing')
    const untried = rulesOf(readFileSync(rulesFile, 'utf8')).filter(
      (rule) => ![...seen.values()].some(({ name }) => name === rule) && rule !== ofNone,
    )
    for (const rule of untried) console.log(`WRONG no state makes ${rule} fire`)
    wrong += untried.length
    console.log(
      `${wrong === 0 ? 'All alerts ring' : `${wrong} wrong`}, after ${Math.round((performance.now() - began) / 1000)} s`,
    )
    return wrong === 0 ? 0 : 1
  } finally {
    for (const snapshot of snapshots) snapshot.close()
    prometheus.stop()
    await Promise.all(relays.map((relay) => relay.kill()))
    await Promise.all(relays.map(({ outbox }) => outbox.close().catch(() => undefined)))
    receiver.closeAllConnections()
    receiver.close()
    if (mounted) spawnSync('umount', ['-l', disk])
    rmSync(home, { recursive: true, force: true })
  }
}

if (isInstalled()) process.exitCode = await main()
else {
  console.error('LEFT OUT: the alerts are not tried, as there is no prometheus on the PATH (apt-get install prometheus)')
  process.exitCode = 3
}
