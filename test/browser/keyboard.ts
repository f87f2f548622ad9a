/**
 * A person with a keyboard and without a mouse. At each stop of Tab the focus must be seen, and come after the one before. The
 * page must fit into its window.
 */
import type { Page } from './browser.ts'

interface Stop {
  readonly name: string
  readonly problems: readonly string[]
  /** Its place, in pixels of the page. */
  readonly box: { readonly top: number; readonly bottom: number; readonly left: number }
}

/** The element with the focus, or null. */
const stopNow = `(() => {
  const at = document.activeElement
  if (!at || at === document.body) return null
  const texts = [...(at.labels ?? [])].map((label) => label.textContent)
  const name = (at.getAttribute('aria-label') ?? (texts.length > 0 ? texts.join(' ') : at.textContent)).trim().replace(/\\s+/g, ' ')
  const style = getComputedStyle(at)
  const { top, right, bottom, left, width, height } = at.getBoundingClientRect()
  const root = document.documentElement
  const problems = []
  if (!(style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) && style.boxShadow === 'none') problems.push('its focus is not seen')
  if (width < 1 || height < 1 || bottom <= 0 || top >= innerHeight || right <= 0 || left >= innerWidth) problems.push('it is not visible')
  for (let on = at.parentElement; on && on !== document.body; on = on.parentElement) {
    const clip = on.getBoundingClientRect()
    if (getComputedStyle(on).overflowX !== 'visible' && (left - 1 < clip.left && right > clip.left + 1)) problems.push('its outline is cut')
  }
  if (root.scrollWidth > root.clientWidth) problems.push('the page has ' + root.scrollWidth + ' pixels in ' + root.clientWidth)
  const described = (at.getAttribute('aria-describedby') ?? '').split(' ').filter(Boolean)
  if (described.some((id) => !document.getElementById(id))) problems.push('its description is missing')
  return { name, problems, box: { top: top + scrollY, bottom: bottom + scrollY, left: left + scrollX } }
})()`

/** Whether one stop may follow another, as people read: from left to right, and down. */
function isAfter({ box: one }: Stop, { box: next }: Stop): boolean {
  // The end of a column is followed by the top of the one to its right.
  return next.left >= one.left || next.top > one.top
}

export interface Keyboard {
  /** The name of the element with the focus, or an empty text. */
  here(): Promise<string>
  /** Tabs to the element of this name. @throws Error with all stops, if no one has it */
  to(name: string | RegExp, key?: 'Tab' | 'Shift+Tab'): Promise<void>
  press(...keys: readonly string[]): Promise<void>
  type(text: string): Promise<void>
  /** Presses Enter, and waits for a text of what follows. */
  enter(text: string): Promise<void>
  /** Tabs to a link or a button, and enters it. */
  follow(name: string | RegExp, text: string): Promise<void>
  /** Everything that was wrong on the way. */
  readonly problems: readonly string[]
}

/** The longest way: a form with every event has about 130 stops. */
const maxStops = 200

export function keyboardOf(page: Page): Keyboard {
  const problems = new Set<string>()
  const stop = async () => (await page.evaluate(stopNow)) as Stop | null
  const fits = (name: string, wanted: string | RegExp) => (typeof wanted === 'string' ? name === wanted : wanted.test(name))
  const report = (text: string) => problems.add(`${new URL(page.url()).pathname}: ${text}`)

  async function to(name: string | RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    const seen: string[] = []
    let last: Stop | null = null
    for (let at = 0; at < maxStops; at++) {
      await page.keyboard.press(key)
      const now = await stop()
      if (now) for (const problem of now.problems) report(`“${now.name}”: ${problem}`)
      if (now && last && key === 'Tab' && !isAfter(last, now)) report(`“${now.name}” comes after “${last.name}”`)
      // The browser's own stops are between the last and the first.
      last = now
      if (now && fits(now.name, name)) return
      seen.push(now?.name ?? '')
    }
    throw new Error(`the keyboard does not come to ${name} on ${page.url()}: ${seen.slice(0, 60).join(' | ')}`)
  }

  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  async function enter(text: string): Promise<void> {
    await press('Enter')
    await page.getByText(text).first().waitFor()
  }
  return {
    to,
    press,
    type: (text) => page.keyboard.type(text),
    here: async () => (await stop())?.name ?? '',
    enter,
    async follow(name, text) {
      await to(name)
      await enter(text)
    },
    get problems() {
      return [...problems]
    },
  }
}
