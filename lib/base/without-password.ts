/** Addresses for people and logs. Whatever is given as an address, its password is never in a message. */

/** A place on a disk, whose name may have any characters. */
const local = /^(?:sqlite|lowdb|memory|file):(?![\\/]{2})|^[a-z]:[\\/]/i
/** Before the user of an address: its scheme, and what stands around it, such as quotation marks. */
const beginning = /^(?:[\s\S]*?:[\\/]{2,}|[^\w./\\]*(?:[a-z][\w+.-]+:(?=[^@]*@))?[\\/]*)/i
const parameters =
  /(\w*(?:pass(?:word|wd|phrase)?|pwd|secret|token|api_?key)\w*\s*=\s*)(?:'(?:[^'\\]|\\.)*'|"[^"]*"|[^&;\s"']*)/gi

/**
 * An address without the password that it may hold: `postgres://user:***@host/name`. Whatever its scheme is, and if it has none. What
 * stands before the last `@` counts as a password, because passwords have characters that they may not have. It may be a sentence with
 * an address in it.
 */
export function withoutPassword(address: string): string {
  const shown = address.replace(parameters, '$1***')
  if (local.test(shown)) return shown
  const [before = ''] = beginning.exec(shown) ?? []
  const rest = shown.slice(before.length)
  // A `@` in the value of a parameter is none of the address.
  const parameter = rest.search(/\?[\w.%-]+=/)
  const at = (parameter === -1 ? rest : rest.slice(0, parameter)).lastIndexOf('@')
  if (at === -1) return shown
  const user = rest.slice(0, at)
  const colon = user.indexOf(':')
  if (colon !== -1) return `${before}${user.slice(0, colon)}:***${rest.slice(at)}`
  // A user alone is a token in some addresses. A path may have a `@` too.
  return /^\W*postgres/i.test(before) || before === '' || /[\\/]/.test(user) ? shown : `${before}***${rest.slice(at)}`
}
