/**
 * Starts the control of a server: next to the file that the server holds alone, else in a temporary directory. There is a note about
 * it in such a directory in both cases.
 */
import { rm } from 'node:fs/promises'
import { pid } from 'node:process'
import { realPath } from '../../../adapters/files/process-lock.ts'
import type { Log } from '../operate/log.ts'
import { storageName } from '../storage/name.ts'
import { fileOfStorage } from '../storage/open.ts'
import type { ServedOperator } from './calls.ts'
import { controlFileIn, makeControlDirectory, noteServer } from './own-directory.ts'
import { controlFileOf } from './place.ts'
import { startControl } from './serve-control.ts'

/** The control of a server: commands for its storage, and links to its panel. */
export async function controlOf(
  operator: ServedOperator,
  storage: string,
  url: string,
  log: Log,
): Promise<{ readonly file: string; close(): Promise<void> } | undefined> {
  let own: string | undefined
  const tidy = async () => {
    if (own !== undefined) await rm(own, { recursive: true, force: true })
  }
  try {
    const held = storage.startsWith('lowdb:') ? fileOfStorage(storage) : undefined
    // Next to a file the control works without a temporary directory; it is found by that file alone then.
    own = await makeControlDirectory().catch((error: unknown) => {
      if (held === undefined) throw error
      return undefined
    })
    const file = held === undefined ? controlFileIn(own ?? '') : controlFileOf(await realPath(held))
    const control = await startControl({
      operator,
      file,
      onFault: (what, error) => log.fault(what, error),
    })
    if (own !== undefined) {
      const note = { pid, control: file, storage: await storageName(storage), url }
      await noteServer(own, note).catch(() => undefined)
    }
    return { file, close: () => control.close().finally(tidy) }
  } catch (error) {
    await tidy()
    log.warn(`commands cannot reach this server: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
}
