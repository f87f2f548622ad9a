/** `folkmoot pull`: a network of any server of this API, into a storage. */
import { isClientError } from '../../../../lib/client/index.ts'
import type { Group } from '../../../../lib/operation.ts'
import type { Output } from '../../../output.ts'
import { table } from '../../../table.ts'
import { UsageError } from '../../../usage.ts'
import { openStorage } from '../../storage/open.ts'
import { tokenOf } from '../../token.ts'
import { fromServer } from '../from-server.ts'
import { pacedClient } from '../paced-client.ts'
import { byStage, lineOf } from '../progress.ts'
import type { NotGiven } from './not-given.ts'
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
 * @param draw shows how far it is, over and over in one line; left out where nobody looks
 * @param failed sets the exit code 1
 * @throws UsageError, StorageError
 */
export async function pull(
  flags: PullFlags,
  out: Output,
  draw: ((line: string) => void) | undefined,
  failed: () => void,
): Promise<void> {
  const { from, network, to, outbox, json = false } = flags
  if (to.startsWith('memory:')) throw new UsageError('--to memory: would end with this command: give a storage that stays')
  const only = groupsOf(flags.only)
  const since = timeOf(flags.since)
  const source = fromServer('--from', from, network, tokenOf('--token', flags.token, flags.tokenFile))
  const show = draw ?? byStage(out)
  const paced = pacedClient(
    source.options,
    (ms) => ms > 1000 && show(`waiting ${Math.ceil(ms / 1000)} s for the rate limit of the server`),
  )
  const { storage } = await openStorage(to, outbox, out.warn)
  try {
    const warn = (sentence: string): void => {
      draw?.('')
      out.warn(sentence)
    }
    const tell = (now: Parameters<typeof lineOf>[0]): void => show(lineOf(now))
    const report = await pullNetwork({ source: paced, from: source.name, storage, only, since, tell, warn })
    draw?.('')
    out.line(json ? JSON.stringify(report) : written(report))
    if (report.lists.some(({ unread }) => unread !== null)) failed()
  } catch (error) {
    draw?.('')
    if (!isClientError(error)) throw error
    throw new UsageError(`${error.message}. What came so far is in the target: the same command goes on from there`)
  } finally {
    await storage.close()
  }
}

function groupsOf(only: string | undefined): readonly Group[] | undefined {
  if (only === undefined) return undefined
  const names = only.split(',').map((name) => name.trim())
  return names.map((name) => {
    const group = groups.find((known) => known === name)
    if (!group) throw new UsageError(`--only must name some of ${groups.join(', ')}, got ${JSON.stringify(name)}`)
    return group
  })
}

function timeOf(since: string | undefined): string | undefined {
  if (since === undefined) return undefined
  const time = Date.parse(since)
  if (Number.isNaN(time))
    throw new UsageError(`--since must be a time in ISO 8601, such as 2026-11-20, got ${JSON.stringify(since)}`)
  return new Date(time).toISOString()
}

const status = ({ unread, left }: PulledList): string => {
  if (unread === 'refused') return 'not read: the token lacks a scope'
  if (unread === 'missing') return 'not read: the server has no such list'
  return left === 0 ? '' : `${left} left out: what they refer to is missing`
}

function written(report: PullReport): string {
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
    { empty: 'Nothing was asked for.', now: Date.now() },
  )
  const { network, addresses, requests, waited_seconds } = report
  const waited = waited_seconds > 0 ? `, ${waited_seconds} s of it waiting for the rate limit` : ''
  return [
    rows,
    `Network ${network.subdomain} has the id ${network.id} here, too. ${requests} requests${waited}.`,
    ...(addresses === 'shown' ? [] : [`The server shows members' e-mail addresses ${addresses}: the copy has none of those.`]),
    'The API does not give these columns, which have their defaults in the copy:',
    ...report.not_given.map(lineOfTable),
    'Make a key with `folkmoot keys create` before you serve it.',
  ].join('\n')
}

/** At most 100 characters in a line. */
function lineOfTable({ table: name, columns }: NotGiven): string {
  const lines = [`  ${name}:`]
  for (const word of columns === 'all'
    ? ['all of it']
    : columns.map((column, index) => (index === columns.length - 1 ? column : `${column},`))) {
    const longer = `${lines.at(-1)} ${word}`
    if (longer.length > 100) lines.push(`    ${word}`)
    else lines[lines.length - 1] = longer
  }
  return lines.join('\n')
}
