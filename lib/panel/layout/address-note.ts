import { refusedByDefault } from '../../base/reach.ts'
import type { View } from '../route.ts'
import { type Html, html } from '../ui/html.ts'
import { marked, note } from '../ui/parts.ts'

/** A word about an address that the relay refuses, or that relays refuse by default where its settings are not known. */
export function addressNote({ settings: { relay } }: View, url: string): Html | false {
  const reason = relay?.refuses ? relay.refuses(url) : refusedByDefault(url)
  const who = relay?.refuses ? 'The relay refuses this address' : 'Relays refuse this address, unless their settings allow it'
  return reason !== undefined && note('warn', html`<p>${who}: ${marked(reason)}.</p>`)
}
