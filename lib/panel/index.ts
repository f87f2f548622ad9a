/** `folkmoot/panel`: the admin panel. The public surface; nothing is declared here. */
export type { Authorize, PanelAction, Visitor } from './access.ts'
export { panelActions } from './access.ts'
export type { Brand, PanelOptions } from './options.ts'
export { createPanel, type Panel } from './panel.ts'
export { type RelayControlOptions, relayViewOverControl } from './relay-over-control.ts'
export type * from './relay-view.ts'
