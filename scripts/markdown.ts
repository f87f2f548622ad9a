/** Markdown for the generated pages. */

export const code = (text: string): string => `\`${text}\``

const row = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replace(/\|/g, '\\|')).join(' | ')} |`

export const tableOf = (columns: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(columns), row(columns.map(() => '---')), ...rows.map(row)].join('\n')
