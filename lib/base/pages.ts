/**
 * The pages of a list, one after the other.
 * @param read reads the first one, or the one after a cursor
 */
export async function* pagesOf<Page extends { readonly next: string | null }>(
  read: (after?: string) => Promise<Page>,
): AsyncGenerator<Page, void, undefined> {
  let page = await read()
  yield page
  while (page.next !== null) {
    page = await read(page.next)
    yield page
  }
}

/** The items of a list, at most so many. */
export async function itemsOf<Item>(
  read: (after?: string) => Promise<{ readonly items: readonly Item[]; readonly next: string | null }>,
  most = Number.POSITIVE_INFINITY,
): Promise<Item[]> {
  const found: Item[] = []
  for await (const { items } of pagesOf(read)) {
    found.push(...items)
    if (found.length >= most) break
  }
  return found.slice(0, most)
}
