/** The members of a filter as a download of CSV, written as the browser takes it. */
import { writeCsv } from '../../../csv/table.ts'
import { memberColumns } from '../../../host/export/member-rows.ts'
import { masksAnswers, masksNames } from '../../layout/person.ts'
import { may } from '../../request/access.ts'
import { download, type PanelResponse } from '../../request/respond.ts'
import type { Route, View } from '../../route.ts'
import { type Html, html } from '../../ui/html.ts'
import { type MemberFilterQuery, memberFilterIn, memberQueryOf } from './filter.ts'

const path = 'members/export'
const action = 'members.export'

export const exportLink = (view: View, filter: MemberFilterQuery): Html | false =>
  may(view.visitor, action) && html`<a class="button" href="${view.link(path, filter)}" download>Export</a>`

/** Columns that the pages of members show as dots: with one part of a name the other one, too. */
function isHidden(view: View, column: string): boolean {
  if (column === 'first_name' || column === 'last_name') return masksNames(view)
  return view.settings.masked.has(column) || (masksAnswers(view) && !memberColumns.includes(column))
}

/** Addresses are those that the API shows; columns that the host masks are left out. */
async function exportMembers(view: View): Promise<PanelResponse> {
  const { sort: _, ...filter } = memberQueryOf(memberFilterIn(view)) as Readonly<Record<string, unknown>>
  const pageAfter = (after?: string) =>
    view.community.exportPage(view.id, { what: 'members', filter, ...(after === undefined ? {} : { after }) })
  // A wrong filter is refused before the download begins.
  const first = await pageAfter()
  const columns = first.columns.filter((column) => !isHidden(view, column))
  async function* lines(): AsyncGenerator<string> {
    for (let page = first; ; page = await pageAfter(page.next)) {
      yield writeCsv(columns, page.rows, page === first)
      if (page.next === null) return
    }
  }
  return download(`members-${view.network.subdomain}.csv`, 'text/csv; charset=utf-8', lines(), (error) =>
    view.settings.report(error, { task: 'panel: the export of members' }),
  )
}

export const memberExportRoutes: readonly Route[] = [{ method: 'GET', path, action, handle: exportMembers }]
