/** Links in a `Link` header (RFC 8288), such as `<…?page=2>; title="a, b"; rel="next"`. */

/** So much of a header is read. */
const maxHeader = 8192

const target = /[\s,]*<([^>]*)>/y
const parameter = /\s*;\s*([^\s=;,"]*)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/y

/**
 * The target of the first link with a relation type.
 * @param relation its name in lower case; a link may have several, set apart by spaces
 * @returns null if no link has it, or if the header ends in what is no link
 */
export function linkIn(header: string | null, relation: string): string | null {
  const text = (header ?? '').slice(0, maxHeader)
  let at = 0
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    at = match ? pattern.lastIndex : at
    return match
  }
  for (let link = next(target); link; link = next(target)) {
    let relations: string | undefined
    for (let found = next(parameter); found; found = next(parameter)) {
      const [, name = '', quoted, plain = ''] = found
      // Of several `rel`, only the first one counts.
      if (name.toLowerCase() === 'rel') relations ??= quoted?.replace(/\\(.)/g, '$1') ?? plain
    }
    if (relations?.toLowerCase().split(/\s+/).includes(relation)) return link[1] ?? null
  }
  return null
}
