/** Deliveries that are suspected of killing the relay. */
import type { Notice } from './store.ts'

/** A delivery that was in flight this often when a relay died is taken for the reason of it. */
export const poisonInterruptions = 3

/** What people are told about it. */
export const poisonNotice = (of: Pick<Notice, 'network_id' | 'endpoint_id' | 'event_id'>): Notice => ({
  ...of,
  kind: 'delivery.poisoned',
  text: `the relay crashed ${poisonInterruptions} times while this delivery was in flight; the delivery is set aside`,
})
