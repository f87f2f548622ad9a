/** Exports: rows of one subject, page by page. Each page is a read of its own, so that none holds up a writer for long. */
import * as v from 'valibot'
import { isoTime } from '../../base/clock.ts'
import { fail, invalid } from '../../errors.ts'
import { BoolInput, listUpTo, oneOf, optional } from '../../fields.ts'
import { withoutSnapshot } from '../../kernel/walks.ts'
import type { Settings } from '../../settings.ts'
import type { ScopedTx } from '../../storage/scoped.ts'
import type { Id } from '../../storage/table.ts'
import { checkArgument, PlaceInput, recordOf, shape } from '../arguments.ts'
import type { Changes } from '../audit/changes.ts'
import type { MemberFilter } from '../members/search.ts'
import type { Networks } from '../networks.ts'
import { type ExportPage, type ExportRow, rowsOfPages } from './subject.ts'
import { subjects } from './subjects.ts'

/** What an export may hold. */
export type ExportSubject = keyof typeof subjects
export const exportSubjects = Object.keys(subjects) as ExportSubject[]

/** The filters of members, and of posts and events. */
export interface ExportFilter extends MemberFilter {
  readonly creator_id?: Id | number
  readonly starts_after?: string
  readonly starts_before?: string
  /** Of members alone, in place of conditions. */
  readonly ids?: readonly (Id | number)[]
  readonly addresses?: readonly string[]
}

/** What to export. */
export interface ExportQuery {
  readonly what: ExportSubject
  /** The columns, in this order: all of them by default. */
  readonly fields?: readonly string[]
  /** Which rows: of members the filter of `members.list`, of posts and events those of their lists. Other subjects have none. */
  readonly filter?: ExportFilter
  /** Whether addresses are those that members have, instead of those that the API shows. The audit says so. */
  readonly trueAddresses?: boolean
}

/** The calls of exports. */
export interface Exports {
  /**
   * The rows of an export, by id, each in the order of the columns. On SQLite and PostgreSQL they are of one moment, unless it takes
   * long. Otherwise what is added or changed while it runs is in it or not; a row that is there all the time comes once.
   * @throws ApiError 404 when there is no such network, 422 when a value is refused, 503 when the storage is in trouble
   */
  export(network: Id | number, query: ExportQuery): AsyncIterable<ExportRow>
  /** One page of that, at most a hundred rows. @param query `after`: the `next` of the page before */
  exportPage(network: Id | number, query: ExportQuery & { readonly after?: string | undefined }): Promise<ExportPage>
}

const Query = shape({
  what: oneOf(...exportSubjects),
  fields: optional(listUpTo(v.string('must be a name'), 1000, 'names')),
  filter: optional(recordOf(v.unknown())),
  trueAddresses: optional(BoolInput),
  after: optional(PlaceInput),
})

const pageRows = 100

export function exportsOf({ clock, limits }: Settings, changes: Changes, networks: Networks): Exports {
  async function exportPage(...[name, whole]: Parameters<Exports['exportPage']>): Promise<ExportPage> {
    const [given, snapshot] = withoutSnapshot(whole)
    const { what, fields, filter = {}, trueAddresses = false, after } = checkArgument('export', Query, given, limits)
    const subject = subjects[what]
    const names = Object.keys(subject.filter)
    for (const each of Object.keys(filter))
      if (!names.includes(each)) fail(invalid(each), `${each} is no filter of ${what}, which has ${names.join(', ') || 'none'}`)
    const checked = checkArgument('export', shape(subject.filter), filter, limits)
    const network = await networks.show(name)
    const read = async (tx: ScopedTx) =>
      picked(await subject.page({ tx, network, trueAddresses }, checked, after, pageRows), fields)
    const subjectOfLine = { type: 'network', id: network.id, name: network.title } as const
    if (trueAddresses && after === undefined)
      await changes.change(
        network.id,
        isoTime(clock.now()),
        async (tx) => ({
          // What is refused is not audited.
          result: await read(tx),
          audit: [{ action: 'export.true_addresses', subject: subjectOfLine, details: { what, filter: Object.keys(filter) } }],
        }),
        { isAlways: true },
      )
    return changes.walks.page(network.id, after === undefined ? null : snapshot, read)
  }
  return {
    exportPage,
    export: (network, query) => rowsOfPages((after) => exportPage(network, { ...query, ...after }), changes.walks.leave),
  }
}

function picked({ columns, rows, next }: ExportPage, fields: readonly string[] | undefined): ExportPage {
  if (fields === undefined) return { columns, rows, next }
  const missing = fields.find((field) => !columns.includes(field))
  if (missing !== undefined)
    fail(
      invalid('fields'),
      `fields: there is no column ${JSON.stringify(missing.slice(0, 100))}; there are ${columns.join(', ')}`,
    )
  return { columns: fields, rows: rows.map((row) => Object.fromEntries(fields.map((name) => [name, row[name]]))), next }
}
