/** Writes the texts of an export, to standard output or to a file that is there under its name only when it is whole. */
import { existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { errorCode } from '../../../adapters/files/errors.ts'
import type { Output } from '../../output.ts'
import { UsageError } from '../../usage.ts'

/** @throws UsageError for a file that exists */
export function requireNew(to: string): void {
  if (to !== '-' && existsSync(to)) throw new UsageError(`${to} exists: give the name of a new file`)
}

/** @param to a file that only this user may read, or `-` for standard output */
export async function writeTexts(texts: AsyncIterable<string>, to: string, out: Output): Promise<void> {
  if (to === '-') {
    for await (const text of texts) if (text !== '') out.line(text.replace(/\n$/, ''))
    return
  }
  const unfinished = `${to}.unfinished`
  // Of the file alone: that the texts cannot be read is another fault.
  const written = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw new UsageError(`${to} cannot be written (${errorCode(error)}): choose another place`, { cause: error })
    })
  try {
    // What an earlier export has left may be readable for others.
    await written(rm(unfinished, { force: true }))
    const file = await written(open(unfinished, 'wx', 0o600))
    try {
      for await (const text of texts) await written(file.appendFile(text))
      await written(file.sync())
    } finally {
      await file.close()
    }
    await written(rename(unfinished, to))
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined)
    throw error
  }
}
