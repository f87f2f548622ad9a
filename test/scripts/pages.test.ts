import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { pages } from '../support/pages.ts'

const root = join(import.meta.dirname, '..', '..')
const { files, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly files: readonly string[]
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
}
/** Pages about the sources themselves. */
const aboutSources = ['docs/concepts.md', 'docs/interface.md']
/** Pages for people who change the sources. The package has none of them. */
const forContributors = [
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...['contributing', 'decisions'].flatMap((folder) =>
    readdirSync(join(root, 'docs', folder)).map((name) => `docs/${folder}/${name}`),
  ),
]
/** The files of the example of docs/contributing/operations.md. */
const madeUp = ['lib/records/link.ts', 'lib/resources/links.ts', 'test/lib/resources/links.test.ts']

test.each([...pages, ...forContributors])('every page that %s links to is there', (page) => {
  const prose = readFileSync(join(root, page), 'utf8').replace(/```.*?```/gs, '')
  const links = [...prose.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, link]) => link ?? '')
  expect(links.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([])
})

test.each(pages.filter((page) => page !== 'README.md'))('%s links to no page that the package leaves out', (page) => {
  const leftOut = ['contributing', 'decisions', 'site'].map((folder) => `docs/${folder}`)
  expect(files).toEqual(expect.arrayContaining(leftOut.map((folder) => `!${folder}`)))
  const links = [...readFileSync(join(root, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
  const targets = links.map(([, link = '']) => join(dirname(page), link).replaceAll('\\', '/'))
  expect(targets.filter((target) => !target.startsWith('docs/') || leftOut.some((folder) => target.startsWith(folder)))).toEqual(
    [],
  )
})

test.each(forContributors)('every file that %s names is there', (page) => {
  const named = readFileSync(join(root, page), 'utf8').match(/\b(?:lib|adapters|daemon|test|scripts)\/[\w./-]+\.ts\b/g) ?? []
  expect(named.filter((file) => !madeUp.includes(file) && !existsSync(join(root, file)))).toEqual([])
})

test.each(pages.filter((page) => !aboutSources.includes(page)))('%s names no source file, as the package has none', (page) => {
  expect(files).not.toContain('lib')
  const text = readFileSync(join(root, page), 'utf8').replace(/^<!-- Generated.*$/m, '')
  expect(text.match(/\b(?:lib|adapters|daemon|test|scripts)\/[\w./-]+\.ts\b/g) ?? []).toEqual([])
})

/** The functions of the sources, and the texts of the files that the package opens to others. */
const functions = ['lib', 'adapters', 'daemon'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [...readFileSync(join(root, folder, name), 'utf8').matchAll(/^export (?:async )?function (\w+)/gm)])
    .map(([, name]) => name ?? ''),
)
const entries = Object.values(exports)
  .flatMap((entry) => (typeof entry === 'string' ? [] : [entry.default]))
  .map((file) => readFileSync(join(root, file.replace('./dist/', '').replace(/js$/, 'ts')), 'utf8'))
  .join('\n')

test.each(pages)('%s names no function that the package keeps to itself', (page) => {
  const text = readFileSync(join(root, page), 'utf8')
  // The programs of a page run in other tests; a method there may share its name with a function.
  const programs = [...text.matchAll(/```.*?```/gs)].join('\n')
  const named = [...text.matchAll(/`(\w+)\(/g)].map(([, name]) => name ?? '').filter((name) => functions.includes(name))
  expect(named.filter((name) => !new RegExp(`\\b${name}\\b`).test(entries + programs))).toEqual([])
})
