/** The part of papaparse that `table.ts` uses. Its published types need those of browsers. */
declare module 'papaparse' {
  interface Parsed {
    readonly data: readonly (readonly string[])[]
    readonly errors: readonly { readonly row?: number }[]
    /** Where the rest begins that was not parsed. */
    readonly meta: { readonly cursor: number }
  }
  class Parser {
    constructor(config: { readonly delimiter: string; readonly newline: '\n' })
    parse(text: string, baseIndex: number, ignoreLastRow: boolean): Parsed
  }
  const Papa: {
    readonly Parser: typeof Parser
    unparse(rows: readonly (readonly string[])[], config: { readonly newline: string; readonly escapeFormulae: RegExp }): string
  }
  // biome-ignore lint/style/noDefaultExport: the package has no other one
  export default Papa
}
