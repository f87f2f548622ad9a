/** The port of an origin, which an address leaves out if it is the usual one. */
export function portOf(origin: string | URL): number {
  const { port, protocol } = typeof origin === 'string' ? new URL(origin) : origin
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}
