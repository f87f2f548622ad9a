import type { MarkdownRenderer } from 'vitepress'

/** Blocks of code that follow each other and have titles, such as `sh [npm]` and `sh [pnpm]`, become the tabs of one group. */
export function tabs(markdown: MarkdownRenderer): void {
  markdown.core.ruler.after('block', 'tabs', (state) => {
    const isTitled = ({ type, info } = state.tokens[0] ?? { type: '', info: '' }) => type === 'fence' && /\[.+\]/.test(info)
    const titled = [false, ...state.tokens.map((token) => isTitled(token)), false]
    state.tokens = state.tokens.flatMap((token, index) => {
      const [before, here, after] = titled.slice(index, index + 3)
      if (!here || (!before && !after)) return [token]
      const opening = before ? [] : [new state.Token('container_code-group_open', 'div', 1)]
      const closing = after ? [] : [new state.Token('container_code-group_close', 'div', -1)]
      return [...opening, token, ...closing]
    })
  })
}
