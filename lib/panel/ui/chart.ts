/** Charts as SVG, made on the server. Colours come from the style sheet, because the policy forbids styles in a page. */
import { type Html, html } from './html.ts'
import { number } from './parts.ts'

/** One bar: parts from below, each with its class. */
export interface Bar {
  /** When it begins, ISO 8601. */
  readonly at: string
  readonly label: string
  readonly parts: readonly { readonly value: number; readonly kind: 'good' | 'bad' | 'warn' | 'calm' }[]
  /** Whether something else happened then, such as a circuit that opened. */
  readonly marked?: boolean
}

interface Chart {
  /** The text for assistive technology. */
  readonly title: string
  readonly bars: readonly Bar[]
  readonly width?: number
  readonly height?: number
  /** `spark`: a small one for a table. */
  readonly kind?: 'chart' | 'spark'
}

const sum = ({ parts }: Bar): number => parts.reduce((all, { value }) => all + value, 0)
const round = (value: number): string => String(Math.round(value * 10) / 10)

const shown = (at: string): string => `${at.slice(11, 16)} UTC`

/** The hours under a chart, and what its highest bar stands for. */
function scaled(svg: Html, bars: readonly Bar[], most: number): Html {
  const places = [0, 1, 2, 3, 4].map((part) => Math.round((part * (bars.length - 1)) / 4))
  const hours = places
    .map((place) => bars[place]?.at ?? '')
    .map((at) => html`<time datetime="${at}" data-clock>${shown(at)}</time>`)
  return html`<div class="small soft">${number(most)} at most</div>${svg}<div class="small soft hours" aria-hidden="true">${hours}</div>`
}

/** A bar chart; the highest bar fills the height. A large one has its scale and its hours. */
export function barChart({ title, bars, width = 600, height = 90, kind = 'chart' }: Chart): Html {
  const most = Math.max(1, ...bars.map(sum))
  const step = width / Math.max(1, bars.length)
  const gap = step > 3 ? 1 : 0
  const drawn = bars.map((bar, at) => {
    let top = height
    const parts = bar.parts.map(({ value, kind }) => {
      const size = value === 0 ? 0 : Math.max(1, (value / most) * (height - 4))
      top -= size
      return (
        size > 0 &&
        html`<rect class="bar-${kind}" x="${round(at * step)}" y="${round(top)}" width="${round(step - gap)}" height="${round(size)}"/>`
      )
    })
    const x = round(at * step + step / 2)
    const mark = bar.marked && html`<line class="mark" x1="${x}" x2="${x}" y1="0" y2="${height}"/>`
    return html`<g><title data-at="${bar.at}">${shown(bar.at)}: ${bar.label}</title>${parts}${mark}</g>`
  })
  const svg = html`<svg class="${kind}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${title}">
${drawn}<line class="axis" x1="0" x2="${width}" y1="${height - 1}" y2="${height - 1}"/></svg>`
  return kind === 'spark' ? svg : scaled(svg, bars, most)
}
