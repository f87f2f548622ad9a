/** The faults, each with its meaning. */
export const faultKinds = {
  429: 'too many requests, with Retry-After',
  500: 'internal server error',
  502: 'bad gateway, in HTML, as from a proxy',
  503: 'the storage is busy, with Retry-After',
  504: 'gateway time-out, in HTML, as from a proxy',
  drop: 'the connection closes before the operation',
  'drop-after': 'the operation is done, then the connection closes without a response',
  stall: 'no response at all',
} as const

export type FaultKind = `${keyof typeof faultKinds}`
