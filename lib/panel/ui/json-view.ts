/** A JSON text as a tree that unfolds without JavaScript. Masked fields are dots, at every depth. */
import { type Html, html } from './html.ts'
import { number } from './parts.ts'

/** At most so many values and levels are drawn: the rest is named. */
const maxValues = 3000
const maxLevels = 40
/** Of a longer text or name the beginning is shown: a body may be one text of many megabytes. */
const maxText = 5000
const maxName = 200

const clipped = (text: string, most: number, shown: (part: string) => string): string =>
  text.length <= most ? shown(text) : `${shown(text.slice(0, most))} … ${number(text.length - most)} more characters`

const leafText = (value: unknown): string =>
  typeof value === 'string' ? clipped(value, maxText, (part) => JSON.stringify(part)) : JSON.stringify(value)

const entriesOf = (value: object): readonly (readonly [string, unknown])[] => Object.entries(value)

/**
 * The tree of a JSON text.
 * @param masked names of fields in lower case whose values are not shown
 */
export function jsonView(text: string, masked: ReadonlySet<string>): Html {
  let left = maxValues
  const draw = (name: string | undefined, value: unknown, level: number): Html => {
    left -= 1
    const label = name !== undefined && html`<span class="key">${clipped(name, maxName, (part) => part)}</span>: `
    if (name !== undefined && masked.has(name.toLowerCase()))
      return html`<div class="leaf">${label}<span class="dots" title="not shown">••••••</span></div>`
    if (typeof value !== 'object' || value === null) return html`<div class="leaf">${label}${leafText(value)}</div>`
    const entries = entriesOf(value)
    const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`
    if (entries.length === 0 || level >= maxLevels) return html`<div class="leaf">${label}${size}</div>`
    const inside: Html[] = []
    for (const [key, each] of entries) {
      if (left <= 0) {
        inside.push(html`<div class="leaf soft">… ${entries.length - inside.length} more</div>`)
        break
      }
      inside.push(draw(Array.isArray(value) ? undefined : key, each, level + 1))
    }
    return html`<details ${level < 2 && html`open`}><summary>${label}<span class="soft">${size}</span></summary>${inside}</details>`
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return html`<p class="soft">The body is not JSON, and is not shown.</p>`
  }
  return html`<div class="json card">${draw(undefined, parsed, 0)}</div>`
}
