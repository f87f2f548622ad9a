/** `folkmoot diff`: whether two servers respond identically. */
import { counted } from '../../../../lib/base/counted.ts'
import { isClientError } from '../../../../lib/client/index.ts'
import { jsonLines } from '../../../json.ts'
import type { Output } from '../../../output.ts'
import { table } from '../../../table.ts'
import { UsageError } from '../../../usage.ts'
import { progressLine } from '../../commands/progress-line.ts'
import { tokenOf } from '../../credentials/secrets.ts'
import { fromServer, isTooLarge, sentenceOf } from '../from-server.ts'
import { type MovingHost, showWaits } from '../progress.ts'
import { type Comparison, compareServers } from './compare-servers.ts'
import { sideOf } from './compared-server.ts'
import type { Difference } from './differences.ts'

export interface DiffFlags {
  readonly a: string
  readonly aToken?: string
  readonly aTokenFile?: string
  readonly b: string
  readonly bToken?: string
  readonly bTokenFile?: string
  readonly network: string
  readonly bNetwork?: string
  readonly sample: number
  readonly all?: boolean
  readonly ignore: readonly string[]
  readonly json?: boolean
  readonly wide?: boolean
}

/**
 * Compares two servers, and shows the differences.
 * @throws UsageError
 */
export async function diff(flags: DiffFlags, host: MovingHost): Promise<void> {
  const { out } = host
  const { network, bNetwork = network, json = false } = flags
  if ([flags.aToken, flags.aTokenFile, flags.bToken, flags.bTokenFile].filter((from) => from === '-').length > 1)
    throw new UsageError('only one of the two tokens can come from standard input')
  const a = fromServer('--a', flags.a, network, tokenOf('--a-token', flags.aToken, flags.aTokenFile))
  const b = fromServer('--b', flags.b, bNetwork, tokenOf('--b-token', flags.bToken, flags.bTokenFile))
  const line = progressLine(host)
  try {
    const comparison = await compareServers({
      a: sideOf(a, showWaits(line, 'server a')),
      b: sideOf(b, showWaits(line, 'server b')),
      sample: flags.all ? Number.POSITIVE_INFINITY : flags.sample,
      ignore: flags.ignore,
      onProgress: (operation, responses) => line.show(operation, `${operation}: ${responses} responses compared`),
    })
    line.clear()
    if (comparison.responses === 0)
      throw new UsageError('nothing was compared: the tokens of both servers lack the scopes. *:read has them all')
    report(comparison, flags, out, json)
    if (comparison.total > 0) host.failed()
  } catch (error) {
    line.clear()
    if (!isClientError(error)) throw error
    const remedy = isTooLarge(error) ? '. Leave its list out with --ignore and the path of the list, such as /posts' : ''
    throw new UsageError(sentenceOf(error, '--a or --b') + remedy)
  }
}

/** Rows of the table; JSON has all of them. */
const maxRows = 200

const cellOf = (value: unknown): string => (value === undefined ? '(missing)' : JSON.stringify(value))

function report({ differences, total, responses, refused }: Comparison, { wide }: DiffFlags, out: Output, json: boolean): void {
  const sentence = `${total === 0 ? 'No difference' : counted(total, 'difference')} in ${counted(responses, 'response')}.`
  if (refused > 0)
    out.warn(
      `${counted(refused, 'request was', 'requests were')} not compared: the tokens of both servers lack a scope for them. *:read has them all.`,
    )
  if (json) {
    const lines = jsonLines(
      differences.map(({ path, field, a, b }) => ({ path, field, a: a ?? null, b: b ?? null, ...missingIn(a, b) })),
    )
    if (lines !== '') out.line(lines.trimEnd())
    out.warn(sentence)
    return
  }
  if (total > 0)
    out.line(
      table<Difference>(
        [
          { title: 'path', cell: ({ path }) => path, least: 24 },
          { title: 'field', cell: ({ field }) => field, least: 20 },
          { title: 'a', cell: ({ a }) => cellOf(a) },
          { title: 'b', cell: ({ b }) => cellOf(b) },
        ],
        differences.slice(0, wide ? maxKeptRows : maxRows),
        { empty: '', now: Date.now(), wide, width: out.width },
      ).trimEnd(),
    )
  if (!wide && differences.length > maxRows) out.line(`… and ${total - maxRows} more: --wide or --json shows them`)
  out.line(sentence)
}

const maxKeptRows = 10_000

/** Null and missing are not the same. */
const missingIn = (a: unknown, b: unknown): { missing?: 'a' | 'b' } =>
  a === undefined ? { missing: 'a' } : b === undefined ? { missing: 'b' } : {}
