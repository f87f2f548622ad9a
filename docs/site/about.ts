/** A text without its links, which lead nowhere outside of the documentation. */
export const plain = (text: string): string => text.replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replace(/\s+/g, ' ')

/** The title of a page, and the first sentence below it. If that only leads elsewhere, the page's sections say what it has. */
export function aboutPage(page: string): { readonly title: string; readonly sentence: string } {
  const text = page.replace(/^(?:---\n.*?\n---|<!--.*?-->)\s*/s, '')
  const [, title = '', first = ''] = /^# ([^\n]*)\n+(.*?)\n\n/s.exec(text) ?? []
  if (first.startsWith('['))
    return { title, sentence: [...text.matchAll(/^## (.*)$/gm)].map(([, section]) => section).join(', ') }
  const [sentence = ''] = /^.*?[.:](?=\s|$)/s.exec(plain(first)) ?? [plain(first)]
  return { title, sentence: sentence.replace(/:$/, '.') }
}
