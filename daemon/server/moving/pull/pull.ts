/** `folkmoot pull`: a network of any server of this API, into a storage. */
import { systemChance } from '../../../../lib/base/chance.ts'
import { counted } from '../../../../lib/base/counted.ts'
import { isDay } from '../../../../lib/base/date-time.ts'
import { isClientError } from '../../../../lib/client/index.ts'
import { type WorkParts, withLines } from '../../../../lib/host/audit/audited-work.ts'
import { createCommunity } from '../../../../lib/index.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import { jsonLine } from '../../../json.ts'
import { table } from '../../../table.ts'
import { CommandFailure, UsageError } from '../../../usage.ts'
import { commandActor } from '../../../user.ts'
import { progressLine } from '../../commands/progress-line.ts'
import { tokenOf } from '../../credentials/secrets.ts'
import { openStorage } from '../../storage/open.ts'
import { endOfRun, fromServer } from '../from-server.ts'
import { namedGroups } from '../groups.ts'
import { pacedClient } from '../paced-client.ts'
import { type MovingHost, type Progress, showStage, showWaits } from '../progress.ts'
import { type PulledList, type PullReport, pullNetwork } from './pull-network.ts'
import { groups } from './stages/all.ts'

export interface PullFlags {
  readonly from: string
  readonly network: string
  readonly token?: string
  readonly tokenFile?: string
  readonly to: string
  readonly outbox?: string
  readonly only?: string
  readonly since?: string
  readonly json?: boolean
}

/**
 * Pulls a network, and reports what came.
 * @throws UsageError, StorageError
 */
export async function pull(flags: PullFlags, host: MovingHost): Promise<void> {
  const { out } = host
  const { from, network, to, outbox, json = false } = flags
  if (to.startsWith('memory:')) throw new UsageError('--to memory: would end with this command: give a storage that stays')
  const only = namedGroups(flags.only, groups)
  const since = timeOf(flags.since)
  const source = fromServer('--from', from, network, tokenOf('--token', flags.token, flags.tokenFile))
  const line = progressLine(host)
  const paced = pacedClient(source.options, showWaits(line, 'the server'))
  const { storage } = await openStorage(to, outbox, out.warn, 'create', '--to')
  try {
    const warn = (sentence: string): void => {
      line.clear()
      out.warn(sentence)
    }
    const onProgress = (now: Progress): void => showStage(line, now)
    const audited = (network: string, run: () => Promise<PullReport>) => {
      const details = { from: source.name, only: flags.only ?? null, since: since ?? null }
      const work = { network, action: 'network.pulled', subject: { type: 'network', id: network }, details } as const
      return withLines([work], { ...linesIn(storage), run, done: changesOf })
    }
    const report = await pullNetwork({ source: paced, from: source.name, storage, only, since, onProgress, warn, audited })
    line.clear()
    out.line(json ? jsonLine(report) : written(report, out.width))
    if (report.lists.some(({ unread }) => unread !== null)) host.failed()
  } catch (error) {
    line.clear()
    if (!isClientError(error)) throw error
    throw new CommandFailure(endOfRun(error, '--from', 'What came so far is in the target'))
  } finally {
    await storage.close()
  }
}

function changesOf({ lists }: PullReport) {
  const sum = (name: 'added' | 'changed' | 'removed') => lists.reduce((all, list) => all + list[name], 0)
  return { added: sum('added'), changed: sum('changed'), removed: sum('removed') }
}

function timeOf(since: string | undefined): string | undefined {
  if (since === undefined) return undefined
  const time = Date.parse(since)
  if (!isDay(since.slice(0, 10)) || Number.isNaN(time))
    throw new UsageError(`--since must be a time in ISO 8601 that exists, such as 2026-11-20, got ${JSON.stringify(since)}`)
  return new Date(time).toISOString()
}

const status = ({ unread, left }: PulledList): string => {
  if (unread === 'refused') return 'not read: the token lacks a scope'
  if (unread === 'missing') return 'not read: the server has no such list'
  return left === 0 ? '' : `${left} left out: what they refer to is missing`
}

function written(report: PullReport, width: number | undefined): string {
  const rows = table(
    [
      { title: 'list', cell: ({ list }) => list, fits: 'whole' },
      { title: 'read', cell: ({ read }) => read, fits: 'whole' },
      { title: 'added', cell: ({ added }) => added, fits: 'whole' },
      { title: 'changed', cell: ({ changed }) => changed, fits: 'whole' },
      { title: 'removed', cell: ({ removed }) => removed, fits: 'whole' },
      { title: 'note', cell: status, fits: 'wrap' },
    ],
    report.lists,
    { empty: 'Nothing was requested.', now: Date.now(), width },
  )
  const { network, addresses, requests, waited_seconds } = report
  const waited = waited_seconds > 0 ? `, ${waited_seconds} s of it waiting for the rate limit` : ''
  return [
    rows,
    `Network ${network.subdomain} has the id ${network.id} here, too. ${counted(requests, 'request')}${waited}.`,
    ...(addresses === 'shown' ? [] : [`The server shows members' e-mail addresses ${addresses}: the copy has none of those.`]),
    'The API does not give these columns, which have their defaults in the copy:',
    ...report.not_given.map(({ table: name, columns }) => columnsOfTable(name, columns === 'all' ? ['all of it'] : columns)),
    'Make a key with `folkmoot keys create` before you serve it.',
  ].join('\n')
}

/** The way of lines into the audit of the storage, in the name of the user of the command. */
function linesIn(storage: Storage): Pick<WorkParts<unknown>, 'record' | 'chance'> {
  const { audit } = createCommunity({ storage }).by({ actor: commandActor() })
  return { record: (entry) => audit.record(entry), chance: systemChance }
}

/** A table with something about its columns, in lines of at most 100 characters. */
function columnsOfTable(name: string, columns: readonly string[]): string {
  const lines = [`  ${name}:`]
  for (const [index, column] of columns.entries()) {
    const word = index === columns.length - 1 ? column : `${column},`
    const longer = `${lines.at(-1)} ${word}`
    if (longer.length > 100) lines.push(`    ${word}`)
    else lines[lines.length - 1] = longer
  }
  return lines.join('\n')
}
