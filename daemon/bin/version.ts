import { readFileSync } from 'node:fs'

/** The version in the nearest package.json: two levels up from the sources, three from the built files. */
export function packageVersion(): string {
  for (const at of ['../../package.json', '../../../package.json']) {
    try {
      const { version } = JSON.parse(readFileSync(new URL(at, import.meta.url), 'utf8')) as { readonly version?: unknown }
      if (typeof version === 'string') return version
    } catch {
      // Not there: the next one.
    }
  }
  return 'unknown'
}
