/** Whether an endpoint is sent anything, and if not, why. Pure: the one place in which that changes. */
import { type OpenEndpoint, opened, type PlainCredentials, type Reading } from '../../send/credentials.ts'
import type { Endpoint } from '../../store/endpoint/relay-endpoint.ts'

/** Its key and secrets, which may be encrypted. */
type Readable = { readonly kind: 'readable'; readonly plain: PlainCredentials }
type Unreadable = { readonly kind: 'unreadable'; readonly problem: string }
/** They are being read. `problem`: why they could not be read the last time. */
type BeingRead = { readonly kind: 'reading'; readonly problem: string | null }

interface Facts {
  readonly endpoint: Endpoint
  readonly credentials: Readable | Unreadable | BeingRead
}

export type SendingState =
  /** It is sent what waits for it. `opened`: the endpoint that its attempts get. */
  | (Facts & { readonly kind: 'active'; readonly credentials: Readable; readonly opened: OpenEndpoint })
  /** Its credentials are being read. */
  | (Facts & { readonly kind: 'reading'; readonly credentials: BeingRead })
  /** Its credentials cannot be decrypted. */
  | (Facts & { readonly kind: 'unreadable'; readonly credentials: Unreadable })
  /** Its definition turns it off. */
  | (Facts & { readonly kind: 'off' })
  /** The relay itself has stopped sending to it. */
  | (Facts & { readonly kind: 'disabled' })
  /** Another relay is to have it: released as soon as nothing of it is in flight. */
  | (Facts & { readonly kind: 'leaving' })
  /** It is gone, or another relay has it. */
  | (Facts & { readonly kind: 'removed' })

export type StateChange =
  | { readonly kind: 'defined'; readonly endpoint: Endpoint }
  | Reading
  | { readonly kind: 'disabled'; readonly reason: string }
  /** Another relay is to have it. */
  | { readonly kind: 'wanted' }
  | { readonly kind: 'removed' }

/** @param problem why the credentials could not be read when that was last recorded */
export const initialState = (endpoint: Endpoint, problem: string | null): SendingState =>
  stateOf({ endpoint, credentials: { kind: 'reading', problem } })

/** Why the credentials cannot be read, as far as is known. */
export const unreadableFor = ({ credentials }: SendingState): string | null =>
  credentials.kind === 'readable' ? null : credentials.problem

export function transition(state: SendingState, change: StateChange): SendingState {
  if (change.kind === 'removed') return { ...factsOf(state), kind: 'removed' }
  const facts = { ...factsOf(state), ...changed(state, change) }
  // Neither ends: its next relay begins with a new state.
  if (state.kind === 'removed') return { ...facts, kind: 'removed' }
  if (state.kind === 'leaving' || change.kind === 'wanted') return { ...facts, kind: 'leaving' }
  return stateOf(facts)
}

const factsOf = ({ endpoint, credentials }: SendingState): Facts => ({ endpoint, credentials })

function changed(state: SendingState, change: Exclude<StateChange, { kind: 'removed' }>): Partial<Facts> {
  switch (change.kind) {
    case 'defined':
      return { endpoint: change.endpoint }
    case 'disabled':
      return { endpoint: { ...state.endpoint, disabled: change.reason } }
    case 'reading':
      return { credentials: { kind: 'reading', problem: unreadableFor(state) } }
    case 'read':
      return { credentials: { kind: 'readable', plain: change.plain } }
    case 'unreadable':
      return { credentials: change }
    case 'wanted':
      return {}
  }
}

function stateOf({ endpoint, credentials }: Facts): SendingState {
  if (endpoint.disabled !== null) return { kind: 'disabled', endpoint, credentials }
  if (!endpoint.enabled) return { kind: 'off', endpoint, credentials }
  switch (credentials.kind) {
    case 'readable':
      return { kind: 'active', endpoint, credentials, opened: opened(endpoint, credentials.plain) }
    case 'unreadable':
      return { kind: 'unreadable', endpoint, credentials }
    case 'reading':
      return { kind: 'reading', endpoint, credentials }
  }
}
