/** Every block of JavaScript and TypeScript of the pages can be read, and imports from the package what it exports. */
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pages } from '../support/pages.ts'

const root = join(import.meta.dirname, '..', '..')
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
}
const blocks = pages.flatMap((page) =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/^ *```(?:js|ts)\b[^\n]*\n(.*?)^ *```/gms)].map(([, code = '']) => ({
    page,
    code,
  })),
)

/** The names of an entry of the package, types too: they stand in its source. */
function sourceOf(entry: string): string {
  const target = exports[entry === 'folkmoot' ? '.' : entry.replace(/^folkmoot/, '.')]
  if (typeof target !== 'object') return ''
  return readFileSync(join(root, target.default.replace('./dist/', '').replace(/js$/, 'ts')), 'utf8')
}

test.each([...new Set(blocks.map(({ page }) => page))])('the blocks of %s can be read, and import what there is', (page) => {
  const faults: string[] = []
  for (const { code } of blocks.filter((block) => block.page === page)) {
    try {
      stripTypeScriptTypes(code)
    } catch (error) {
      faults.push(`${String(error)} in ${code}`)
    }
    for (const [, names = '', entry = ''] of code.matchAll(/^import \{ (.*) \} from '(folkmoot[^']*)'$/gm))
      for (const name of names.split(', ').map((each) => each.replace(/^type /, '').replace(/ as \w+$/, '')))
        if (!new RegExp(`\\b${name}\\b`).test(sourceOf(entry))) faults.push(`${entry} has no ${name}`)
  }
  expect(faults).toEqual([])
})
