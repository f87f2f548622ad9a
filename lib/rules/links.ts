/** Web addresses in texts, and those that a link may lead to. */

/** Invisible characters, which may turn the others around: an address with them would not be the one that it looks like. */
const unseen = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

// Up to the next space, quote or bracket; a URL with more than that in it is written percent-encoded.
const address = /\bhttps?:\/\/[^\s<>"]+/gi

/**
 * A text as HTML in which web addresses are links. In an address each character that is not seen is percent-encoded, so that a link
 * shows where it leads.
 * @param escaped writes a text as HTML
 */
export function linked(text: string, escaped: (text: string) => string): string {
  let html = ''
  let end = 0
  for (const { 0: run, index } of text.matchAll(address)) {
    const url = withoutPunctuation(run)
    if (!URL.parse(shownAddress(url))) continue
    // No quote gets into an address, so none ends the attribute.
    const shown = escaped(shownAddress(url))
    html += `${escaped(text.slice(end, index))}<a href="${shown}" target="_blank" rel="nofollow noopener">${shown}</a>`
    end = index + url.length
  }
  return html + escaped(text.slice(end))
}

const shownAddress = (url: string): string => url.replace(unseen, encodeURIComponent)

/** The address of a link as it is kept; `undefined` if it is relative or of a scheme that is neither of the web nor of mail. */
export function safeAddress(href: string): string | undefined {
  // Browsers leave line breaks and tabs out, and white space at the ends.
  const url = shownAddress(href.replace(/[\t\r\n]/g, '').trim())
  return ['http:', 'https:', 'mailto:'].includes(URL.parse(url)?.protocol ?? '') ? url : undefined
}

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
