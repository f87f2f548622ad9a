import type { MarkdownRenderer } from 'vitepress'

/** The longest code that stays whole: in prose and the first column, where the names are, and in the other columns. */
const longest = [30, 16] as const

/** Long code wraps between its words, so that a table fits its page, and no word is broken on a narrow screen. */
export function cells(markdown: MarkdownRenderer): void {
  markdown.core.ruler.after('inline', 'cells', ({ tokens, md }) => {
    for (const [index, { type, children }] of tokens.entries()) {
      const place = tokens[index - 1]?.type
      if (type !== 'inline' || (place !== 'td_open' && place !== 'paragraph_open')) continue
      const most = longest[place === 'td_open' && tokens[index - 2]?.type !== 'tr_open' ? 1 : 0]
      for (const child of children ?? []) {
        if (child.type !== 'code_inline' || child.content.length <= most) continue
        child.type = 'html_inline'
        const words = child.content.split(/(?<=[ /._:@(|])(?=[^ /._:@(|])/)
        child.content = `<code v-pre${child.content.length > 40 ? ' class="list"' : ''}>${words.map(md.utils.escapeHtml).join('<wbr>')}</code>`
      }
    }
  })
}
