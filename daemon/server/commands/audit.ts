/** `folkmoot audit …`: reading only, because nothing changes a line. */

import { type AuditAction, auditSubjectTypes } from '../../../lib/audit-actions.ts'
import { counted } from '../../../lib/base/counted.ts'
import { defined } from '../../../lib/base/defined.ts'
import { pagesOf } from '../../../lib/base/pages.ts'
import { detailsText } from '../../../lib/host/audit/details.ts'
import type { AuditEntry, AuditQuery } from '../../../lib/index.ts'
import { jsonLines } from '../../json.ts'
import type { Output } from '../../output.ts'
import { time } from '../../table.ts'
import { UsageError } from '../../usage.ts'
import type { Operator } from '../control/calls.ts'
import { type NetworkFlags, withNetwork } from './operator.ts'
import { showList, showOne } from './show.ts'
import { requireNew, writeTexts } from './to-file.ts'

export interface ListFlags extends NetworkFlags {
  readonly actor?: string
  readonly action?: AuditAction
  /** Such as `endpoint:7`. */
  readonly subject?: string
  readonly from?: string
  readonly to?: string
  readonly limit: number
}

export interface ExportFlags extends NetworkFlags {
  readonly from?: string
  /** A file, or `-` for standard output. */
  readonly to: string
}

const pageSize = 100

/** @throws UsageError */
function subjectOf(given: string): NonNullable<AuditQuery['subject']> {
  const [, name, id] = /^(\w+):(.{1,200})$/.exec(given) ?? []
  const type = auditSubjectTypes.find((each) => each === name)
  if (type === undefined || id === undefined)
    throw new UsageError(
      `--subject must be like endpoint:7, of ${auditSubjectTypes.join(', ')}; got ${JSON.stringify(given.slice(0, 100))}`,
    )
  return { type, id }
}

/** Entries page by page, so that none of the responses is large. */
const entriesOf = ({ audit }: Operator, query: AuditQuery) =>
  pagesOf((cursor) => audit.list({ ...query, per_page: pageSize, ...defined({ cursor }) }))

/** `audit list`: the newest first. */
export async function listAudit(flags: ListFlags, out: Output): Promise<void> {
  const { actor, action, from, to, limit } = flags
  const subject = flags.subject === undefined ? undefined : subjectOf(flags.subject)
  const filter = defined({ actor, action, subject, from, to })
  await withNetwork(flags, out, async (operator, { id: network }) => {
    const entries: AuditEntry[] = []
    for await (const { items } of entriesOf(operator, { network, ...filter })) {
      entries.push(...items)
      if (entries.length > limit) break
    }
    const columns = [
      { title: 'time', cell: ({ at }: AuditEntry) => time(at), fits: 'whole' },
      { title: 'actor', cell: ({ actor }: AuditEntry) => actor },
      { title: 'action', cell: ({ action }: AuditEntry) => action, fits: 'whole' },
      {
        title: 'subject',
        cell: ({ subject: { type, id, name } }: AuditEntry) => `${type}:${id}${name === null ? '' : ` ${name}`}`,
      },
      { title: 'from', cell: ({ address }: AuditEntry) => address, shown: 'spare' },
      { title: 'details', cell: ({ details }: AuditEntry) => detailsText(details) || null, shown: 'spare' },
      { title: 'id', cell: ({ id }: AuditEntry) => id, shown: 'wide' },
    ] as const
    showList(out, flags, entries.slice(0, limit), columns, 'There is no entry.')
    if (entries.length > limit && !flags.json) out.warn(`There are more: --limit ${limit * 10}, or \`folkmoot audit export\`.`)
  })
}

/** `audit export`: every entry as NDJSON, the oldest first. */
export async function exportAudit(flags: ExportFlags, out: Output, draw?: (line: string) => void): Promise<void> {
  const { to, from } = flags
  requireNew(to)
  await withNetwork(flags, out, async (operator, { id: network, subdomain }) => {
    let entries = 0
    async function* texts() {
      for await (const { items } of entriesOf(operator, { network, order: 'oldest', ...defined({ from }) })) {
        yield jsonLines(items)
        entries += items.length
        const last = items.at(-1)
        draw?.(`${entries.toLocaleString('en-GB')} entries${last ? `, up to ${last.at}` : ''}`)
      }
    }
    await writeTexts(texts(), to, out)
    draw?.('')
    if (to !== '-')
      showOne(
        out,
        flags,
        { network_id: network, entries, file: to },
        `${counted(entries, 'entry', 'entries')} of ${subdomain} are in ${to}.`,
      )
  })
}
