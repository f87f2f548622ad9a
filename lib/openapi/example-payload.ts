/** An event with example data, for tests of endpoints. */
import { payloadSchema, type WebhookName } from '../events/catalogue.ts'
import { defaultTextLimits } from '../fields.ts'
import { exampleOf } from './example.ts'
import { schemaWriter } from './schema.ts'

/** The example of a payload as an event of this network. */
export function examplePayload(name: WebhookName, network_id: string): unknown {
  const writer = schemaWriter({ ids: 'string', limits: defaultTextLimits })
  const text = JSON.stringify(exampleOf(writer.of(payloadSchema(name)), writer.components))
  return JSON.parse(text, (key, value: unknown) => (key === 'network_id' ? network_id : value))
}
