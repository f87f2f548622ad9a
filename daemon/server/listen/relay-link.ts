/** The relay behind `folkmoot listen`: whether it runs, a test delivery through it, and its view of the endpoint. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { withPasswordLeftOut } from '../../../adapters/sql/postgres/address.ts'
import { isStorageError } from '../../../lib/storage/contract.ts'
import { openOperatorStore } from '../../relay/open-store.ts'
import { testEvent } from '../../relay/send/test-delivery.ts'
import type { OperatorStore, StoredStatus } from '../../relay/store/operator/operator-store.ts'
import { about, Ended, UsageError } from '../../usage.ts'

export interface Registered {
  readonly id: string
  readonly network_id: string
}

export interface RelayLink {
  /**
   * Has the running relay deliver a test to the endpoint, and waits until it has come back.
   * @param arrived resolves when the delivery with this id has come
   * @throws Ended why it does not come
   */
  connect(arrived: (event_id: string) => Promise<void>, signal: AbortSignal): Promise<void>
  /** The endpoint as the relay has it, or undefined while no relay runs. */
  status(): Promise<StoredStatus | undefined>
  close(): Promise<void>
}

/** Milliseconds for the relay to start, to read the registration, and to deliver the test; and between looks. */
const patience = 20_000
const interval = 200

export function createRelayLink(outbox: string, { id, network_id }: Registered, now: () => number): RelayLink {
  let store: OperatorStore | undefined
  const shown = withPasswordLeftOut(outbox)

  /** The store, once a relay has made it. */
  async function opened(): Promise<OperatorStore | undefined> {
    try {
      store ??= await openOperatorStore(outbox)
      return store
    } catch (error) {
      if (error instanceof UsageError || isStorageError(error)) return undefined
      throw error
    }
  }

  const isOurs = (each: { readonly endpoint_id: string; readonly network_id: string }) =>
    each.endpoint_id === id && each.network_id === network_id

  /** Tries again until there is a result or no patience left. */
  async function eventually<T>(look: () => Promise<T | undefined>, late: string, signal: AbortSignal): Promise<T> {
    const end = now() + patience
    for (;;) {
      const found = await look()
      if (found !== undefined) return found
      if (now() > end) throw about(new Ended(late), 'server', 'storage')
      await sleep(interval, undefined, { signal })
    }
  }

  const none = `no relay runs on ${shown}: start the server with --relay, or start \`folkmoot-relay run --outbox ${shown}\``
  const running = async () => {
    const found = await opened()
    return found && (await found.relays()).length > 0 ? found : undefined
  }

  return {
    async connect(arrived, signal) {
      const found = await eventually(running, none, signal)
      const endpoint = await eventually(
        async () => (await found.knownEndpoints()).find((each) => each.id === id && each.network_id === network_id),
        `the relay on ${shown} has not read the registration: look at its log`,
        signal,
      )
      const test = testEvent(randomUUID(), now(), 'folkmoot listen is connected.')
      let isThere = false
      void arrived(test.event_id).then(() => {
        isThere = true
      })
      await found.deliver(endpoint, { kind: 'event', audience: 'integration', network_id, ...test }, now())
      await eventually(
        async () => {
          if (isThere) return true
          const [delivery] = await found.deliveries({ event_id: test.event_id, limit: 1 })
          if (delivery?.last_outcome && delivery.last_outcome !== 'delivered')
            throw new Ended(refusal(delivery.last_outcome, (await found.endpoints()).find(isOurs)?.last_error ?? null))
          return undefined
        },
        `the relay on ${shown} does not deliver: look at \`folkmoot-relay status\` and its log`,
        signal,
      )
    },
    async status() {
      const found = await running()
      return (await found?.endpoints())?.find(isOurs)
    },
    async close() {
      await store?.close()
    },
  }
}

/** The sentence about a relay whose rules forbid this machine, with the remedy. */
export const mayNotReach =
  'the relay may not reach this machine: start the server with --demo --relay --allow-http, or `folkmoot-relay run` with --allow-http --allow-private'

const refusal = (outcome: string, reason: string | null): string =>
  outcome === 'blocked' ? mayNotReach : `the relay cannot deliver the test: ${reason ?? outcome}`
