/** Comments as HTML that is safe to show: a few elements, and no attribute that runs or styles anything. */
import { walkHtml } from './html-tokens.ts'
import { linked, safeAddress } from './links.ts'

const blocks: ReadonlySet<string> = new Set(['p', 'ul', 'ol', 'li', 'blockquote', 'pre'])
const inText: ReadonlySet<string> = new Set(['a', 'strong', 'b', 'em', 'i', 'u', 's', 'code'])

/** Elements of other names that become one of these. */
const renamed: ReadonlyMap<string, string> = new Map([
  ...['div', 'section', 'article', 'header', 'footer', 'tr', 'dt', 'dd', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map(
    (name) => [name, 'p'] as const,
  ),
  ['del', 's'],
  ['strike', 's'],
])

/** Elements that may begin within a word. Every other one separates words. */
const withinWords: ReadonlySet<string> = new Set([
  ...inText,
  ...['abbr', 'bdi', 'bdo', 'big', 'cite', 'del', 'dfn', 'font', 'ins', 'kbd', 'label', 'mark', 'q', 'samp', 'small', 'span'],
  ...['strike', 'sub', 'sup', 'time', 'tt', 'var', 'wbr'],
])

/** Elements within each other. The tags of further ones are left out, and what is in them stays. */
const maxDepth = 32

const mention = 'mighty-mention'

/**
 * HTML, or a text as it was typed, as safe HTML (docs/gaps.md, comments). The same comes out of what came out. Its elements are
 * closed in the order of browsers, so that these make no others of them.
 */
export function commentHtml(text: string): string {
  let html = ''
  // Text up to the next tag that stays: an address is one, whatever was left out of it.
  let run = ''
  let isMarked = false
  // Whether a tag that was left out separates the next word from the last one, and whether a blank does so already.
  let isApart = false
  let isSeparated = true
  const open: string[] = []
  const flush = (): void => {
    if (run !== '') html += open.includes('a') ? escaped(run) : linked(run, escaped)
    run = ''
  }
  const mark = (tag: string): void => {
    flush()
    html += tag
    isMarked = true
    isSeparated = tag === '<br>'
  }
  const closeTo = (depth: number): void => {
    while (open.length > depth) {
      mark(`</${open.at(-1)}>`)
      open.pop()
    }
  }
  walkHtml(text, {
    text(piece) {
      run += isApart && !isSeparated && !isBlankAt(piece, 0) ? ` ${piece}` : piece
      isApart = false
      isSeparated = isBlankAt(piece, piece.length - 1)
    },
    open(given, attributes) {
      const name = renamed.get(given) ?? given
      if (name === 'br') return mark('<br>')
      const ofLink = name === 'a' ? linkAttributes(attributes) : ''
      if (!blocks.has(name) && (!inText.has(name) || ofLink === undefined)) {
        isApart ||= !withinWords.has(given)
        return
      }
      closeTo(implicitEnd(open, name))
      if (open.length >= maxDepth) return
      if (blocks.has(name)) isApart = false
      mark(`<${name}${directionOf(attributes)}${ofLink}>`)
      open.push(name)
    },
    close(given) {
      const depth = open.lastIndexOf(renamed.get(given) ?? given)
      if (depth >= 0) closeTo(depth)
    },
  })
  closeTo(0)
  flush()
  return isMarked ? html : html.replace(/\r\n|\r|\n/g, '<br>')
}

const isBlankAt = (text: string, index: number): boolean => text.charAt(index).trim() === ''

/** How many of the open elements stay open when one of this name begins. */
function implicitEnd(open: readonly string[], name: string): number {
  const ends = [blocks.has(name) ? open.indexOf('p') : -1]
  if (name === 'a') ends.push(open.indexOf('a'))
  if (name === 'li' && open.lastIndexOf('li') > Math.max(open.lastIndexOf('ul'), open.lastIndexOf('ol')))
    ends.push(open.lastIndexOf('li'))
  return Math.min(...ends.map((end) => (end < 0 ? open.length : end)))
}

function directionOf(attributes: ReadonlyMap<string, string>): string {
  const direction = attributes.get('dir')?.toLowerCase() ?? ''
  return ['ltr', 'rtl', 'auto'].includes(direction) ? ` dir="${direction}"` : ''
}

/** The attributes of a link; `undefined` if it neither leads anywhere nor mentions anyone. */
function linkAttributes(attributes: ReadonlyMap<string, string>): string | undefined {
  const isMention = attributes.get('class')?.split(/\s+/).includes(mention) === true
  const id = attributes.get('data-user-id') ?? ''
  const href = safeAddress(attributes.get('href') ?? '')
  if (!isMention && href === undefined) return undefined
  const ofMention = isMention ? ` class="${mention}"` : ''
  const ofMember = /^[\w-]{1,64}$/.test(id) ? ` data-user-id="${id}"` : ''
  return ofMention + ofMember + (href === undefined ? '' : ` href="${quoted(href)}" target="_blank" rel="nofollow noopener"`)
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const escaped = (text: string): string => text.replace(/[&<>]/g, (character) => entities[character] ?? '')
const quoted = (text: string): string => escaped(text).replaceAll('"', '&quot;')

/** HTML as text: without its markup, scripts and styles. */
export function textOfHtml(html: string): string {
  let text = ''
  const separate = (name: string): void => {
    if (!withinWords.has(name)) text += ' '
  }
  walkHtml(html, {
    text(piece) {
      text += piece
    },
    open: separate,
    close: separate,
  })
  return text
}
