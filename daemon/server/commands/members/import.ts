/** `folkmoot members import`: a file of members, a hundred rows a call, with progress. What was refused is listed in a file. */

import { createReadStream, existsSync } from 'node:fs'
import { appendFile, rm, writeFile } from 'node:fs/promises'
import { errorCode } from '../../../../adapters/files/errors.ts'
import { counted } from '../../../../lib/base/counted.ts'
import { readTable, type TableFormat, writeCsv } from '../../../../lib/csv/table.ts'
import { importColumns } from '../../../../lib/host/members/import.ts'
import type { ImportCounts, ImportOptions, ImportRefusal, ImportReport, ImportRow } from '../../../../lib/index.ts'
import type { Output } from '../../../output.ts'
import { CommandFailure, UsageError } from '../../../usage.ts'
import { Previewed } from '../../control/calls.ts'
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

/** Rows of a call and their bytes, which a running server gets as one message; and the rows that a preview looks at. */
const [chunk, chunkBytes, previewed] = [100, 500_000, 2000]
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
    await requireTargets(renamed, (page) => operator.call('custom_fields.list', { network: id, query: { page, per_page: 100 } }))
    const isNew = !existsSync(list)
    // Before anything is imported.
    if (!flags.preview) await inList(list, appendFile(list, '', { mode: 0o600 }))
    let sum: ImportReport | undefined
    let notes = 0
    const rowsOfFile = readTable(bytesOf(file), format)
    try {
      for await (const { rows, more } of chunksOf(rowsOfFile, format, renamed, flags.preview ? previewed : chunk)) {
        const before = sum ? { before: countsOf(sum) } : {}
        const report: ImportReport = await inOptions(operator.members.import(id, rows, { ...options, ...before, more }))
        sum = { ...report, ignored: [...new Set([...(sum?.ignored ?? []), ...report.ignored])] }
        await listRefused(list, report.refusals, notes === 0)
        notes += report.refusals.length
        draw?.(`${sum.rows.toLocaleString('en-GB')} rows, ${sum.created.toLocaleString('en-GB')} created, ${sum.refused} refused`)
      }
    } catch (error) {
      if (sum && !(error instanceof Previewed))
        out.warn(
          `The import stopped after ${counted(sum.rows, 'row')}: ${counted(sum.created, 'member')} created, ${sum.updated} updated, ${sum.refused} refused. Import the file again once it is mended; members who are there are left alone.`,
        )
      throw error
    } finally {
      if (isNew && notes === 0) await rm(list, { force: true })
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

/** @throws UsageError for a column that is to be no field of a member */
async function requireTargets(
  renamed: ReadonlyMap<string, string>,
  read: (
    page: number,
  ) => Promise<{ readonly items: readonly { readonly id: string; readonly title: string; readonly response_type: string }[] }>,
): Promise<void> {
  const known = new Set(['', ...importColumns])
  const wrong = () => [...renamed.values()].find((target) => !known.has(keyOf(target)))
  for (let page = 1, more = true; more && wrong() !== undefined; page++) {
    const { items } = await read(page)
    for (const { id, title, response_type } of items)
      if (!/^(?:tag|badge)$/.test(response_type)) known.add(keyOf(title)).add(keyOf(`${title.trim()} (${id})`))
    more = items.length === 100
  }
  const target = wrong()
  if (target !== undefined)
    throw new UsageError(`--map: there is no field ${JSON.stringify(target)}; there are ${[...known].slice(1).join(', ')}`)
}

const keyOf = (name: string): string => name.trim().toLowerCase()

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
  let bytes = 0
  for await (const row of rows) {
    if (isFirst) {
      const missing = [...renamed.keys()].find((column) => !(column in row))
      if (missing !== undefined)
        throw new UsageError(`--map: the file has no column ${JSON.stringify(missing)}; it has ${Object.keys(row).join(', ')}`)
      const names = Object.keys(row)
      const keys = names.map((name) => keyOf(renamed.get(name) ?? name))
      const twice = keys.find((key, index) => key !== '' && keys.indexOf(key) !== index)
      if (twice !== undefined)
        throw new UsageError(
          `two columns are ${twice}: leave one of them out, such as with --map ${JSON.stringify(`${names[keys.indexOf(twice)]}=`)}`,
        )
      // Otherwise each row would be refused by itself.
      if (format === 'csv' && !keys.includes('email'))
        throw new UsageError(
          `the file has no column email; it has ${names.join(', ')}: say which one it is, such as --map ${JSON.stringify(`${names[0]}=email`)}`,
        )
      isFirst = false
    }
    const mapped = Object.entries(row).map(([name, value]) => [renamed.get(name) ?? name, value] as const)
    const read = Object.fromEntries(mapped.filter(([name]) => name !== ''))
    const own = Buffer.byteLength(JSON.stringify(read))
    bytes += own
    if (some.length > 0 && (some.length === size || bytes > chunkBytes)) {
      yield { rows: some, more: true }
      some = []
      bytes = own
    }
    some.push(read)
  }
  if (some.length > 0) yield { rows: some, more: false }
}

const countsOf = ({ rows, created, updated, known, refused }: ImportCounts) => ({ rows, created, updated, known, refused })

/** Refused rows have addresses, so the list is for its owner alone. */
async function listRefused(file: string, refusals: readonly ImportRefusal[], isFirst: boolean): Promise<void> {
  if (refusals.length === 0) return
  const text = writeCsv(columns, refusals as readonly (ImportRefusal & Readonly<Record<string, unknown>>)[], isFirst)
  await inList(file, (isFirst ? writeFile : appendFile)(file, text, { mode: 0o600 }))
}

/** @throws CommandFailure when the list of refused rows cannot be written */
const inList = (file: string, work: Promise<void>): Promise<void> =>
  work.catch((error: unknown) => {
    throw new CommandFailure(`${file} can't be written (${errorCode(error)}): name another place with --refused`, {
      cause: error,
    })
  })
