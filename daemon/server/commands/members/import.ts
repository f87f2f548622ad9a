/** `folkmoot members import`: a file of members, some hundred rows a call, with progress. What was refused is listed in a file. */

import { createReadStream } from 'node:fs'
import { appendFile, writeFile } from 'node:fs/promises'
import { counted } from '../../../../lib/base/counted.ts'
import { readTable, type TableFormat, writeCsv } from '../../../../lib/csv/table.ts'
import type { ImportCounts, ImportOptions, ImportRefusal, ImportReport, ImportRow } from '../../../../lib/index.ts'
import type { Output } from '../../../output.ts'
import { CommandFailure, UsageError } from '../../../usage.ts'
import { inOptions } from '../in-options.ts'
import { type NetworkFlags, withNetworkChanges } from '../operator.ts'
import { showOne } from '../show.ts'

interface ImportFlags extends NetworkFlags {
  readonly map: readonly string[]
  readonly name?: string
  readonly plan: readonly string[]
  readonly space: readonly string[]
  readonly tag: readonly string[]
  readonly update?: boolean
  readonly quiet?: boolean
  readonly welcome?: boolean
  readonly refused?: string
}

/** Rows of a call, which a running server gets as one message; and those that a preview looks at. */
const [chunk, previewed] = [500, 2000]
const columns = ['row', 'email', 'column', 'reason', 'is_imported'] as const

export async function importMembers(file: string, flags: ImportFlags, out: Output, draw?: (line: string) => void): Promise<void> {
  const renamed = mapOf(flags.map)
  const format: TableFormat = /\.(?:ndjson|jsonl)$/i.test(file) ? 'ndjson' : 'csv'
  const list = flags.refused ?? `${file === '-' ? 'import' : file}.refused.csv`
  const { update, quiet, welcome } = flags
  const options: ImportOptions = {
    name: flags.name ?? `Import ${new Date().toISOString().slice(0, 16).replace('T', ' ')}`,
    ...{ plan_ids: flags.plan, space_ids: flags.space, tags: flags.tag },
    ...{ update: update === true, quiet: quiet === true, welcome: welcome === true },
  }
  await withNetworkChanges(flags, out, async (operator, { id, subdomain }) => {
    let sum: ImportReport | undefined
    let notes = 0
    for await (const { rows, more } of chunksOf(
      readTable(bytesOf(file), format),
      format,
      renamed,
      flags.preview ? previewed : chunk,
    )) {
      const before = sum ? { before: countsOf(sum) } : {}
      const report: ImportReport = await inOptions(operator.members.import(id, rows, { ...options, ...before, more }))
      sum = { ...report, ignored: [...new Set([...(sum?.ignored ?? []), ...report.ignored])] }
      await listRefused(list, report.refusals, notes === 0)
      notes += report.refusals.length
      draw?.(`${sum.rows.toLocaleString('en-GB')} rows, ${sum.created.toLocaleString('en-GB')} created, ${sum.refused} refused`)
    }
    draw?.('')
    if (!sum) throw new UsageError(`${file} has no row`)
    const { refusals: _, ...report } = sum
    const found = { ...report, ...(notes > 0 ? { refused_file: list } : {}) }
    const sentences = [
      `${counted(report.created, 'member')} of ${subdomain} created, ${report.updated} updated, ${counted(report.known, 'was', 'were')} there, ${counted(report.refused, 'row')} refused.`,
      ...(report.created > 0 ? [`They carry the tag ${JSON.stringify(report.name)}.`] : []),
      ...(report.ignored.length > 0 ? [`Columns that are no field, left out: ${report.ignored.join(', ')}.`] : []),
      ...(notes > 0 ? [`${list} names each refused row and value, with the reason.`] : []),
    ]
    showOne(out, flags, found, sentences.join('\n'))
  })
}

/** `Mail=email`, by column. @throws UsageError */
function mapOf(pairs: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    pairs.map((pair) => {
      const at = pair.lastIndexOf('=')
      if (at < 1) throw new UsageError(`--map must be column=field, got ${JSON.stringify(pair.slice(0, 100))}`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}

/** The bytes of the file. @throws CommandFailure when it cannot be read */
async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* file === '-' ? createReadStream('', { fd: 0 }) : createReadStream(file)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    throw new CommandFailure(`${file} can't be read${code === 'ENOENT' ? ': there is no such file' : ` (${code})`}`, {
      cause: error,
    })
  }
}

async function* chunksOf(
  rows: AsyncIterable<ImportRow>,
  format: TableFormat,
  renamed: ReadonlyMap<string, string>,
  size: number,
): AsyncGenerator<{ readonly rows: readonly ImportRow[]; readonly more: boolean }> {
  let some: ImportRow[] = []
  let isFirst = true
  for await (const row of rows) {
    if (isFirst) {
      const missing = [...renamed.keys()].find((column) => !(column in row))
      if (missing !== undefined)
        throw new UsageError(`--map: the file has no column ${JSON.stringify(missing)}; it has ${Object.keys(row).join(', ')}`)
      const names = Object.keys(row)
      // Otherwise each row would be refused by itself.
      if (format === 'csv' && !names.some((name) => (renamed.get(name) ?? name).trim().toLowerCase() === 'email'))
        throw new UsageError(
          `the file has no column email; it has ${names.join(', ')}: say which one it is, such as --map ${JSON.stringify(`${names[0]}=email`)}`,
        )
      isFirst = false
    }
    if (some.length === size) {
      yield { rows: some, more: true }
      some = []
    }
    some.push(
      renamed.size === 0
        ? row
        : Object.fromEntries(Object.entries(row).map(([name, value]) => [renamed.get(name) ?? name, value])),
    )
  }
  if (some.length > 0) yield { rows: some, more: false }
}

const countsOf = ({ rows, created, updated, known, refused }: ImportCounts) => ({ rows, created, updated, known, refused })

/** Refused rows have addresses, so the list is for its owner alone. */
async function listRefused(file: string, refusals: readonly ImportRefusal[], isFirst: boolean): Promise<void> {
  if (refusals.length === 0) return
  const text = writeCsv(columns, refusals as readonly (ImportRefusal & Readonly<Record<string, unknown>>)[], isFirst)
  await (isFirst ? writeFile : appendFile)(file, text, { mode: 0o600 })
}
