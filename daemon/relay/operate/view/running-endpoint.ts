/** Work of a running relay on one of its endpoints. */
import type { TestAnswer } from '../../../../lib/relay/relay-view.ts'
import type { Relay } from '../../relay.ts'
import { sendTest } from '../../send/test-delivery.ts'
import type { Endpoint } from '../../store/endpoint/relay-endpoint.ts'

/** Why an endpoint is sent nothing that a person has disabled. */
export const pausedByPerson = 'a person paused it'

/** The endpoint of a network with this id, as the relay sends to it. */
export const endpointIn = async ({ store }: Relay, network: string, id: string): Promise<Endpoint | undefined> =>
  (await store.endpoints()).map(({ endpoint }) => endpoint).find((each) => each.network_id === network && each.id === id)

/** Sends a test event. A delivered one closes the circuit, because it is as good as a probe. */
export async function testThrough(relay: Relay, endpoint: Endpoint): Promise<TestAnswer> {
  const { scheduler, settings, userAgent, tlsFiles } = relay
  const tested = await sendTest(endpoint, scheduler.open, settings, userAgent, tlsFiles)
  const { result, status, reason, milliseconds, answer, answerHeaders } = tested
  if (result === 'delivered') await relay.closeCircuit(endpoint.ref)
  return { outcome: result, status, reason, milliseconds, answer: answer ?? null, answer_headers: answerHeaders ?? null }
}
