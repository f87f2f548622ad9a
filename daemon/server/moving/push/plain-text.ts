/** HTML as the text that somebody typed: the API takes comments as text, and makes the HTML itself. */
import { linkedHtml } from '../../../../lib/rules/html.ts'

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

function character(entity: string, name: string): string {
  const [, hex, digits] = /^#(?:x([0-9a-f]{1,6})|(\d{1,7}))$/i.exec(name) ?? []
  const code = hex ? Number.parseInt(hex, 16) : Number(digits ?? Number.NaN)
  if (code > 0 && code <= 0x10ffff) return String.fromCodePoint(code).toWellFormed()
  return entities[name.toLowerCase()] ?? entity
}

/** The text without its markup. Paragraphs and line breaks stay line breaks. */
export function plainText(html: string): string {
  return html
    .replace(/<br ?\/?>/gi, '\n')
    .replace(/<\/p><p>/gi, '\n\n')
    .replace(/<[a-z/!][^<>]*>/gi, '')
    .replace(/&([a-z]{1,8}|#x?[0-9a-f]{1,7});/gi, character)
}

/** Whether the API makes the same HTML of the text. */
export const isPlain = (html: string): boolean => linkedHtml(plainText(html)) === html
