/** Reading and writing files to a length or to their end. */
import type { FileSystem, OpenFile } from './file-system.ts'

/** So many bytes from an offset on, or fewer where the file ends. */
export async function readBytes(file: OpenFile, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const count = await file.read(bytes.subarray(filled), from + filled)
    if (count <= 0) break
    filled += count
  }
  return bytes.subarray(0, filled)
}

/** The beginning of a small file, as text. */
export async function readText(files: FileSystem, path: string): Promise<string> {
  const file = await files.open(path)
  try {
    return (await readBytes(file, 0, 4096)).toString('utf8')
  } finally {
    await file.close()
  }
}

/** One write when the file system takes all of it in one call, which is the rule. */
export async function writeWhole(file: OpenFile, bytes: Uint8Array, position = 0): Promise<void> {
  let written = 0
  while (written < bytes.length) {
    const count = await file.write(written === 0 ? bytes : bytes.subarray(written), position + written)
    if (count <= 0) throw new Error('the file system accepted no more bytes')
    written += count
  }
}
