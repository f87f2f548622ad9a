/** Text as HTML. No part of the text is taken for markup, so nothing in it can run. */

/** Characters that nobody sees, and that may turn the others around: an address with them would not be the one that it looks like. */
const unseen = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

// Up to the next space, quote or bracket; a URL with more than that in it is written percent-encoded.
const address = /\bhttps?:\/\/[^\s<>"]+/gi

/**
 * A text as HTML: what HTML would take for markup is escaped, line breaks stay line breaks, and web addresses become links. In an
 * address each character that is not seen is percent-encoded, so that a link shows where it leads.
 * @param text as somebody typed it
 */
export function linkedHtml(text: string): string {
  let html = ''
  let end = 0
  for (const { 0: run, index } of text.matchAll(address)) {
    const url = withoutPunctuation(run)
    if (!URL.parse(url)) continue
    const shown = escaped(url.replace(unseen, encodeURIComponent))
    html += `${escaped(text.slice(end, index))}<a href="${shown}" target="_blank" rel="nofollow noopener">${shown}</a>`
    end = index + url.length
  }
  return html + escaped(text.slice(end))
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

// Quotes stay as they are: the one attribute that text gets into is that of a link, and no quote gets into a link.
const escaped = (text: string): string =>
  text.replace(/[&<>]/g, (character) => entities[character] ?? '').replace(/\r\n|\r|\n/g, '<br>')

/** Without what ends a sentence rather than an address; a closing bracket belongs to it if it was opened in it. */
function withoutPunctuation(url: string): string {
  let end = url.length
  let unopened = url.split(')').length - url.split('(').length
  for (; end > 0; end--) {
    const last = url.charAt(end - 1)
    if (last === ')' && unopened > 0) unopened--
    else if (!".,;:!?'*_~]}".includes(last)) break
  }
  return url.slice(0, end)
}
