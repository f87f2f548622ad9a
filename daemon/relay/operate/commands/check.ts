/** `folkmoot-relay check`: whether a relay could run here, found out as a relay would, without changing anything. */

import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { bytesLeft } from '../../../../adapters/files/disk.ts'
import { isReadOnly } from '../../../../adapters/files/errors.ts'
import { counted } from '../../../../lib/base/counted.ts'
import { type Credentials, keyRing } from '../../../../lib/outbox/encryption.ts'
import type { EndpointUpsert, OutboxRecord } from '../../../../lib/outbox/record.ts'
import { damageText, type Positions } from '../../../../lib/outbox/source.ts'
import type { RunningRelay } from '../../../../lib/relay/relay-admin.ts'
import type { EncryptionFlags } from '../../../encryption-keys.ts'
import { jsonLines } from '../../../json.ts'
import { unusablePort } from '../../../loopback.ts'
import { encryptionKeysOf } from '../../../read-encryption-keys.ts'
import { tracingFor } from '../../../telemetry.ts'
import { NoRelayYet, UsageError } from '../../../usage.ts'
import { systemClock } from '../../clock.ts'
import { openSource, relayHome } from '../../ingest/outbox-address.ts'
import { foreignDirectory, missingOutbox, readOnlyText } from '../../ingest/outbox-presence.ts'
import { openOperatorStore } from '../../open-store.ts'
import { wayTo } from '../../send/connections.ts'
import { problemOf } from '../../send/credentials.ts'
import { beyondLimits, checkUrl } from '../../send/guard.ts'
import { readTlsFiles, type TlsNames, tlsProblem } from '../../send/tls-files.ts'
import type { Settings } from '../../settings.ts'
import type { OperatorStore } from '../../store/operator/operator-store.ts'
import { outboxOf, readSettings, type SettingFlags } from '../settings/read-settings.ts'
import { ruleRemedy } from '../settings/rule-remedy.ts'
import { notedSettings } from '../settings/settings-note.ts'

export interface CheckFlags extends SettingFlags {
  readonly outbox?: string
  readonly json?: boolean
  /** The variables of the environment that gave flags. */
  readonly variables?: Readonly<Record<string, string>>
}

export interface Checked {
  readonly ok: boolean
  readonly text: string
}

/** The relevant part of an endpoint: as in the relay's store, or as the outbox will make it. */
interface Registered {
  readonly network_id: string
  readonly id: string
  readonly url: string
  readonly allow_addresses: readonly string[] | null
  readonly tls: TlsNames
  readonly credentials: Credentials
}

interface Findings {
  readonly endpoints: Map<string, Registered>
  readonly problems: string[]
  waiting_commits: number
  relays: readonly RunningRelay[]
  /** The settings of the relay that runs, if they are known. */
  inForce: Settings | undefined
  /** Endpoints whose keys that relay cannot decrypt, as sentences. */
  unreadable: readonly string[]
  /** Whether a relay has ever run here. */
  fresh: boolean
}

const pieceBytes = 4 * 1024 * 1024

/**
 * Reads the settings, the store and the outbox, and reports every problem. A relay that runs is judged by its own settings.
 * @throws UsageError for settings that cannot be used, StorageError for an outbox or a store that cannot be read
 */
export async function check(flags: CheckFlags): Promise<Checked> {
  const outbox = outboxOf(flags.outbox)
  const settings = await readSettings(flags)
  await tracingFor(settings.telemetry)
  const port = settings.controlPort
  const found: Findings = {
    endpoints: new Map(),
    problems: [],
    waiting_commits: 0,
    relays: [],
    inForce: undefined,
    unreadable: [],
    fresh: true,
  }

  const missing = await missingOutbox(outbox)
  const variable = flags.variables?.['outbox']
  if (missing) found.problems.push(variable === undefined ? missing.text : `${missing.text} (set by ${variable})`)
  else {
    await lookIntoOutbox(outbox, await lookIntoStore(outbox, found), found)
    // What a relay has ingested came out of an outbox.
    const foreign = found.endpoints.size + found.waiting_commits === 0 ? foreignDirectory(outbox) : undefined
    if (foreign !== undefined) found.problems.push(foreign)
    found.problems.push(...homeProblems(relayHome(outbox)), ...urlProblems(found, found.inForce ?? settings))
    found.problems.push(...(found.inForce ? found.unreadable : await credentialProblems(found, { ...flags, ...settings })))
    if (!found.inForce) found.problems.push(...tlsProblems(found, settings))
  }
  // The port of a relay that runs here may well be this one.
  if (port !== undefined && found.relays.length === 0) found.problems.push(...(await portProblems(port)))
  return report(found, flags.json === true)
}

/** Gives how far the outbox has been ingested. */
async function lookIntoStore(outbox: string, found: Findings): Promise<Positions> {
  let store: OperatorStore
  try {
    store = await openOperatorStore(outbox, true)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    if (!(error instanceof NoRelayYet)) found.problems.push(`store: ${error.message}`)
    return {}
  }
  try {
    found.fresh = false
    found.relays = await store.relays()
    found.inForce = notedSettings(outbox, found.relays)
    found.unreadable = (await store.endpoints()).flatMap(({ unreadable }) => unreadable ?? [])
    found.problems.push(...(await store.problems()).map((problem) => `store: ${problem}`))
    for (const endpoint of await store.knownEndpoints()) register(found, endpoint)
    return await store.positions()
  } finally {
    await store.close()
  }
}

