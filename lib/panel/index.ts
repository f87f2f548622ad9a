/** `folkmoot/panel`: the admin panel. The public surface; nothing is declared here. */
import '../base/supported-runtime.ts'

export { type RelayControlOptions, relayAdminOverControl } from '../relay/control-client.ts'
export type * from '../relay/relay-admin.ts'
export type { PanelOptions } from './options.ts'
export { createPanel, type Panel } from './panel.ts'
export type { Authorize, PanelAction, Visitor } from './request/access.ts'
export { panelActions } from './request/access.ts'
export type { Brand } from './ui/brand.ts'
