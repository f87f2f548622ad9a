import { statfsSync } from 'node:fs'

/** Bytes that are left on the disk of a path; infinitely many where a file system does not count its blocks. */
export function bytesLeft(path: string): number {
  const { blocks, bavail, bsize } = statfsSync(path)
  return blocks > 0 ? bavail * bsize : Number.POSITIVE_INFINITY
}
