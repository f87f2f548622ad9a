/** A body that arrives in parts. */
import { joined } from '../base/bytes.ts'

/**
 * A part costs about 200 bytes of memory besides its own, and a client may send a body byte by byte. So this many parts in a row
 * become one, unless they are longer than that on average.
 */
const runLength = 256

export interface Pieces {
  add(part: Uint8Array): void
  /** All of them in one piece. */
  whole(): Uint8Array
}

export function createPieces(): Pieces {
  const pieces: Uint8Array[] = []
  let runStart = 0
  let runBytes = 0
  return {
    add(part) {
      pieces.push(part)
      runBytes += part.length
      if (pieces.length - runStart < runLength) return
      if (runBytes <= runLength * runLength) pieces.push(joined(pieces.splice(runStart)))
      runStart = pieces.length
      runBytes = 0
    },
    whole: () => (pieces.length === 1 && pieces[0] ? pieces[0] : joined(pieces)),
  }
}
