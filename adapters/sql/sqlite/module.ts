import '../../node-version.ts'
import { createRequire } from 'node:module'

/** `node:sqlite`, loaded after the version of Node was looked at: a Node without it ends on an import before anything is said. */
export const { DatabaseSync } = createRequire(import.meta.url)('node:sqlite') as typeof import('node:sqlite')
export type DatabaseSync = import('node:sqlite').DatabaseSync
