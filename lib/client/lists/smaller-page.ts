/** Smaller pages: where a response is larger than the client reads, the same records come on several pages. */

import { InvalidResponse, isClientError } from '../errors.ts'
import { tooLargeCode } from '../response.ts'
import type { Outgoing, ReceivedResponse } from '../send.ts'
import { defaultPerPage, largestPage, type ReadPage, readPage } from './page.ts'

function sizeIn(search: URLSearchParams): number {
  const size = Number(search.get('per_page') ?? defaultPerPage)
  return Number.isSafeInteger(size) && size > 0 ? Math.min(size, largestPage) : defaultPerPage
}

/** How many records come before a page, by its number. */
function offsetIn(search: URLSearchParams): number {
  const page = Number(search.get('page') ?? 1)
  return Number.isSafeInteger(page) && page > 1 ? (page - 1) * sizeIn(search) : 0
}

/**
 * The query of a page that begins with the same record and has another size. Behind `after` any size begins there. A page that is
 * found by its number alone needs a size that divides the number of records before it.
 * @param size at most so many records
 */
export function resized(search: URLSearchParams, size: number): URLSearchParams {
  const changed = new URLSearchParams(search)
  const offset = search.has('after') ? 0 : offsetIn(search)
  let fits = size
  while (offset % fits !== 0) fits--
  changed.set('per_page', String(fits))
  if (offset > 0) changed.set('page', String(offset / fits + 1))
  return changed
}

/** The place of the first record of a page, for people. */
const placeOf = (search: URLSearchParams): string =>
  search.has('after') ? `the record behind \`after=${search.get('after')}\`` : `record ${offsetIn(search) + 1} of the list`

/**
 * Requests a page; as long as it is too large, half of it.
 * @param most the bytes of a response that are read
 * @throws InvalidResponse that names the place of a record that is too large alone
 */
export async function readFittingPage<Item>(
  outgoing: Outgoing,
  most: number,
  send: (outgoing: Outgoing) => Promise<ReceivedResponse>,
): Promise<ReadPage<Item>> {
  for (let request = outgoing; ; ) {
    try {
      return readPage(request.url, await send(request))
    } catch (error) {
      if (!isClientError(error) || error.code !== tooLargeCode || Number(error.status) >= 300) throw error
      const url = new URL(request.url)
      const size = sizeIn(url.searchParams)
      if (size === 1) {
        const { status, headers } = error
        const sentence = `${placeOf(url.searchParams)}, alone on its page, is larger than ${most} bytes (option \`maxResponseBytes\`)`
        throw new InvalidResponse(`GET ${url.pathname}: ${sentence}`, { code: tooLargeCode, status, headers, cause: error })
      }
      url.search = String(resized(url.searchParams, Math.floor(size / 2)))
      request = { ...request, url: url.href }
    }
  }
}
