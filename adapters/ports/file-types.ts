/** File types by their bytes, with file-type (docs/decisions/dependencies.md). */
import type { FileType, FileTypes } from '../../lib/ports.ts'

const unknown: FileType = { content_type: 'application/octet-stream', extension: 'bin' }
const plainText: FileType = { content_type: 'text/plain', extension: 'txt' }

/** Types that a browser may run as a page of their origin: they are served only as downloads. */
const runnable = /^(?:text\/(?:html|xml|javascript)|application\/(?:[\w.+-]*\+)?(?:xml|javascript)|image\/svg\+xml)\b/

/**
 * The port `fileTypes`.
 * @returns a port that reads the bytes alone. A type that a browser could run becomes `application/octet-stream`.
 */
export function fileTypes(): FileTypes {
  return {
    async sniff(bytes) {
      // It loads with the first upload, because a server starts much sooner without it.
      const { fileTypeFromBuffer } = await import('file-type')
      const found = await fileTypeFromBuffer(bytes)
      if (found) return runnable.test(found.mime) ? unknown : { content_type: found.mime, extension: found.ext }
      return isText(bytes) ? plainText : unknown
    },
  }
}

// No byte pattern marks a text: it is one if it decodes. A page or a script that nothing marked is shown as its source.
function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
