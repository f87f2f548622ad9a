/**
 * The way of a relay's commands to the audit, where the outbox is a directory: the storage is then in another process. Each line
 * is a file in `audit/` of the outbox, until the process that holds the storage moves it.
 */
import { randomUUID } from 'node:crypto'
import { access, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isApiError } from '../../lib/errors.ts'
import type { Actor, Community, RelayRecord } from '../../lib/index.ts'
import { makeDirectory } from '../files/directory.ts'
import { errorCode, fileError } from '../files/errors.ts'
import { syncDirectory, syncWhole } from '../files/sync.ts'

/** A line as its file has it. */
export interface WaitingLine extends RelayRecord {
  readonly by: Actor
  readonly at: string
  readonly work_id: string
}

const inboxOf = (directory: string): string => join(resolve(directory), 'audit')
/** The longest line, in bytes; one is at most a few thousand characters. */
const mostBytes = 256 * 1024

/**
 * Leaves a line in the inbox, durably.
 * @param directory the outbox
 * @throws StorageError `full` or `unavailable`
 */
export async function leaveLine(directory: string, line: WaitingLine): Promise<void> {
  const inbox = inboxOf(directory)
  // In the order of their time.
  const name = `${line.at.replace(/\D/g, '')}-${randomUUID()}`
  const unfinished = join(inbox, `${name}.tmp`)
  try {
    makeDirectory(inbox)
    const file = await open(unfinished, 'wx', 0o600)
    try {
      await file.writeFile(`${JSON.stringify(line)}\n`)
      await syncWhole(file)
    } finally {
      await file.close()
    }
    await rename(unfinished, join(inbox, `${name}.json`))
    // Some file systems cannot sync a directory.
    await syncDirectory(inbox).catch(() => undefined)
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined)
    throw fileError(`the audit's inbox ${inbox} cannot be written`, error)
  }
}

/** The number of lines that are in the audit now, and files that hold no line of a network here: those are kept as `.refused`. */
export interface TakenLines {
  /** Lines that are in the audit now. */
  readonly taken: number
  /** The paths of the files that were set aside, with the ending `.refused`. */
  readonly refused: readonly string[]
}

/**
 * Takes the lines that commands of the relay have left next to an outbox into the audit of a community, each once. If its process
 * ends in the middle, the next call continues.
 * @param community the one that writes to this outbox
 * @param directory the outbox
 * @throws TypeError for what is no community or no path
 * @throws StorageError when the directory does not exist or a file cannot be read, ApiError 503 when the storage is in trouble
 */
export async function takeAuditLines(community: Pick<Community, 'by'>, directory: string): Promise<TakenLines> {
  if (typeof community?.by !== 'function')
    throw new TypeError('takeAuditLines: the first argument must be a community, as createCommunity returns it')
  if (typeof directory !== 'string' || directory === '')
    throw new TypeError("takeAuditLines: the second argument must be the directory of the outbox, such as './data/outbox'")
  const inbox = inboxOf(directory)
  // Without this a mistyped directory would look like one in which no line waits.
  await access(directory).catch((error: unknown) => {
    throw fileError(`there is no outbox at ${resolve(directory)}`, error)
  })
  let taken = 0
  const refused: string[] = []
  for (const name of await linesIn(inbox)) {
    const path = join(inbox, name)
    const line = await lineIn(path)
    if (line === 'gone') continue
    if (line !== 'unusable' && (await isTaken(community, line))) {
      await rm(path, { force: true })
      taken++
    } else {
      await rename(path, path.replace(/json$/, 'refused'))
      refused.push(path.replace(/json$/, 'refused'))
    }
  }
  return { taken, refused }
}

async function linesIn(inbox: string): Promise<readonly string[]> {
  try {
    return (await readdir(inbox)).filter((name) => name.endsWith('.json')).toSorted()
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw fileError(`the audit's inbox ${inbox} cannot be read`, error)
  }
}

async function lineIn(path: string): Promise<WaitingLine | 'gone' | 'unusable'> {
  try {
    if ((await stat(path)).size > mostBytes) return 'unusable'
    // It is checked by `audit.record`.
    const line = JSON.parse(await readFile(path, 'utf8')) as WaitingLine | null
    return line?.work_id && line.at ? line : 'unusable'
  } catch (error) {
    if (error instanceof SyntaxError) return 'unusable'
    // Another process has taken it.
    if (errorCode(error) === 'ENOENT') return 'gone'
    throw fileError(`${path} cannot be read`, error)
  }
}

/** Whether the line is in the audit now. */
async function isTaken(community: Pick<Community, 'by'>, { by, ...line }: WaitingLine): Promise<boolean> {
  try {
    await community.by(by).audit.record(line)
    return true
  } catch (error) {
    if (error instanceof TypeError || (isApiError(error) && error.status < 500)) return false
    throw error
  }
}
