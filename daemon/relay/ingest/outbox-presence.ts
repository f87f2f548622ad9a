/** Whether an outbox is there, found out without making anything. */
import { accessSync, constants, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { errorCode, isReadOnly } from '../../../adapters/files/errors.ts'
import { withoutPassword } from '../../../adapters/sql/postgres/address.ts'
import { hasTable } from '../../../adapters/sql/postgres/has-table.ts'
import { sqliteDialect } from '../../../adapters/sql/sqlite/dialect.ts'
import { hasTable as fileHasTable } from '../../../adapters/sql/sqlite/read-only.ts'
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

/** Why a path cannot be used, or undefined when it can. */
function pathProblem(path: string, shown: string, kind: 'directory' | 'file'): Missing | undefined {
  try {
    const found = statSync(path)
    if (kind === 'directory' && !found.isDirectory())
      return wrong(`${shown} is not a directory: --outbox takes a directory, sqlite:PATH or postgres://…`)
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
  if (place.kind === 'directory') return pathProblem(resolve(place.path), address, 'directory')
  if (place.kind === 'sqlite') return pathProblem(resolve(place.path), address, 'file') ?? sqliteProblem(place.path, address)
  const { url, schema } = place
  const there = await hasTable(url, `"${schema}"."outbox"`)
  return there ? undefined : absent(`in schema ${schema} of ${withoutPassword(address)}`)
}

function sqliteProblem(path: string, shown: string): Missing | undefined {
  try {
    return fileHasTable(resolve(path), `${sqliteDialect.prefix}outbox`) ? undefined : absent(`in ${shown}`)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return wrong(`the outbox at ${shown} cannot be read: ${message}`)
  }
}
