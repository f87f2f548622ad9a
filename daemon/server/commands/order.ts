/** `folkmoot tags` and `folkmoot reports`: what keeps a network in order. */
import { counted } from '../../../lib/base/counted.ts'
import { defined } from '../../../lib/base/defined.ts'
import { itemsOf } from '../../../lib/base/pages.ts'
import type { ReportDecision, ReportListing, TagListing } from '../../../lib/index.ts'
import type { Output } from '../../output.ts'
import { time } from '../../table.ts'
import { ofRecord } from './in-options.ts'
import { type NetworkFlags, withNetwork, withNetworkChanges } from './operator.ts'
import { showList, showOne } from './show.ts'

interface TagFlags extends NetworkFlags {
  readonly badges?: boolean
  readonly unused?: boolean
}

interface NewTagFlags extends NetworkFlags {
  readonly color?: string
  readonly description?: string
}

interface ReportFlags extends NetworkFlags {
  readonly closed?: boolean
  readonly limit: number
}

export const listTags = ({ badges, unused, ...flags }: TagFlags, out: Output): Promise<void> =>
  withNetwork(flags, out, async (operator, { id }) => {
    const query = { kind: badges ? 'badge' : 'tag', unused: unused === true } as const
    const all = await itemsOf((after) => operator.tags.list(id, { ...query, ...defined({ after }) }))
    const columns = [
      { title: 'id', cell: ({ id }: TagListing) => id, fits: 'whole' },
      { title: 'title', cell: ({ title }: TagListing) => title, fits: 'wrap' },
      { title: 'members', cell: ({ member_count }: TagListing) => member_count || 'unused' },
      { title: 'color', cell: ({ color }: TagListing) => color, shown: 'spare' },
      { title: 'description', cell: ({ description }: TagListing) => description, shown: 'spare' },
      { title: 'created', cell: ({ created_at }: TagListing) => time(created_at), shown: 'wide' },
    ] as const
    showList(out, flags, all, columns, badges ? 'There is no badge.' : 'There is no tag.')
  })

export const createTag = (title: string, { color, description, ...flags }: NewTagFlags, out: Output): Promise<void> =>
  withNetworkChanges(flags, out, async (operator, { id }) => {
    const tag = await operator.tags.create(id, { title, ...defined({ color, description }) })
    showOne(out, flags, tag, `Tag ${tag.title} (${tag.id}) is created.`)
  })

export const mergeTags = (from: string, into: string, flags: NetworkFlags, out: Output): Promise<void> =>
  withNetworkChanges(flags, out, async (operator, { id }) => {
    const tag = await operator.tags.merge(id, from, into)
    const sentence = `${counted(tag.moved, 'member')} moved to ${tag.title} (${tag.id}), which ${counted(tag.member_count, 'carries', 'carry')} now. Tag ${from} is deleted.`
    showOne(out, flags, tag, sentence)
  })

export const listReports = ({ closed, ...flags }: ReportFlags, out: Output): Promise<void> =>
  withNetwork(flags, out, async (operator, { id }) => {
    const state = closed ? 'closed' : 'open'
    const all = await itemsOf((after) => operator.reports.list(id, { state, ...defined({ after }) }), flags.limit)
    const columns = [
      { title: 'id', cell: ({ id }: ReportListing) => id, fits: 'whole' },
      { title: 'time', cell: ({ created_at }: ReportListing) => time(created_at) },
      { title: 'why', cell: ({ report_type, reason }: ReportListing) => `${report_type}${reason === null ? '' : `: ${reason}`}` },
      {
        title: 'about',
        cell: ({ targetable_type, targetable_id, target }: ReportListing) =>
          `${targetable_type} ${targetable_id}${target ? ` ${target.title} ${target.text}` : ' (gone)'}`,
        fits: 'wrap',
      },
      { title: 'author', cell: ({ target }: ReportListing) => target?.author?.name ?? null },
      { title: 'by', cell: ({ reporter }: ReportListing) => reporter?.name ?? null, shown: 'spare' },
    ] as const
    showList(out, flags, all, columns, `There is no ${state} report.`)
  })

export const closeReport = (id: string, decision: ReportDecision, flags: NetworkFlags, out: Output): Promise<void> =>
  withNetworkChanges(flags, out, async (operator, network) => {
    const report = await ofRecord(network, 'report', id, operator.reports.close(network.id, id, decision))
    const what = {
      dismiss: 'dismissed',
      delete_content: 'closed, and the content deleted',
      ban_author: 'closed, and the author banned',
    }
    showOne(out, flags, report, `Report ${id} is ${what[decision]}.`)
  })
