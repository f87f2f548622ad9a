/** Watches the pages of a list for one that has no end: links that lead in a circle, and empty pages for ever. */
import type { Page } from './page.ts'

/** So many pages without a record may follow each other. */
const maxEmptyPages = 1000

/** The content of a page, to compare; `undefined` if it is nested too deeply for that. */
export function contentOf({ items }: Page<unknown>): string | undefined {
  if (items.length === 0) return undefined
  try {
    return JSON.stringify(items)
  } catch {
    return undefined
  }
}

/** A page that a later one is compared with. */
interface Mark {
  readonly link: string | null
  readonly content: string | undefined
}

/**
 * Makes the watch of one list. It keeps two pages, however long the list is: the page before, and a mark. The mark moves on
 * after 1, 2, 4, 8… pages, so a circle of any length meets it.
 * @returns a function that is given each page in turn, and names the reason if the list has no end
 */
export function endlessWatch(): (page: Page<unknown>) => string | undefined {
  let before: string | undefined
  let mark: Mark | undefined
  let [span, steps, empty] = [1, 0, 0]
  return (page) => {
    const link = page.links.next
    const content = contentOf(page)
    const isSame = content !== undefined && content === before
    const isMarked =
      mark !== undefined && ((link !== null && link === mark.link) || (content !== undefined && content === mark.content))
    before = content
    empty = page.items.length > 0 ? 0 : empty + 1
    if (++steps === span) {
      mark = { link, content }
      span *= 2
      steps = 0
    }
    if (isSame) return 'the link to the next page leads to the same page'
    if (isMarked) return 'the links to the next pages lead in a circle'
    return empty >= maxEmptyPages && link !== null ? `${maxEmptyPages} pages without a record, and a link to one more` : undefined
  }
}
