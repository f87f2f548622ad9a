/** HTML in its tags and texts. Other files know nothing of the package that takes it apart. */
import { characterEntitiesHtml4 } from 'character-entities-html4'
import { Tokenizer } from 'htmlparser2'

/** Gets the parts of HTML in their order. Names are in lower case, and character references are decoded. */
export interface HtmlVisitor {
  text(text: string): void
  /** @param attributes the first of each name */
  open(name: string, attributes: ReadonlyMap<string, string>): void
  close(name: string): void
}

/** Elements whose content is not for readers. The tokenizer takes it for text, up to the end tag. */
const unread: ReadonlySet<string> = new Set(['script', 'style', 'iframe', 'noembed', 'noframes', 'title'])

/**
 * Names that no element has, as in `<https://example.org>` and `<mia@example.org>`: these were typed as text.
 */
const isTyped = (name: string): boolean => name.endsWith(':') || name.includes('@')

const nothing = (): void => {}

/** Calls the visitor for each part. Comments and declarations are left out; a tag that does not end is text. */
export function walkHtml(html: string, visitor: HtmlVisitor): void {
  let name = ''
  let attribute = ''
  let attributes = new Map<string, string>()
  let isUnread = false
  // Where the rest begins that was not seen yet.
  let rest = 0
  const endTag = (end: number): void => {
    const begin = rest
    rest = end + 1
    isUnread = unread.has(name)
    if (isTyped(name)) visitor.text(decoded(html.slice(begin, rest)))
    else visitor.open(name, attributes)
  }
  const skip = (_start: number, end: number): void => {
    rest = end + 1
  }
  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    {
      ontext(start, end) {
        // The beginning of `<script`, where everything ends, comes without its bracket.
        const begin = rest === start - 1 ? rest : start
        rest = end
        if (!isUnread) visitor.text(decoded(html.slice(begin, end)))
      },
      onopentagname(start, end) {
        name = html.slice(start, end).toLowerCase()
        attributes = new Map()
      },
      onattribname(start, end) {
        attribute = html.slice(start, end).toLowerCase()
        if (attributes.has(attribute)) attribute = ''
        else attributes.set(attribute, '')
      },
      onattribdata(start, end) {
        attributes.set(attribute, decoded(html.slice(start, end)))
      },
      onopentagend: endTag,
      onselfclosingtag: endTag,
      onclosetag(start, end) {
        const last = html.indexOf('>', end)
        rest = last < 0 ? html.length : last + 1
        isUnread = false
        visitor.close(html.slice(start, end).toLowerCase())
      },
      oncomment: skip,
      oncdata: skip,
      ondeclaration: skip,
      onattribend: nothing,
      onprocessinginstruction: nothing,
      // References are decoded here: the tokenizer knows all 2,231 names, which are three times as large as itself.
      onattribentity: nothing,
      ontextentity: nothing,
      onend: nothing,
    },
  )
  tokenizer.write(html)
  tokenizer.end()
  if (rest < html.length) visitor.text(decoded(html.slice(rest)))
}

const named: ReadonlyMap<string, string> = new Map([...Object.entries(characterEntitiesHtml4), ['apos', "'"]])

/** What browsers take the references 128 to 159 for. */
const windows1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

/** A text with its references to characters decoded: by number, and by the names of HTML 4. Others are text. */
const decoded = (text: string): string =>
  text.replace(
    /&(?:#x([\da-f]{1,8})|#(\d{1,8})|([a-z][a-z\d]{1,31}));/gi,
    (reference, hex?: string, digits?: string, name = '') =>
      hex || digits ? character(hex ? Number.parseInt(hex, 16) : Number(digits)) : (named.get(String(name)) ?? reference),
  )

function character(code: number): string {
  if (code >= 128 && code < 160) return windows1252.charAt(code - 128)
  return code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code).toWellFormed() : '\ufffd'
}
