/** The table of hosts in `docs/hosts.md`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const page = join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'hosts.md')
const [from, to] = ['<!-- hosts: begin -->\n', '<!-- hosts: end -->']

/** A host with the result of each question. */
export interface Row {
  readonly host: string
  readonly version: string
  readonly results: readonly string[]
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
      .map((row) => [row.split('|')[1]?.trim() ?? '', row]),
  )
  const body = hosts.flatMap((host) => {
    const row = rows.find((row) => row.host === host)
    return row ? line([host, row.version, ...row.results]) : (before.get(host) ?? [])
  })
  const head = [line(['host', 'version', ...columns]), line(['---', '---', ...columns.map(() => ':-:')])]
  return `${[...head, ...body].join('\n')}\n`
}

export function write(table: string): void {
  const [before, , after] = parts()
  writeFileSync(page, before + table + after)
}
