/**
 * Messages to PostgreSQL, written one behind the other into one buffer. `pg` makes a buffer for each of them, and a stream that
 * takes a dozen of them costs more than their content.
 *
 * Terms, as in "Message Formats" of PostgreSQL's manual
 * - **Parse** prepares a statement. **Bind** gives it values. **Execute** runs it.
 * - **Sync** ends a batch: PostgreSQL responds, and takes the next one.
 */

const [parse, bind, execute, sync] = ['P', 'B', 'E', 'S'].map((letter) => letter.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
]

/** Bytes that are kept for the next messages. Larger ones have a separate buffer. */
const kept = 64 * 1024

/** Shared by all connections: each batch is written and taken in one go. */
const shared = Buffer.allocUnsafe(kept)
let buffer = shared
let length = 0

/** Makes room for that many further bytes. */
function reserve(bytes: number): void {
  if (length + bytes <= buffer.length) return
  const larger = Buffer.allocUnsafe(2 * (length + bytes))
  buffer.copy(larger, 0, 0, length)
  buffer = larger
}

function writeInt16(value: number): void {
  reserve(2)
  length = buffer.writeInt16BE(value, length)
}

function writeInt32(value: number): void {
  reserve(4)
  length = buffer.writeInt32BE(value, length)
}

/** A text with its length before it. */
function writeValue(text: string): void {
  // A unit of UTF-16 takes three bytes at most.
  reserve(4 + 3 * text.length)
  const bytes = buffer.write(text, length + 4)
  buffer.writeInt32BE(bytes, length)
  length += 4 + bytes
}

function writeNullable(text: string | null): void {
  if (text === null) writeInt32(-1)
  else writeValue(text)
}

/** A text with a zero behind it. */
function writeName(text: string): void {
  reserve(3 * text.length + 1)
  length += buffer.write(text, length)
  buffer[length++] = 0
}

/** @returns the place of the message's length */
function begin(letter: number): number {
  reserve(5)
  buffer[length] = letter
  length += 5
  return length - 4
}

const end = (place: number): void => void buffer.writeInt32BE(length - place, place)

/** @param name empty for a statement that is used once */
export function writeParse(name: string, text: string): void {
  const place = begin(parse)
  writeName(name)
  writeName(text)
  // PostgreSQL finds out the types of the parameters.
  writeInt16(0)
  end(place)
}

/** @param values as texts */
export function writeBind(name: string, values: readonly (string | null)[]): void {
  const place = begin(bind)
  writeName('')
  writeName(name)
  // No formats: all are text.
  writeInt16(0)
  writeInt16(values.length)
  for (const value of values) writeNullable(value)
  // The values of the response are text.
  writeInt16(0)
  end(place)
}

/** Runs what was bound, up to its last row. */
export function writeExecute(): void {
  const place = begin(execute)
  writeName('')
  writeInt32(0)
  end(place)
}

export const writeSync = (): void => end(begin(sync))

/** All messages since the last call. */
export function takeMessages(): Buffer {
  const messages = buffer === shared ? Buffer.from(buffer.subarray(0, length)) : buffer.subarray(0, length)
  forgetMessages()
  return messages
}

/** Leaves out all messages since the last call of `takeMessages`, if one of them could not be written. */
export function forgetMessages(): void {
  buffer = shared
  length = 0
}
