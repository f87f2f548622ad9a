/** The token of a running relay's control: a file that only the readers of the outbox may read. */
import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pid } from 'node:process'
import { makeDirectory } from '../../../../adapters/files/directory.ts'
import { errorCode, fileError } from '../../../../adapters/files/errors.ts'
import { UsageError } from '../../../usage.ts'
import { relayHome } from '../../ingest/outbox-address.ts'

export const controlTokenPath = (outbox: string): string => join(relayHome(outbox), 'control.token')

/** The token of an outbox's control; made if it does not exist yet. Readers of the outbox may read it. */
export function controlToken(outbox: string): string {
  const path = controlTokenPath(outbox)
  try {
    makeDirectory(dirname(path))
    return existsSync(path) ? tokenIn(path) : newToken(path)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw fileError(`the control token ${path} cannot be written or read`, error)
  }
}

/** Made elsewhere first, so that a disk that is full never leaves an empty token behind, which anybody could guess. */
function newToken(path: string): string {
  const draft = `${path}.${pid}`
  try {
    writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 })
    linkSync(draft, path)
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  return tokenIn(path)
}

function tokenIn(path: string): string {
  const token = readFileSync(path, 'utf8').trim()
  if (token.length < 32) throw new UsageError(`the control token ${path} is too short: delete the file, and a new one is made`)
  return token
}
