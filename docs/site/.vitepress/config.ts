import { dirname, join } from 'node:path'
import { type DefaultTheme, defineConfig } from 'vitepress'
import llms from 'vitepress-plugin-llms'
import { anchorOf } from '../anchors.ts'
import { cells } from '../cells.ts'
import { search } from '../search.ts'
import { type Item, parts } from '../sidebar.ts'
import { tabs } from '../tabs.ts'

const repository = 'https://github.com/folkmoot/folkmoot'
/** Files that are no pages of the site. It begins with a page of its own in place of the list that GitHub shows. */
const leftOut = ['README.md', 'site/node_modules/**', 'contributing/**', 'decisions/**', 'examples/**']

/** The modules of folkmoot that the playground loads, which the checkout has. */
const sources = [
  { find: /^folkmoot$/, replacement: join(import.meta.dirname, '../../../lib/index.ts') },
  { find: 'folkmoot/storage/memory', replacement: join(import.meta.dirname, '../../../adapters/storage/memory.ts') },
]

/** Where a file is that the site has no page for, such as an example or an alert rule. */
function inRepository(href: string, page: string): string | undefined {
  if (/^(?:[a-z]+:|#|\/)/.test(href) || /\.md(?:#.*)?$/.test(href)) return undefined
  return `${repository}/tree/main/${join('docs', dirname(page), href).replaceAll('\\', '/')}`
}

/** Pages below another one are folded until one of them is open. */
const sidebarItem = ({ items, ...item }: Item): DefaultTheme.SidebarItem =>
  items ? { ...item, collapsed: true, items: items.map(sidebarItem) } : item

export default defineConfig({
  title: 'folkmoot',
  description: 'An embeddable community-network Admin API and a webhook relay.',
  lang: 'en',
  srcDir: '..',
  srcExclude: leftOut,
  rewrites: { 'site/home.md': 'index.md' },
  ignoreDeadLinks: false,
  lastUpdated: false,
  vite: {
    plugins: [llms({ ignoreFiles: leftOut, excludeIndexPage: false, excludeUnnecessaryFiles: false, injectLLMHint: false })],
    resolve: { alias: sources },
    // Vite's esbuild is older than the target in the checkout's tsconfig.json.
    esbuild: { tsconfigRaw: { compilerOptions: { target: 'es2022' } } },
    build: { chunkSizeWarningLimit: 2000 },
  },
  markdown: {
    // Addresses in prose are examples; links are written as links.
    linkify: false,
    anchor: { slugify: anchorOf },
    config: (markdown) => {
      markdown.use(tabs).use(cells)
      const { link_open: usual } = markdown.renderer.rules
      markdown.renderer.rules['link_open'] = (tokens, index, options, env: { relativePath: string }, self) => {
        const token = tokens[index]
        const href = token?.attrGet('href') ?? '#'
        // The package has not every page, so its pages name some of them by their address in the repository.
        if (href.startsWith(`${repository}/blob/main/docs/`) && /\.md(?:#.*)?$/.test(href))
          token?.attrSet('href', href.slice(`${repository}/blob/main/docs`.length))
        const elsewhere = inRepository(href, env.relativePath)
        if (elsewhere) token?.attrSet('href', elsewhere)
        return usual ? usual(tokens, index, options, env, self) : self.renderToken(tokens, index, options)
      }
    },
  },
  themeConfig: {
    search: { provider: 'local', options: { miniSearch: search } },
    nav: parts.map(({ text, items }) => ({ text, link: items[0]?.link ?? '/' })),
    sidebar: parts.map(({ text, items }) => ({ text, items: items.map(sidebarItem) })),
    outline: [2, 3],
    externalLinkIcon: true,
    socialLinks: [{ icon: 'github', link: repository }],
    footer: { message: 'MIT licence. Every page is also there as Markdown: <a href="/llms.txt">llms.txt</a>.' },
  },
})
