/** Names of events, as people type them. */
import { catalogue, hostEventName, type WebhookName, webhookName } from '../../../lib/events/catalogue.ts'
import { similarNames } from '../../../lib/events/similar-names.ts'
import { UsageError } from '../../usage.ts'

/**
 * The event that a person means, with or without `Hook`.
 * @throws UsageError with the nearest names
 */
export function eventNamed(given: string): WebhookName {
  const name = webhookName(given)
  if (name) return name
  if (hostEventName(given)) throw new UsageError(`${given} is the host's own mail to send, and no event for integrations`)
  const near = similarNames(given, Object.keys(catalogue))
  const remedy = near.length > 0 ? `did you mean ${near.join(' or ')}?` : '`folkmoot trigger --list` shows all'
  throw new UsageError(`there is no event ${JSON.stringify(given.slice(0, 100))}: ${remedy}`)
}
