/** The faults, each with its meaning. */
export const faultKinds = {
  429: 'too many requests, with Retry-After',
  500: 'internal server error',
  502: 'bad gateway, in HTML, as a proxy answers',
  503: 'the storage is busy, with Retry-After',
  504: 'gateway time-out, in HTML, as a proxy answers',
  drop: 'the connection closes before the operation',
  'drop-after': 'the operation is done, then the connection closes without an answer',
  stall: 'no answer at all',
} as const

export type FaultKind = `${keyof typeof faultKinds}`
