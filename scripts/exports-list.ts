/**
 * Writes `test/package/exports.txt`: what each entry of the package exports. Removing a name breaks a host, so a change of
 * this file is one to look at twice. A test compares it.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'rolldown/utils'
import { modules } from './bundle.ts'

interface Exports {
  readonly values: readonly string[]
  readonly types: readonly string[]
}

const root = join(import.meta.dirname, '..')
const file = join(root, 'test', 'package', 'exports.txt')

interface Exported {
  readonly name: string
  readonly isType: boolean
}

/** What a module of ours exports. */
function exportsOf(path: string): readonly Exported[] {
  const { module, errors } = parseSync(path, readFileSync(path, 'utf8'))
  if (errors.length > 0) throw new Error(`${path} cannot be read`)
  const entries = module.staticExports.flatMap(({ entries }) => entries)
  return entries.flatMap(({ exportName, moduleRequest, isType }): readonly Exported[] => {
    if (exportName.kind === 'Name' && exportName.name !== null) return [{ name: exportName.name, isType }]
    if (moduleRequest === null) throw new Error(`${path} has an export without a name`)
    const all = exportsOf(join(path, '..', moduleRequest.value))
    return all.map((each) => ({ ...each, isType: isType || each.isType }))
  })
}

/** What each entry exports, under the name that hosts import. */
export function exportsList(): Readonly<Record<string, Exports>> {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Record<string, unknown>
  }
  const names = Object.keys(exports).filter((name) => name !== './package.json')
  return Object.fromEntries(
    names.map((name, place) => {
      const exported = exportsOf(join(root, (modules[place] ?? '').replace('./dist/', '').replace(/\.js$/, '.ts')))
      const named = (isType: boolean) =>
        [...new Set(exported.filter((each) => each.isType === isType).map((each) => each.name))].sort()
      return [`folkmoot${name.slice(1)}`, { values: named(false), types: named(true) }]
    }),
  )
}

/** The list as text: a line for each name. */
export const exportsText = (): string =>
  Object.entries(exportsList())
    .map(([entry, { values, types }]) => [entry, ...values.map((name) => `  ${name}`), ...types.map((name) => `  type ${name}`)])
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n')

export const committedText = (): string => readFileSync(file, 'utf8')

if (import.meta.main) writeFileSync(file, exportsText())
