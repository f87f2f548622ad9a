/** The port of an origin, which an address leaves out if it is the usual one. */
export function portOf(origin: string): number {
  const { port, protocol } = new URL(origin)
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}
