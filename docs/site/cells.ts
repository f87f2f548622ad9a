import type { MarkdownRenderer } from 'vitepress'

/** The longest code that stays whole: in the first column, where the names are, and in the others. */
const longest = [30, 16] as const

/** Long code in a table wraps between its words, so that the table fits its page. */
export function cells(markdown: MarkdownRenderer): void {
  markdown.core.ruler.after('inline', 'cells', ({ tokens, md }) => {
    for (const [index, { type, children }] of tokens.entries()) {
      if (tokens[index - 1]?.type !== 'td_open' || type !== 'inline') continue
      const most = longest[tokens[index - 2]?.type === 'tr_open' ? 0 : 1]
      for (const child of children ?? []) {
        if (child.type !== 'code_inline' || child.content.length <= most) continue
        child.type = 'html_inline'
        const words = child.content.split(/(?<=[ /._:@(|])(?=[^ /._:@(|])/)
        child.content = `<code v-pre${child.content.length > 40 ? ' class="list"' : ''}>${words.map(md.utils.escapeHtml).join('<wbr>')}</code>`
      }
    }
  })
}
