/** The file of Scalar's API reference, which a host may install next to folkmoot: `@scalar/api-reference`. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { addressOfPackage } from '../optional-package.ts'

/**
 * Reads the one file of `@scalar/api-reference`, for the option `scalar` of `createPanel`. It is read when the page is opened.
 * @returns `undefined` if the package is not installed: the panel then has its own pages alone
 */
export function scalarFile(): (() => Promise<Uint8Array>) | undefined {
  try {
    const file = new URL('./browser/standalone.js', addressOfPackage('@scalar/api-reference'))
    return existsSync(file) ? () => readFile(file) : undefined
  } catch {
    return undefined
  }
}
