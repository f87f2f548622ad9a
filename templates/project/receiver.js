/** Receives the webhooks. In another program, give it the token and secrets that `folkmoot endpoints add` prints. */
import { memoryStore, respond } from 'folkmoot/receiver'

/** A function that verifies a request and responds to it. `onEvent` is called once for each event; if it throws, the relay retries. */
export function createReceiver(credentials, onEvent) {
  const store = memoryStore()
  return async (request) => {
    const { token, secrets } = await credentials
    return respond(request, { token: token ?? [], secrets, store }, ({ event }) => onEvent(event))
  }
}
