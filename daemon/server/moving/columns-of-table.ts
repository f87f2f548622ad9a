/** A table with something about its columns, in lines of at most 100 characters. */
export function columnsOfTable(table: string, columns: readonly string[]): string {
  const lines = [`  ${table}:`]
  for (const [index, column] of columns.entries()) {
    const word = index === columns.length - 1 ? column : `${column},`
    const longer = `${lines.at(-1)} ${word}`
    if (longer.length > 100) lines.push(`    ${word}`)
    else lines[lines.length - 1] = longer
  }
  return lines.join('\n')
}
