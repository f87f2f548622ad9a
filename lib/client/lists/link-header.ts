/** Links in a `Link` header (RFC 8288), such as `<…?page=2>; title="a, b"; rel="next"`. */

/** A longer header is not read, in characters. */
export const maxLinkHeader = 65_536

const target = /[\s,]*<([^>]*)>/y
// A value without quotes may have spaces: some servers write titles so.
const parameter = /\s*;([^=;,"]*)(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^;,"]*)))?/y

/**
 * The target of the first link with a relation type.
 * @param header at most `maxLinkHeader` characters
 * @param relation in lower case; a link may have several, set apart by spaces
 * @returns null if no link has it
 */
export function linkIn(header: string, relation: string): string | null {
  let at = 0
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const match = pattern.exec(header)
    at = match ? pattern.lastIndex : at
    return match
  }
  for (let link = next(target); link; link = next(target)) {
    let relations: string | undefined
    for (let found = next(parameter); found; found = next(parameter)) {
      const [, name = '', quoted, plain = ''] = found
      // Of several `rel`, only the first one counts.
      if (name.trim().toLowerCase() === 'rel') relations ??= quoted ?? plain
    }
    if (relations?.toLowerCase().split(/\s+/).includes(relation)) return link[1] || null
  }
  return null
}
