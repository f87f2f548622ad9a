/** A list that is requested as it is used: a page, all records, or page by page. */

import { InvalidResponse } from '../errors.ts'
import { endlessWatch } from './endless.ts'
import { largestPage, type Page, type ReadPage } from './page.ts'

/** How much is taken of a list. */
export interface ArrayLimit {
  /** The largest number of records. */
  readonly limit: number
}

/**
 * A list. `await` gives its first page. `for await` gives each record of all pages. Nothing is sent before that.
 */
export interface List<Item> extends Promise<Page<Item>>, AsyncIterable<Item> {
  /** Each page, the first one included. */
  pages(): AsyncGenerator<Page<Item>, void, undefined>
  /**
   * The first records.
   * @param limit the largest number of them
   * @throws TypeError if the limit is not a whole number above 0
   */
  toArray(limit: ArrayLimit): Promise<Item[]>
}

/**
 * Requests a page.
 * @param next the link to it; left out for the first one
 * @param wanted how many records are wanted, if the query does not say
 */
export type FetchPage<Item> = (next: string | undefined, wanted: number | undefined) => Promise<ReadPage<Item>>

/** Makes a list of a function that requests its pages. */
export function listOf<Item>(name: string, fetchPage: FetchPage<Item>): List<Item> {
  let first: Promise<Page<Item>> | undefined
  const firstPage = (): Promise<Page<Item>> => {
    first ??= fetchPage(undefined, undefined).then(({ page }) => page)
    return first
  }

  async function* pagesOf(wanted: number): AsyncGenerator<Page<Item>, void, undefined> {
    const reasonOf = endlessWatch()
    let next: string | undefined
    for (let wasGuess = false; ; ) {
      const { page, isGuess } = await fetchPage(next, wanted)
      const reason = reasonOf(page)
      if (reason !== undefined) {
        // A server that sends the whole list, whichever page is requested.
        if (wasGuess) return
        const { status, headers, requestId } = page
        throw new InvalidResponse(`${name}: ${reason}`, { code: 'invalid_response', status, headers, requestId })
      }
      yield page
      if (page.links.next === null) return
      next = page.links.next
      wasGuess = isGuess
    }
  }

  async function* records(): AsyncGenerator<Item, void, undefined> {
    for await (const page of pagesOf(largestPage)) yield* page.items
  }

  return {
    // biome-ignore lint/suspicious/noThenProperty: a list is awaited for its first page, and requests nothing until then.
    then: (onPage, onError) => firstPage().then(onPage, onError),
    catch: (onError) => firstPage().catch(onError),
    finally: (onEnd) => firstPage().finally(onEnd),
    [Symbol.toStringTag]: 'List',
    [Symbol.asyncIterator]: records,
    pages: () => pagesOf(largestPage),
    async toArray(given) {
      const limit: unknown = given?.limit
      if (!Number.isSafeInteger(limit) || Number(limit) < 1)
        throw new TypeError(`${name}: toArray needs { limit }, a whole number above 0`)
      const items: Item[] = []
      for await (const page of pagesOf(Math.min(given.limit, largestPage))) {
        items.push(...page.items.slice(0, given.limit - items.length))
        if (items.length === given.limit) break
      }
      return items
    },
  }
}
