/** Watches the pages of a list: some servers send one page for ever, or empty ones, and some links lead in a circle. */
import type { Page } from '../../../lib/client/index.ts'
import { contentOf } from '../../../lib/client/lists/endless.ts'
import { UsageError } from '../../usage.ts'

/** So many pages without a record may follow each other, as in the client. */
const maxEmptyPages = 1000

/** @returns a function that is given each page, and returns whether it is another one than the page before */
export function pageWatch(list: string): (page: Page<unknown>) => boolean {
  const links = new Set<string>()
  let before: string | undefined
  let empty = 0
  return (page) => {
    const {
      items,
      links: { next },
    } = page
    const now = contentOf(page)
    // A server that sends its whole list as one array, whichever page is requested.
    if (now !== undefined && now === before) return false
    before = now
    if (next !== null && links.has(next))
      throw new UsageError(`the list of ${list} has no end: the server links to a page that it has shown before`)
    if (next !== null) links.add(next)
    empty = items.length > 0 ? 0 : empty + 1
    if (empty >= maxEmptyPages && next !== null)
      throw new UsageError(`the list of ${list} has no end: the server sends ${maxEmptyPages} pages without a record`)
    return true
  }
}
