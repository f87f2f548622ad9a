/** The documentation's site, without what builds it: its sidebar has every page, and links to sections lead to one. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { anchorOf } from '../../docs/site/anchors.ts'
import { type Item, parts } from '../../docs/site/sidebar.ts'
import { pages } from '../support/pages.ts'

const root = join(import.meta.dirname, '..', '..')
const inDocs = pages.filter((page) => page.startsWith('docs/'))

const linksOf = (items: readonly Item[]): readonly string[] =>
  items.flatMap(({ link, items = [] }) => [...(link ? [link] : []), ...linksOf(items)])

test('the sidebar has every page of docs/ once, in four parts', () => {
  expect(parts.map(({ text }) => text)).toEqual(['Tutorial', 'How-to guides', 'Reference', 'Explanation'])
  const links = parts.flatMap(({ items }) => linksOf(items)).map((link) => `docs${link}.md`)
  // The index is the page that the title leads to.
  expect(links.toSorted()).toEqual(inDocs.filter((page) => page !== 'docs/README.md').toSorted())
})

/** The anchors of a page, each the second time with a number, as GitHub does it. */
function anchorsOf(page: string): ReadonlySet<string> {
  const prose = readFileSync(join(root, page), 'utf8').replace(/^ *```.*?^ *```/gms, '')
  const counts = new Map<string, number>()
  return new Set(
    [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => {
      const anchor = anchorOf(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'))
      const before = counts.get(anchor) ?? 0
      counts.set(anchor, before + 1)
      return before === 0 ? anchor : `${anchor}-${before}`
    }),
  )
}

const readers = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'deploy/README.md', ...inDocs]
const contributing = readdirSync(join(root, 'docs', 'contributing')).map((name) => `docs/contributing/${name}`)

test.each([...readers, ...contributing])('every section that %s links to is there', (page) => {
  const prose = readFileSync(join(root, page), 'utf8').replace(/```.*?```/gs, '')
  const links = [...prose.matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)].map(([, file = '', anchor = '']) => ({
    file,
    anchor,
  }))
  const lost = links.filter(({ file, anchor }) => {
    const target = file === '' ? page : relative(root, join(root, dirname(page), file))
    return !anchorsOf(target).has(anchor)
  })
  expect(lost).toEqual([])
})

test.each(readers)('every block of code with a title in %s is one of several tabs', (page) => {
  const groups = /^( *)```\w+ \[.+\]\n[\s\S]*?\n\1```\n(?:\n\1```\w+ \[.+\]\n[\s\S]*?\n\1```\n)+/gm
  const others = readFileSync(join(root, page), 'utf8').replace(groups, '')
  expect(others.match(/^ *```.*\[.*/gm) ?? []).toEqual([])
})

const first = readFileSync(join(root, 'docs/site/home.md'), 'utf8')
const included = [...first.matchAll(/<!-- @include: (\S+)#(\w+) -->/g)].map(([, file = '', region = '']) => ({ file, region }))

test('the first page of the site shows the program of README, and the bytes of a webhook', () => {
  expect(included.map(({ region }) => region)).toEqual(['program', 'commands', 'headers', 'body'])
})

test.each(included)('the region $region of $file is one block of code', ({ file, region }) => {
  const text = readFileSync(join(root, 'docs/site', file), 'utf8')
  const [, inside = ''] = text.split(new RegExp(`^<!-- #(?:end)?region ${region} -->\\n`, 'm'))
  expect(inside).toMatch(/^```\w+\n(?:(?!```).*\n)+```\n$/)
})

test('installing the package does not install what builds the site', () => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly files: readonly string[]
    readonly devDependencies: Readonly<Record<string, string>>
  }
  expect(manifest.files).toContain('!docs/site')
  expect(Object.keys(manifest.devDependencies)).not.toContain('vitepress')
})

test.each(inDocs)('every picture of %s has words for those who do not see it', (page) => {
  const pictures = [...readFileSync(join(root, page), 'utf8').matchAll(/!\[([^\]]*)\]\(/g)].map(([, words = '']) => words)
  expect(pictures.filter((words) => words.trim() === '')).toEqual([])
})

const diagrams = readdirSync(join(root, 'docs', 'images')).filter((name) => name.endsWith('.svg'))

test.each(diagrams)('%s is readable on a dark page and on a light one', (name) => {
  const drawing = readFileSync(join(root, 'docs', 'images', name), 'utf8')
  expect(drawing).toContain('@media (prefers-color-scheme: dark)')
  expect(drawing).toMatch(/<rect class="page" [^>]*>/)
  expect(drawing).toMatch(/<title [^>]*>.+<\/title>/)
  expect(drawing).not.toMatch(/<script|https?:(?!\/\/www\.w3\.org)/)
})
