import '../../node-version.ts'
import { createRequire } from 'node:module'

/**
 * `node:sqlite`, loaded after the check of Node's version: a Node without it would fail on the import before any message. Not from
 * `import.meta.url`, which a bundle in CommonJS lacks.
 */
export const { DatabaseSync, backup } = createRequire('/')('node:sqlite') as typeof import('node:sqlite')
export type DatabaseSync = import('node:sqlite').DatabaseSync
