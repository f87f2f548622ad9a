/** Starts the control of a server: beside the file that the server holds alone, else in a temporary directory. */
import { rm } from 'node:fs/promises'
import { realPath } from '../../../adapters/files/process-lock.ts'
import type { Log } from '../operate/log.ts'
import { fileOfStorage } from '../storage/open.ts'
import type { ServedOperator } from './calls.ts'
import { controlFileIn, makeControlDirectory } from './own-directory.ts'
import { controlFileOf } from './place.ts'
import { startControl } from './serve-control.ts'

/** The control of a server: commands for its storage, and links to its panel. */
export async function controlOf(
  operator: ServedOperator,
  storage: string,
  log: Log,
): Promise<{ readonly file: string; close(): Promise<void> } | undefined> {
  let own: string | undefined
  const tidy = async () => {
    if (own !== undefined) await rm(own, { recursive: true, force: true })
  }
  try {
    const held = storage.startsWith('lowdb:') ? fileOfStorage(storage) : undefined
    if (held === undefined) own = await makeControlDirectory()
    const file = own === undefined ? controlFileOf(await realPath(held ?? '')) : controlFileIn(own)
    const control = await startControl({
      operator,
      file,
      onFault: (error, call) => log.fault('in the control', error, { call }),
    })
    return { file, close: () => control.close().finally(tidy) }
  } catch (error) {
    await tidy()
    log.warn(`commands cannot reach this server: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
}
