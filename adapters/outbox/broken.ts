/** Keeps damaged bytes for inspection by a person. */
import { join } from 'node:path'
import { errorCode } from '../files/errors.ts'
import type { FileSystem } from '../files/file-system.ts'

/**
 * Copies damaged bytes to `<segment>.<offset>.broken`. Called again for the same bytes, it makes the same file: a crash
 * between the copy and the position leads here twice.
 */
export async function setAside(
  files: FileSystem,
  directory: string,
  segment: string,
  offset: number,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  const path = join(directory, `${segment}.${offset}.broken`)
  await files.remove(path).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error
  })
  const file = await files.create(path)
  try {
    let end = 0
    for await (const bytes of pieces)
      for (let written = 0; written < bytes.length; ) {
        const count = await file.write(bytes.subarray(written), end)
        if (count <= 0) throw new Error(`${path} accepts no more bytes`)
        written += count
        end += count
      }
    await file.sync()
  } finally {
    await file.close()
  }
}
