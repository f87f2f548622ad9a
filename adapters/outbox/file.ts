/**
 * The outbox as a directory of files: what the memory and lowdb storages write, and what the relay reads.
 *
 * One line per commit, in segment files that belong to one writer each. So writers in many processes never share a file, a lock
 * or a byte. Nothing is thrown away before the relay has said that it took it over durably.
 */

import '../node-version.ts'

export { type TakenLines, takeAuditLines } from './audit-inbox.ts'
export { type OutboxDirectoryOptions, outboxDirectory } from './reader.ts'
export { type OutboxOptions, openOutbox } from './writer.ts'
