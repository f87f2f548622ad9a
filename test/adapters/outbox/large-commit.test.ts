/** The end of a large commit, wherever the pieces lie in which its file is searched. */
import { describe, expect, test } from 'vitest'
import type { OpenFile } from '../../../adapters/files/file-system.ts'
import { hasEnd } from '../../../adapters/outbox/large-commit.ts'
import { encodeLine } from '../../support/outbox-line.ts'
import { event } from './support.ts'

const commit = '0198f1f0-0000-7000-8000-000000000001'
const pieceBytes = 1024 * 1024
const record = event('a', 'a'.repeat(300))
const lastLine = encodeLine([record], { commit, last: true, number: 1 })
const otherLine = encodeLine([record])
const filler = Buffer.alloc(pieceBytes, 'x')

/** Bytes as a file that is open for reading. */
const opened = (bytes: Buffer) =>
  ({ read: async (into, position) => bytes.copy(into, 0, position, position + into.length) }) as OpenFile

/** Whether the end is found in a file whose first piece has so many bytes of the line, and the second one the others. */
function isFound(line: Uint8Array, first: number): Promise<boolean> {
  const bytes = Buffer.concat([filler.subarray(0, pieceBytes - first - 1), Buffer.from('\n'), line])
  return hasEnd(opened(bytes), commit, 0, bytes.length)
}

const places = Array.from({ length: 200 }, (_, place) => place)

describe('the end of a large commit', () => {
  test('is found in its last line, wherever a piece ends', async () => {
    for (const first of places) expect(await isFound(lastLine, first), `${first} bytes in the first piece`).toBe(true)
  })

  test('is found before a line of another commit, wherever a piece ends', async () => {
    for (const first of places) expect(await isFound(otherLine, first), `${first} bytes in the first piece`).toBe(true)
  })

  test('is not found while the newline of its last line is missing, or in lines of the commit that are not the last', async () => {
    const middleLine = encodeLine([record], { commit, last: false, number: 0 })
    for (const first of [0, 1, 30, 75, 150]) {
      expect(await isFound(lastLine.subarray(0, -1), first)).toBe(false)
      expect(await isFound(middleLine, first)).toBe(false)
    }
  })
})
