/** Writes the texts of an export, to standard output or to a file that is there under its name only when it is whole. */
import { once } from 'node:events'
import { createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
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
  const file = createWriteStream(unfinished, { mode: 0o600, flush: true })
  try {
    await once(file, 'open')
    for await (const text of texts) if (!file.write(text)) await once(file, 'drain')
    file.end()
    await once(file, 'finish')
    await rename(unfinished, to)
  } catch (error) {
    file.destroy()
    await rm(unfinished, { force: true }).catch(() => undefined)
    throw error instanceof Error && 'code' in error && 'syscall' in error
      ? new UsageError(`${to} cannot be written (${String(error.code)}): choose another place`)
      : error
  }
}
