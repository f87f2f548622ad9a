/** `folkmoot export` and `members export`: records of a network, and everything about one person. */
import { writeCsv } from '../../../lib/csv/table.ts'
import type { ExportPage, ExportQuery } from '../../../lib/index.ts'
import { jsonLines, plainLines } from '../../json.ts'
import type { Output } from '../../output.ts'
import { inOptions, ofRecord } from './in-options.ts'
import { type FilterFlags, filterOf } from './member-filters.ts'
import { type NetworkFlags, networkOf, withOperator } from './operator.ts'
import { showOne } from './show.ts'
import { requireNew, writeTexts } from './to-file.ts'

interface Target {
  /** A file, or `-` for standard output. */
  readonly to: string
}

export interface ExportFlags extends NetworkFlags, FilterFlags, Target {
  readonly what: ExportQuery['what']
  readonly format: 'csv' | 'ndjson'
  readonly fields?: string
  readonly trueAddresses?: boolean
}

type Draw = ((line: string) => void) | undefined
type ReadPage = (after: { readonly after?: string }) => Promise<ExportPage>

/** Reads page by page, writes each, and says how many rows there are. */
async function write(read: ReadPage, format: 'csv' | 'ndjson', { to }: Target, out: Output, draw: Draw): Promise<number> {
  let rows = 0
  async function* texts() {
    let columns: readonly string[] | undefined
    for (let after: string | null | undefined; after !== null; ) {
      const page: ExportPage = await read(after === undefined ? {} : { after })
      if (format === 'csv') yield csvText(columns ?? page.columns, page, columns === undefined, to === '-' ? out : undefined)
      else yield jsonLines(page.rows)
      // A field that is made meanwhile has no column.
      columns ??= page.columns
      rows += page.rows.length
      after = page.next
      draw?.(`${rows.toLocaleString('en-GB')} rows`)
    }
  }
  await writeTexts(texts(), to, out)
  draw?.('')
  return rows
}

/** A terminal gets nothing that it would obey. */
function csvText(columns: readonly string[], { rows }: ExportPage, withHeader: boolean, shownIn: Output | undefined): string {
  const text = writeCsv(columns, rows, withHeader)
  return shownIn === undefined || shownIn.width === Number.POSITIVE_INFINITY ? text : plainLines(text.replaceAll('\r', ''))
}

/** `export`. */
export async function exportRecords(flags: ExportFlags, out: Output, draw: Draw): Promise<void> {
  const { what, format, to, fields, trueAddresses = false } = flags
  requireNew(to)
  await withOperator(flags, out, async (operator) => {
    const { id: network, subdomain } = await networkOf(operator, flags.network)
    const query = {
      ...{ what, filter: filterOf(flags), trueAddresses },
      ...(fields === undefined ? {} : { fields: fields.split(',').map((name) => name.trim()) }),
    }
    const read: ReadPage = (after) => inOptions(operator.exportPage(network, { ...query, ...after }))
    const rows = await write(read, format, flags, out, draw)
    if (to !== '-')
      showOne(out, flags, { network_id: network, what, rows, file: to }, `${rows} ${what} of ${subdomain} are in ${to}.`)
  })
}

/** `members export`. */
export async function exportMember(id: string, flags: NetworkFlags & Target, out: Output, draw: Draw): Promise<void> {
  const { to } = flags
  requireNew(to)
  await withOperator(flags, out, async (operator) => {
    const network = await networkOf(operator, flags.network)
    const read: ReadPage = ({ after }) =>
      ofRecord(network, 'member', id, operator.members.exportPage(network.id, id, after === undefined ? {} : { after }))
    const rows = await write(read, 'ndjson', flags, out, draw)
    if (to !== '-')
      showOne(
        out,
        flags,
        { network_id: network.id, member_id: id, rows, file: to },
        `${rows} rows about member ${id} are in ${to}.`,
      )
  })
}