/** Goes over what waits as a relay would ingest it. */
async function lookIntoOutbox(outbox: string, ingested: Positions, found: Findings): Promise<void> {
  const source = await openSource(outbox, true)
  let positions = ingested
  try {
    for (let more = true; more; ) {
      const reading = await source.read(positions, pieceBytes)
      found.waiting_commits += reading.commits.length
      for (const record of reading.commits.flat()) foresee(found, record)
      positions = { ...positions, ...reading.positions }
      found.problems.push(...reading.damage.map((each) => `outbox: ${damageText(each)}`))
      more = reading.more
    }
  } finally {
    await source.close()
  }
}

const keyOf = ({ network_id, id }: Pick<Registered, 'network_id' | 'id'>): string => `${network_id}/${id}`

type Registering = Credentials & Pick<EndpointUpsert, 'url' | 'allow_addresses' | 'client_identity' | 'ca'>

function register({ endpoints }: Findings, given: Registering): void {
  const { url, allow_addresses = null, client_identity = null, ca = null, ...credentials } = given
  const { network_id, id } = credentials
  endpoints.set(keyOf(credentials), { network_id, id, url, allow_addresses, tls: { client_identity, ca }, credentials })
}

/** The effect of a waiting record. */
function foresee(found: Findings, record: OutboxRecord): void {
  if (record.kind !== 'endpoint') return
  if (record.action === 'upsert') register(found, record)
  else found.endpoints.delete(keyOf(record))
}

function urlProblems({ endpoints }: Findings, settings: Settings): readonly string[] {
  return [...endpoints.values()].flatMap(({ network_id, id, url, allow_addresses }) => {
    const checked = checkUrl(url, settings)
    const problem = checked.ok ? beyondLimits(url, wayTo({ allow_addresses }, checked.origin, settings).limits) : checked.reason
    if (problem === undefined) return []
    const said = [problem, ruleRemedy(problem)].filter((part) => part !== '').join('; ')
    return [`endpoint ${id} of network ${network_id}: ${said}`]
  })
}

/** Endpoints whose client identity or authority a relay with these settings does not have. */
function tlsProblems({ endpoints }: Findings, settings: Settings): readonly string[] {
  const files = readTlsFiles(settings.clientIdentities)
  return [...endpoints.values()].flatMap(({ network_id, id, url, tls }) => {
    const problem = tlsProblem({ url, ...tls }, files, systemClock.now())
    return problem === undefined ? [] : [`endpoint ${id} of network ${network_id}: ${problem}`]
  })
}

/** Endpoints whose tokens and secrets a relay with these settings could not decrypt. */
async function credentialProblems({ endpoints }: Findings, flags: EncryptionFlags): Promise<readonly string[]> {
  const ring = keyRing(encryptionKeysOf(flags))
  const problems = [...endpoints.values()].map(({ credentials }) =>
    ring.open(credentials).then(
      () => [],
      (error: unknown) => [problemOf(error)],
    ),
  )
  return (await Promise.all(problems)).flat()
}

/** Bytes that a disk must have left: a relay that starts writes some pages immediately. */
const leastLeft = 1024 * 1024

function homeProblems(home: string): readonly string[] {
  let nearest = home
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest)
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK)
    openForChanges(join(home, 'relay.lock'))
    openForChanges(join(home, 'control.token'))
    return bytesLeft(nearest) < leastLeft
      ? [`the disk of ${home} is full, or nearly: make space, at least ${leastLeft / 1024} KiB`]
      : []
  } catch (error) {
    return isReadOnly(error)
      ? [readOnlyText(`the relay's own files in ${home}`)]
      : [`the relay's own files cannot be written to ${home}: run this as the user of the API server`]
  }
}

/** Some kernels refuse changes after a fault of the disk, and claim that a file may be written. Nothing is written here. */
function openForChanges(path: string): void {
  if (existsSync(path)) closeSync(openSync(path, 'r+'))
}

async function portProblems(port: number): Promise<readonly string[]> {
  const server = createServer()
  const error = await new Promise<Error | undefined>((done) => {
    server.once('error', done)
    server.listen(port, '127.0.0.1', () => done(undefined))
  })
  await new Promise<void>((done) => server.close(() => done()))
  return error ? [unusablePort('--control-port', port, error)] : []
}

function report({ endpoints, waiting_commits, problems, relays, inForce, fresh }: Findings, json: boolean): Checked {
  const ok = problems.length === 0
  const summary = { ok, running: relays.length > 0, endpoints: endpoints.size, waiting_commits, problems }
  if (json) return { ok, text: jsonLines([summary]) }
  const judged = inForce
    ? 'and its settings count, not the flags of this command'
    : 'whose settings are not known here: the flags of this command count'
  const running = relays.map(({ host, pid }) => `a relay is running (process ${pid} on ${host}), ${judged}`)
  const lines = [
    ...(relays.length > 0 ? running : [fresh ? 'no relay has run on this outbox yet' : 'no relay is running']),
    `${counted(endpoints.size, 'endpoint')}, ${counted(waiting_commits, 'commit')} ${waiting_commits === 1 ? 'waits' : 'wait'} in the outbox`,
    ...problems.map((problem) => `problem: ${problem}`),
    ...(ok ? ['all is well'] : []),
  ]
  return { ok, text: `${lines.join('\n')}\n` }
}
