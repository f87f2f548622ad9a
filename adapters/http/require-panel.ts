/** The first argument of every adapter of the panel. No module of Node is loaded here. */
import type { Panel } from '../../lib/panel/index.ts'

/** A panel that gets the framework's request, or one that is not. */
export type PanelOf<Host> = Panel<Host> | Panel

/** @throws TypeError for what is no panel */
export function requirePanel(panel: unknown, call: string): void {
  if (typeof panel !== 'function') throw new TypeError(`${call}: the first argument must be a panel, as createPanel returns it`)
}
