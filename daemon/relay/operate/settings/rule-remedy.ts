/** What lifts a rule that keeps the relay from sending to an endpoint. */
import { amongIts } from '../../send/guard.ts'

/**
 * The option that lifts a rule; empty if there is none.
 * @param reason why nothing is sent, as the guard says it
 */
export function ruleRemedy(reason: string): string {
  if (reason.includes('http: is not allowed')) return '--allow-http, or the setting `allowHttp`, allows plain HTTP'
  if (reason.includes(amongIts)) return 'folkmoot endpoints update --allow-addresses changes them'
  if (reason.includes('public address'))
    return '--allow-addresses, or the setting `allowAddresses`, allows such addresses; for development, --allow-private allows all'
  if (reason.startsWith('port ')) return 'the setting `ports` allows more ports'
  return ''
}
