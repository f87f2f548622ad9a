/** `folkmoot export` and `members export`: records of a network, and everything about one person. */
import { counted } from '../../../lib/base/counted.ts'
import { defined } from '../../../lib/base/defined.ts'
import { pagesOf } from '../../../lib/base/pages.ts'
import { writeCsv } from '../../../lib/csv/table.ts'
import type { ExportPage, ExportQuery } from '../../../lib/index.ts'
import { jsonLines, plainLines } from '../../json.ts'
import type { Output } from '../../output.ts'
import { UsageError } from '../../usage.ts'
import { inOptions, ofRecord } from './in-options.ts'
import { type FilterFlags, filterOf } from './members/filters.ts'
import { countIn, listIn, type MemberList, partsOf } from './members/list.ts'
import { type NetworkFlags, withNetwork } from './operator.ts'
import { showOne } from './show.ts'
import { requireNew, writeTexts } from './to-file.ts'

interface Target {
  /** A file, or `-` for standard output. */
  readonly to: string
}

export interface ExportFlags extends NetworkFlags, FilterFlags, Target {
  /** A file with addresses or ids. */
  readonly from?: string
  readonly what: ExportQuery['what']
  readonly format: 'csv' | 'ndjson'
  readonly fields?: string
  readonly trueAddresses?: boolean
}

/** Members of a list that are read together, at most a page. */
const listedTogether = 100

type Draw = ((line: string) => void) | undefined
type ReadPage = (after: { readonly after?: string }) => Promise<ExportPage>

/** Reads page by page, writes each, and says how many rows there are. */
async function write(read: ReadPage, format: 'csv' | 'ndjson', { to }: Target, out: Output, draw: Draw): Promise<number> {
  let rows = 0
  async function* texts() {
    let columns: readonly string[] | undefined
    for await (const page of pagesOf((after) => read(defined({ after })))) {
      if (format === 'csv') yield csvText(columns ?? page.columns, page, columns === undefined, to === '-' ? out : undefined)
      else yield jsonLines(page.rows)
      // A field that is made meanwhile has no column.
      columns ??= page.columns
      rows += page.rows.length
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

/** The parts of a list as pages: none is larger than a page. */
const partByPart = (
  list: MemberList,
  read: (part: MemberList, after: { readonly after?: string }) => Promise<ExportPage>,
): ReadPage => {
  const parts = partsOf(list, listedTogether)
  return async ({ after = '0' }) => {
    const next = Number(after) + 1
    // A part after the first is no new export in the audit.
    const page = await read(parts[next - 1] ?? { ids: [] }, next === 1 ? {} : { after: '0' })
    return { ...page, next: next < parts.length ? String(next) : null }
  }
}

export async function exportRecords(flags: ExportFlags, out: Output, draw: Draw): Promise<void> {
  const { what, format, to, fields, trueAddresses = false } = flags
  requireNew(to)
  if (flags.from !== undefined && what !== 'members')
    throw new UsageError('--from is a list of members: use it with --what members')
  const list = flags.from === undefined ? undefined : await listIn(flags.from)
  await withNetwork(flags, out, async (operator, { id: network, subdomain }) => {
    const query = { what, trueAddresses, ...defined({ fields: fields?.split(',').map((name) => name.trim()) }) }
    const read = (part: MemberList | undefined, after: { readonly after?: string }) =>
      inOptions(operator.exportPage(network, { ...query, filter: { ...filterOf(flags), ...part }, ...after }))
    const pages: ReadPage = list ? partByPart(list, read) : (after) => read(undefined, after)
    const rows = await write(pages, format, flags, out, draw)
    const missing = list ? countIn(list) - rows : 0
    const lines = [
      `${rows} ${what} of ${subdomain} are in ${to}.`,
      ...(missing > 0 ? [`${missing} of the list are no members.`] : []),
    ]
    if (to !== '-')
      showOne(out, flags, { network_id: network, what, rows, file: to, ...(list ? { missing } : {}) }, lines.join('\n'))
  })
}

export async function exportMember(id: string, flags: NetworkFlags & Target, out: Output, draw: Draw): Promise<void> {
  const { to } = flags
  requireNew(to)
  await withNetwork(flags, out, async (operator, network) => {
    const read: ReadPage = (after) => ofRecord(network, 'member', id, operator.members.exportPage(network.id, id, after))
    const rows = await write(read, 'ndjson', flags, out, draw)
    if (to !== '-')
      showOne(
        out,
        flags,
        { network_id: network.id, member_id: id, rows, file: to },
        `${counted(rows, 'row')} about member ${id} are in ${to}.`,
      )
  })
}
