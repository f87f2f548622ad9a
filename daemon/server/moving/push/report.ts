/** The report of a push, for people. */
import { plain } from '../../../json.ts'
import { table } from '../../../table.ts'
import { columnsOfTable } from '../columns-of-table.ts'
import type { PushReport } from './push-network.ts'
import type { LeftRows, NotTaken, PushedList } from './tally.ts'

interface Whole extends PushReport {
  readonly network: { readonly subdomain: string; readonly id_there: string }
  /** The state file. */
  readonly state: string
}

const note = ({ unsent }: PushedList): string => {
  if (unsent === 'refused') return 'not sent: the token lacks a scope'
  return unsent === 'missing' ? 'not sent: the server has no such list' : ''
}

export function written(report: Whole, width: number | undefined): string {
  const { network, state, dry_run, lists, left, not_taken, requests, waited_seconds } = report
  const now = Date.now()
  const rows = table<PushedList>(
    [
      { title: 'list', cell: ({ list }) => list, fits: 'whole' },
      { title: 'here', cell: ({ here }) => here, fits: 'whole' },
      { title: 'sent', cell: ({ sent }) => sent, fits: 'whole' },
      { title: 'changed', cell: ({ changed }) => changed, fits: 'whole' },
      { title: 'there already', cell: ({ matched }) => matched, fits: 'whole' },
      { title: 'unchanged', cell: ({ unchanged }) => unchanged, fits: 'whole' },
      { title: 'left out', cell: (list) => list.left, fits: 'whole' },
      { title: 'note', cell: note, fits: 'wrap' },
    ],
    lists,
    { empty: 'There is nothing to send.', now, width },
  )
  const reasons = table<LeftRows>(
    [
      { title: 'left out', cell: ({ list }) => list, fits: 'whole' },
      { title: 'rows', cell: ({ count }) => count, fits: 'whole' },
      { title: 'reason', cell: ({ reason }) => reason, fits: 'wrap' },
      { title: 'ids', cell: ({ ids, count }) => `${ids.slice(0, 3).join(', ')}${count > 3 ? ', …' : ''}`, fits: 'wrap' },
    ],
    left,
    { empty: '', now, width },
  )
  const waited = waited_seconds > 0 ? `, ${waited_seconds} s of it waiting for the rate limit` : ''
  return [
    rows,
    ...(left.length > 0 ? [reasons] : []),
    'The API takes no ids and no times of creation: the server makes its own.',
    ...(not_taken.length > 0 ? ['It does not take these either; the numbers are rows with something there:'] : []),
    ...not_taken.map(lineOfTable),
    dry_run
      ? `Nothing was sent: this was a dry run. ${requests} requests.`
      : `Network ${network.subdomain} has the id ${plain(network.id_there)} there. ${requests} requests${waited}. State: ${state}`,
  ].join('\n')
}

function lineOfTable({ table: name, rows, columns }: NotTaken): string {
  if (rows !== null) return columnsOfTable(name, [rows === 1 ? '1 row, none of it' : `${rows} rows, none of them`])
  const counts = Object.entries(columns).map(([column, count]) => `${column} ${count}`)
  return columnsOfTable(name, counts)
}
