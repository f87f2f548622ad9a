/** Writes the JavaScript of `templates/` from its TypeScript, without the types: `npx node scripts/templates.ts`. A test compares. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const directory = join(root, 'templates')

/** Every TypeScript file of the templates, below their directory. */
export const typedTemplates: readonly string[] = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.ts'),
)

/** The JavaScript of a template. */
export function untypedTemplate(path: string): string {
  const source = readFileSync(join(directory, path), 'utf8').replaceAll(
    /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n(?=export (?:interface|type) )/g,
    '',
  )
  const typed = source.split('\n')
  const lines = stripTypeScriptTypes(source)
    .split('\n')
    .filter((line, at) => line.trim() !== '' || typed[at] === '')
  const code = lines
    .join('\n')
    .replaceAll(/, \{\s*\} from/g, ' from')
    .replaceAll(/\b(app|receiver|serve|server|settings|storage)\.ts\b/g, '$1.js')
  const biome = join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome')
  const formatted = [biome, 'format', `--stdin-file-path=templates/${path.replace(/ts$/, 'js')}`]
  return execFileSync(process.execPath, formatted, { cwd: root, input: code, encoding: 'utf8' })
}

if (import.meta.main)
  for (const path of typedTemplates) writeFileSync(join(directory, path.replace(/ts$/, 'js')), untypedTemplate(path))
