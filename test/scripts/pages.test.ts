import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: readonly string[] }
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
]
/** Pages about the sources themselves. */
const aboutSources = ['docs/concepts.md']

test.each(pages)('every page that %s links to is there', (page) => {
  const prose = readFileSync(join(root, page), 'utf8').replace(/```.*?```/gs, '')
  const links = [...prose.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, link]) => link ?? '')
  expect(links.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([])
})

test.each(pages.filter((page) => !aboutSources.includes(page)))('%s names no source file, as the package has none', (page) => {
  expect(files).not.toContain('lib')
  const text = readFileSync(join(root, page), 'utf8').replace(/^<!-- Generated.*$/m, '')
  expect(text.match(/\b(?:lib|adapters|daemon|test|scripts)\/[\w./-]+\.ts\b/g) ?? []).toEqual([])
})
