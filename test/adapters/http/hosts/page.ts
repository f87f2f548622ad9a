/** The table of hosts in `docs/hosts.md`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const page = join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'hosts.md')
const [from, to] = ['<!-- hosts: begin -->\n', '<!-- hosts: end -->']

/** A host with the result of each question. */
export interface Row {
  readonly host: string
  readonly version: string
  /** `undefined` keeps the result of the page. */
  readonly results: readonly (string | undefined)[]
}

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

function parts(): readonly [before: string, table: string, after: string] {
  const text = readFileSync(page, 'utf8')
  const [begin, end] = [text.indexOf(from) + from.length, text.indexOf(to)]
  if (begin < from.length || end < begin) throw new Error('docs/hosts.md has no marks for the table of hosts')
  return [text.slice(0, begin), text.slice(begin, end), text.slice(end)]
}

/** The table as it is on the page. */
export const written = (): string => parts()[1]

/**
 * The table as it should be. A host that did not run keeps its row.
 * @param hosts every host, in order
 * @param rows those that ran
 */
export function tableOf(hosts: readonly string[], columns: readonly string[], rows: readonly Row[]): string {
  const before = new Map(
    written()
      .split('\n')
      .map((row) => row.split('|').map((cell) => cell.trim()))
      .map(([, host = '', ...cells]) => [host, cells.slice(0, -1)]),
  )
  const body = hosts.flatMap((host) => {
    const row = rows.find((row) => row.host === host)
    const [version = '', ...kept] = before.get(host) ?? []
    if (row) return line([host, row.version, ...row.results.map((result, column) => result ?? kept[column] ?? '✗')])
    return before.has(host) ? line([host, version, ...kept]) : []
  })
  const head = [line(['host', 'version', ...columns]), line(['---', '---', ...columns.map(() => ':-:')])]
  return `${[...head, ...body].join('\n')}\n`
}

export function write(table: string): void {
  const [before, , after] = parts()
  writeFileSync(page, before + table + after)
}
