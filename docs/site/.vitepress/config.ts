import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type DefaultTheme, defineConfig } from 'vitepress'
import llms from 'vitepress-plugin-llms'
import { aboutPage } from '../about.ts'
import { anchorOf } from '../anchors.ts'
import { cells } from '../cells.ts'
import { names } from '../names.ts'
import { search } from '../search.ts'
import { type Item, parts } from '../sidebar.ts'
import { tabs } from '../tabs.ts'

const repository = 'https://github.com/folkmoot/folkmoot'
/** Files that are no pages of the site. It begins with a page of its own in place of the list that GitHub shows. */
const leftOut = ['README.md', 'site/node_modules/**', 'contributing/**', 'decisions/**', 'examples/**']

const docs = join(import.meta.dirname, '../..')
const { version } = JSON.parse(readFileSync(join(docs, '../package.json'), 'utf8')) as { readonly version: string }

/** The pages below a heading of `llms.txt`, each with its first sentence. */
const listed = ({ text, link, items = [] }: Item): readonly string[] => {
  const about = link && aboutPage(readFileSync(join(docs, `${link}.md`), 'utf8'))
  return [...(about ? [`- [${about.title || text}](${link}.md): ${about.sentence}`] : []), ...items.flatMap(listed)]
}
const first = '- [folkmoot](/index.md): What it is, a whole program, and a webhook as it arrives.\n\n'
const index = first + parts.map(({ text, items }) => `### ${text}\n\n${items.flatMap(listed).join('\n')}\n`).join('\n')

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
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/favicon.svg' }]],
  lang: 'en',
  srcDir: '..',
  srcExclude: leftOut,
  rewrites: { 'site/home.md': 'index.md' },
  ignoreDeadLinks: false,
  lastUpdated: false,
  transformPageData: ({ description, filePath, frontmatter }) => {
    const text = readFileSync(join(docs, filePath), 'utf8')
    // Who changes a generated page changes its source.
    const editLink = !/^<!-- Generated/.test(text)
    return { description: description || aboutPage(text).sentence, frontmatter: { editLink, ...frontmatter } }
  },
  vite: {
    publicDir: join(import.meta.dirname, '../public'),
    plugins: [
      llms({ ignoreFiles: leftOut, excludeIndexPage: false, excludeUnnecessaryFiles: false, injectLLMHint: false, toc: index }),
    ],
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
      markdown.use(tabs).use(cells).use(names)
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
    logo: '/favicon.svg',
    nav: [
      ...parts.map(({ text, items }) => ({ text, link: items[0]?.link ?? '/' })),
      { text: version, link: `${repository}/blob/main/CHANGELOG.md` },
    ],
    editLink: { pattern: `${repository}/edit/main/docs/:path`, text: 'Edit this page on GitHub' },
    sidebar: parts.map(({ text, items }) => ({ text, items: items.map(sidebarItem) })),
    outline: [2, 3],
    externalLinkIcon: true,
    socialLinks: [{ icon: 'github', link: repository }],
    footer: { message: 'MIT licence. Every page is also there as Markdown: <a href="/llms.txt">llms.txt</a>.' },
  },
})
