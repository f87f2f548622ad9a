import { refusedByDefault } from '../../base/reach.ts'
import { type Html, html } from '../ui/html.ts'
import { note } from '../ui/parts.ts'

/** A word about an address that relays refuse by default: what the settings of this relay allow is not known here. */
export function addressNote(url: string): Html | false {
  const reason = refusedByDefault(url)
  return reason !== undefined && note('warn', html`<p>Relays refuse this address, unless their settings allow it: ${reason}.</p>`)
}
