/** Whether this version of the relay supports an endpoint. One that it doesn't is set aside: nothing is sent, and its events wait. */
import { unsupportedReason } from '../../../../lib/outbox/requires.ts'
import type { Endpoint } from './relay-endpoint.ts'

/** Why an endpoint is set aside, for a person; `undefined` if it is not. */
export const whyUnsupported = ({ requires, set_aside }: Pick<Endpoint, 'requires' | 'set_aside'>): string | undefined =>
  unsupportedReason(requires) ??
  (set_aside ? 'this version of the relay cannot use its definition: register it again' : undefined)
