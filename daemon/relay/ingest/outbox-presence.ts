/** Whether an outbox is there, found out without making anything. */
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { errorCode, isReadOnly } from '../../../adapters/files/errors.ts'
import { hasTable } from '../../../adapters/sql/postgres/has-table.ts'
import { sqliteDialect } from '../../../adapters/sql/sqlite/dialect.ts'
import { hasTable as fileHasTable } from '../../../adapters/sql/sqlite/read-only.ts'
import { withoutPassword } from '../../../lib/base/without-password.ts'
import { placeOf } from './outbox-address.ts'

const remedy = 'correct --outbox, or start the API server, which makes it'

/** Why there is no outbox to use. */
export interface Missing {
  /** A sentence with a remedy. */
  readonly text: string
  /** Whether nothing is there at all, as opposed to something that is no outbox or may not be used. */
  readonly absent: boolean
}

/** A sentence about a file system that takes no changes: people mount one so, and a disk with faults becomes so. */
export const readOnlyText = (what: string): string =>
  `the file system of ${what} is read-only: look for its faults in the log of the system, and mount it for writing`

const wrong = (text: string): Missing => ({ text, absent: false })
const absent = (where: string): Missing => ({ text: `there is no outbox ${where}: ${remedy}`, absent: true })

/** The name of a file of SQLite, and that of a file of lowdb. */
const databaseName = /\.(?:sqlite3?|db3?)$/i
const jsonName = /\.json$/i

/**
 * Why the directory of an address is surely a mistake: a file is there, or nothing is there and the name is that of a file. A relay
 * would make a directory where the API server wants to make its database.
 * @param option the option that has the address, for the message
 */
export function mistakenDirectory(address: string, option = '--outbox'): string | undefined {
  const place = placeOf(address)
  if (place.kind !== 'directory') return undefined
  const found = statSync(place.path, { throwIfNoEntry: false })
  if (found?.isDirectory()) return undefined
  const meant = meantBy(address)
  if (found)
    return `${withoutPassword(address)} is not a directory: ${meant ?? `${option} takes a directory, sqlite:PATH or postgres://…`}`
  return (
    meant &&
    `there is no outbox at ${withoutPassword(address)}, and the name is that of a file: ${meant}; a directory of this name ends with /`
  )
}

function meantBy(address: string): string | undefined {
  if (databaseName.test(address)) return `did you mean sqlite:${withoutPassword(address)}?`
  return jsonName.test(address)
    ? `the outbox of lowdb:${address} is the directory ${join(dirname(address), 'outbox')}`
    : undefined
}

/** The beginning of the names of a writer's files. */
const ofWriter = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/
/** Directories of relays and their commands, which they make in a wrong place too, lock files, and what systems leave in a directory. */
const neutral = /^(?:\..*|relay|audit|lost\+found|.*\.lock(?:\.[0-9a-f]+\.sock)?)$/

/**
 * A sentence about a directory that holds other files and nothing that a writer of an outbox has made. A host may keep its outbox in
 * such a directory, though: then everything has been delivered, and no writer is running.
 */
export function foreignDirectory(address: string): string | undefined {
  const place = placeOf(address)
  if (place.kind !== 'directory') return undefined
  if (!existsSync(place.path)) return undefined
  const names = readdirSync(place.path).filter((name) => !neutral.test(name))
  const [first] = names.toSorted()
  if (first === undefined || names.some((name) => ofWriter.test(name))) return undefined
  const more = names.length === 1 ? '' : ` and ${names.length - 1} more`
  return `${withoutPassword(address)} holds ${JSON.stringify(first)}${more}, and nothing of an outbox: is it the directory that the API server writes its outbox to?`
}

function pathProblem(path: string, shown: string, kind: 'directory' | 'file'): Missing | undefined {
  try {
    const mistake = kind === 'directory' ? mistakenDirectory(path) : undefined
    if (mistake !== undefined) return wrong(mistake)
    const found = statSync(path)
    if (kind === 'file' && !found.isFile()) return wrong(`${shown} is not a file: --outbox takes the file of the API server`)
    accessSync(path, constants.R_OK | constants.W_OK | (kind === 'directory' ? constants.X_OK : 0))
    return undefined
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return absent(`at ${shown}`)
    if (isReadOnly(error)) return wrong(readOnlyText(`the outbox at ${shown}`))
    return wrong(`the outbox at ${shown} cannot be used (${code}): run this as the user of the API server`)
  }
}

/** Why there is no outbox at an address; undefined when there is one. */
export async function missingOutbox(address: string): Promise<Missing | undefined> {
  const place = placeOf(address)
  const shown = withoutPassword(address)
  if (place.kind === 'directory') return pathProblem(place.path, shown, 'directory')
  if (place.kind === 'sqlite') return pathProblem(place.path, shown, 'file') ?? sqliteProblem(place.path, shown)
  const { url, schema } = place
  const there = await hasTable(url, `"${schema}"."outbox"`)
  return there ? undefined : absent(`in schema ${schema} of ${shown}`)
}

function sqliteProblem(path: string, shown: string): Missing | undefined {
  try {
    return fileHasTable(resolve(path), `${sqliteDialect.prefix}outbox`) ? undefined : absent(`in ${shown}`)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return wrong(`the outbox at ${shown} cannot be read: ${message}`)
  }
}
