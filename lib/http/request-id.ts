/**
 * The id of a request in the host: the response to a fault shows it, and its report too. So both are in the host's log under one
 * id.
 */
import type { Incoming } from './exchange.ts'

/** It leaves in a response and enters logs, and it may be a header of any caller: so it is short, and plain. */
const usable = /^[\w.:;/+=@-]{1,128}$/

/** @returns `undefined` if the host has none, or one that cannot be shown */
export function requestIdOf({ requestId }: Pick<Incoming, 'requestId'>): string | undefined {
  const given = requestId?.()
  const id = typeof given === 'number' ? String(given) : given
  return typeof id === 'string' && usable.test(id) ? id : undefined
}
