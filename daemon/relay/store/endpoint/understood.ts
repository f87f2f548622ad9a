/** Whether this version of the relay understands an endpoint. One that it does not is set aside: it is sent nothing, and its events wait. */
import { notUnderstood } from '../../../../lib/outbox/requires.ts'
import type { Endpoint } from './relay-endpoint.ts'

/** Why an endpoint is set aside, for a person; `undefined` if it is not. */
export const whySetAside = ({ requires, set_aside }: Pick<Endpoint, 'requires' | 'set_aside'>): string | undefined =>
  notUnderstood(requires) ?? (set_aside ? 'this version of the relay cannot use its definition: register it again' : undefined)
