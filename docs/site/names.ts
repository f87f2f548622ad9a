import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { MarkdownEnv, MarkdownRenderer } from 'vitepress'
import { aboutPage } from './about.ts'

const docs = join(import.meta.dirname, '..')

/** A link that shows the name of a file, as on GitHub, shows the title of the page instead. */
export function names(markdown: MarkdownRenderer): void {
  markdown.core.ruler.after('inline', 'names', ({ tokens, env }) => {
    const { relativePath } = env as MarkdownEnv
    for (const children of tokens.flatMap(({ children }) => (children ? [children] : [])))
      for (const [index, text] of children.entries()) {
        const href = children[index - 1]?.attrGet('href') ?? ''
        if (!/^[\w/-]+\.md$/.test(text.content) || children[index + 1]?.type !== 'link_close') continue
        const [, inDocs, path = ''] = /^(https:\/\/github\.com\/[\w/]+\/docs\/)?([^#:]*)/.exec(href) ?? []
        const file = join(docs, inDocs ? '' : dirname(relativePath), path)
        if (existsSync(file)) text.content = aboutPage(readFileSync(file, 'utf8')).title || text.content
      }
  })
}
