/** Options of the benchmarks' commands: each is declared once, with its default and what it means. */
import process from 'node:process'
import { parseArgs } from 'node:util'

export interface Declared {
  readonly default: string
  /** Its meaning, for `--help`. */
  readonly means: string
}

/**
 * The values given on the command line. `--help` prints what there is, and ends the process.
 * @param command as it is called, `npm run bench`
 * @param about one sentence
 * @throws Error for an option that is not declared
 */
export function optionsOf<T extends Readonly<Record<string, Declared>>>(
  command: string,
  about: string,
  declared: T,
): { readonly [K in keyof T]: string } {
  const options = Object.fromEntries(
    Object.entries(declared).map(([name, each]) => [name, { type: 'string', default: each.default } as const]),
  )
  const { values } = parseArgs({ options: { ...options, help: { type: 'boolean', default: false } } })
  if (values.help) {
    const lines = Object.entries(declared).map(([name, each]) => {
      const shown = each.default === '' ? '' : ` (${each.default})`
      return `  --${name.padEnd(12)} ${each.means}${shown}`
    })
    console.log([`${command} [-- options]`, '', about, '', ...lines].join('\n'))
    process.exit(0)
  }
  return values as unknown as { readonly [K in keyof T]: string }
}
