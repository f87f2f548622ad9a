/** Which endpoints are this relay's, where several share a store: it gets some, gives some away, and loses all of them with its lease. */
import type { RelayEvents } from '../../events.ts'
import type { Sender } from '../../send/sender.ts'
import { LeaseLost, type RelayStore, type StoreChanges } from '../../store/store.ts'
import type { InFlight } from '../choose/in-flight.ts'
import type { Endpoints } from '../tick/endpoints.ts'

export interface OwnershipParts {
  readonly store: RelayStore
  readonly sender: Pick<Sender, 'abort'>
  readonly timeline: () => number
  readonly events: Required<RelayEvents>
  readonly endpoints: Endpoints
  readonly inFlight: InFlight
}

export interface Ownership {
  /** Whether the lease of everything here is over. */
  readonly isLost: boolean
  /** Takes note of what others changed; `applyChanges` applies it. */
  follow(changes: StoreChanges): void
  /** Takes note of new deliveries for these endpoints: after all changes that came before them. */
  expect(refs: Iterable<number>): void
  /** @throws LeaseLost */
  applyChanges(): void
  /** Gives away what is wanted elsewhere, once nothing of it is in flight. @throws LeaseLost */
  release(): Promise<void>
  /** Forgets everything: another relay sends to these endpoints by now. */
  lose(reason: LeaseLost): void
  regain(): Promise<void>
}

const nothing = { lost: false, changed: [], gained: [], gone: [], wanted: [], notices: [] } as const

export function createOwnership({ store, sender, timeline, events, endpoints, inFlight }: OwnershipParts): Ownership {
  const pending: StoreChanges[] = []
  let isLost = false

  function apply(changes: StoreChanges): void {
    for (const notice of changes.notices) events.onNotice(notice)
    if (changes.lease !== store.lease) return
    if (changes.lost) throw new LeaseLost('the store reports it')
    for (const each of changes.gained) if (!endpoints.get(each.endpoint.ref)) endpoints.add(each)
    for (const endpoint of changes.changed) endpoints.define(endpoint)
    for (const ref of changes.gone) endpoints.remove(ref)
    if (changes.touched === 'all') for (const { endpoint } of endpoints.values()) endpoints.refresh(endpoint.ref)
    else for (const ref of changes.touched) endpoints.expect(ref)
    for (const ref of changes.wanted) endpoints.want(ref)
  }

  return {
    get isLost() {
      return isLost
    },
    follow(changes) {
      pending.push(changes)
    },
    expect(refs) {
      // In the middle of a tick they would be sent to endpoints as they were.
      if (pending.length > 0) pending.push({ ...nothing, lease: store.lease, touched: [...refs] })
      else for (const ref of refs) endpoints.expect(ref)
    },
    applyChanges() {
      for (const changes of pending.splice(0)) apply(changes)
      // Without waiting until the store says so: each tick here takes long.
      if (store.isAside) for (const { endpoint } of endpoints.values()) endpoints.want(endpoint.ref)
    },
    async release() {
      const refs = endpoints.takeLeaving()
      if (refs.length > 0) await store.release(refs)
    },
    lose(reason) {
      events.onFault('the lease was lost: other relays have its endpoints now', reason)
      isLost = true
      sender.abort('the lease was lost')
      for (const run of endpoints.values()) {
        endpoints.remove(run.endpoint.ref)
        run.forgetInFlight()
      }
      inFlight.clear()
    },
    async regain() {
      const recovered = await store.recover(timeline())
      isLost = false
      for (const each of recovered.endpoints) endpoints.add(each)
      for (const notice of recovered.notices) events.onNotice(notice)
    },
  }
}
