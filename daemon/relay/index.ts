/** `folkmoot/relay`: the relay inside of a host's own process. The public surface; nothing is declared here. */
import '../../adapters/node-version.ts'

export type { EndpointStatus } from '../../lib/relay/relay-admin.ts'
export { type EmbeddedRelay, type EmbeddedRelayOptions, type RelayStatus, startRelay } from './embedded.ts'
export type { AttemptReport, RelayEvents } from './events.ts'
export { type Settings, SettingsError } from './settings.ts'
export type { Notice } from './store/notice.ts'
