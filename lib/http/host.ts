/** Names of hosts. This file stands alone, because the adapters of frameworks load nothing else of the library for it. */

// A host name or address with an optional port, and nothing that could carry a path or markup into a link.
const hostPattern = /^(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{0,5})?$/i
/** The last one that was a host. It is nearly always the same, and to parse it takes half a microsecond. */
let lastHost: string | undefined

/** Whether a URL can be made of it, as it cannot of `256.1.1.1`, of `[:::]` and with the port 99999. */
export function isHost(text: string): boolean {
  if (text === lastHost) return true
  if (!hostPattern.test(text) || !URL.parse(`http://${text}`)) return false
  lastHost = text
  return true
}
