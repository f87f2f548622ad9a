/** `folkmoot push`: a network of a storage, to any server of this API. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { isClientError } from '../../../../lib/client/index.ts'
import { withLines } from '../../../../lib/host/audit/audited-work.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import { type NetworkRow, networks } from '../../../../lib/storage/tables/administration.ts'
import { jsonLine } from '../../../json.ts'
import { CommandFailure, UsageError } from '../../../usage.ts'
import { progressLine } from '../../commands/progress-line.ts'
import { tokenOf } from '../../credentials/token.ts'
import { assetsDirectory, fileOfStorage, openStorage } from '../../storage/open.ts'
import { fewRetries, memberOfToken } from '../first-requests.ts'
import { endOfRun, fromServer, type Server } from '../from-server.ts'
import { type Given, isGiven, textOf } from '../given.ts'
import { namedGroups } from '../groups.ts'
import { linesIn } from '../lines.ts'
import { type Paced, pacedClient } from '../paced-client.ts'
import { type MovingHost, type Progress, showStage, showWaits } from '../progress.ts'
import { type Journal, memoryJournal, openJournal } from './journal.ts'
import { type PushReport, pushNetwork } from './push-network.ts'
import { written } from './report.ts'
import { groups } from './stages/all.ts'

export interface PushFlags {
  readonly from: string
  readonly outbox?: string
  readonly network: string
  readonly to: string
  readonly toNetwork?: string
  readonly token?: string
  readonly tokenFile?: string
  readonly only?: string
  readonly state?: string
  readonly assets?: string
  readonly dryRun?: boolean | string
  readonly json?: boolean
}

/**
 * Pushes a network, and reports what went.
 * @throws UsageError, StorageError
 */
export async function push(flags: PushFlags, host: MovingHost): Promise<void> {
  const { out } = host
  const { from, to, network: name, toNetwork = name, json = false } = flags
  if (from.startsWith('memory:')) throw new UsageError('--from memory: begins empty: there is nothing to push')
  const isDry = isDryRun(flags.dryRun)
  const only = namedGroups(flags.only, groups)
  const server = fromServer('--to', to, toNetwork, tokenOf('--token', flags.token, flags.tokenFile))
  const line = progressLine(host)
  const target = pacedClient(server.options, showWaits(line, 'the server'))
  const { storage } = await openStorage(from, flags.outbox, out.warn, 'refuse', '--from')
  try {
    const network = await networkIn(storage, name)
    const there = await begin(target, server)
    const state = flags.state ?? stateFile(from, there.name)
    const journal = await journalOf(state, `network ${network.id} (${network.subdomain})`, there.name, isDry)
    try {
      const tell = (now: Progress) => showStage(line, now)
      const assets = assetsDirectory(from, flags.assets)
      const run = () => pushNetwork({ storage, network, target, journal, me: there.me, only, isDry, assets, tell })
      const details = { to: there.name, only: flags.only ?? null }
      const subject = { type: 'network', id: network.id, name: network.title } as const
      const work = { network: network.id, action: 'network.pushed', subject, details } as const
      const report = isDry ? await run() : await withLines([work], { ...linesIn(storage), run, done: changesOf })
      line.clear()
      const whole = { network: { id: network.id, subdomain: network.subdomain, id_there: there.id }, state, ...report }
      out.line(json ? jsonLine(whole) : written(whole, out.width))
      const isWhole = report.lists.every(({ unsent }) => unsent === null) && report.left.every(({ refused }) => !refused)
      if (!isWhole && !isDry) host.failed()
    } finally {
      await journal.close()
    }
  } catch (error) {
    line.clear()
    if (!isClientError(error)) throw error
    throw new CommandFailure(endOfRun(error, '--to', 'What went so far is noted'))
  } finally {
    await storage.close()
  }
}

/** The sum of all lists. */
const changesOf = ({ lists }: PushReport) => ({ sent: lists.reduce((all, { sent }) => all + sent, 0) })

/** `--dry-run`, or `--dry-run yes`. */
function isDryRun(given: boolean | string | undefined): boolean {
  if (given === undefined || given === 'no') return false
  if (given === true || given === 'yes') return true
  throw new UsageError(`--dry-run must be yes or no, got ${JSON.stringify(given)}`)
}

async function networkIn(storage: Storage, name: string): Promise<NetworkRow> {
  const all = await storage.transaction((tx) => tx.find(networks, {}), { readOnly: true })
  const network = all.find(({ id, subdomain }) => id === name || subdomain === name)
  if (network) return network
  const names = all.slice(0, 20).map(({ subdomain }) => subdomain)
  throw new CommandFailure(`--network: the storage has no network ${name}. It has ${names.join(', ') || 'none'}`)
}

/** The network of the server, and whose token it is. @throws ClientError, UsageError */
async function begin(target: Paced, { base, name }: Server): Promise<{ id: string; name: string; me: Given }> {
  const record: unknown = await target.run(() => target.client.network.show(fewRetries))
  const id = isGiven(record) ? textOf(record['id']) : ''
  if (id === '') throw new UsageError(`${name} shows no network: is --to the address of its API?`)
  return { id, name: `${base} network ${id}`, me: (await memberOfToken(target)) ?? {} }
}

/** Next to the file of the storage, or where the command runs; each server has its own. */
function stateFile(from: string, there: string): string {
  const name = createHash('sha256').update(there).digest('hex').slice(0, 8)
  const file = fileOfStorage(from)
  return file === undefined ? resolve(`folkmoot-push-${name}.jsonl`) : `${file}.push-${name}.jsonl`
}

async function journalOf(path: string, from: string, to: string, isDry: boolean): Promise<Journal> {
  if (!isDry) return openJournal(path, from, to)
  if (!existsSync(path)) return memoryJournal()
  const journal = await openJournal(path, from, to)
  await journal.close()
  return memoryJournal(journal)
}
