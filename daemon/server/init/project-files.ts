/** The files of a new project: those of `templates/` that it needs, with its names in them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { UsageError } from '../../usage.ts'
import type { Project } from './choices.ts'

type Texts = Readonly<Record<string, string>>
type Manifest = Readonly<Record<'dependencies' | 'devDependencies', Texts | undefined>>

/** Three levels up from the sources, two from the built files. */
const templates = ['../../../templates', '../../templates']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(path))

/** Each file by its path. */
export function projectFiles({ name, host, storage, language, folkmoot, ...first }: Project): Texts {
  const isTyped = language === 'typescript'
  const other = isTyped ? /\.js$/ : /\.ts$|^tsconfig/
  const {
    'words.json': [ofStorage = '{}'] = [],
    'package.json': manifests = [],
    _env: [env = ''] = [],
    ...texts
  } = templateFiles('project', `hosts/${host}`, `storages/${storage}`)
  const words = {
    ...(JSON.parse(ofStorage) as Texts),
    ...{ name, folkmoot, ext: isTyped ? 'ts' : 'js', test: isTyped ? 'tsc && node --test' : 'node --test' },
    packages: folkmoot.startsWith('file:') ? `package*.json ${folkmoot.slice('file:'.length)}` : 'package*.json',
  }
  const parts = manifests.map((text) => JSON.parse(filled(text, words)) as Manifest)
  const merged = (kind: keyof Manifest) =>
    Object.fromEntries(
      parts.flatMap((part) => Object.entries(part[kind] ?? {})).toSorted(([one], [next]) => (one < next ? -1 : 1)),
    )
  const manifest = {
    ...parts[0],
    dependencies: merged('dependencies'),
    devDependencies: isTyped ? merged('devDependencies') : undefined,
  }
  const named = Object.entries(texts).filter(([path]) => !other.test(path))
  return {
    ...Object.fromEntries(named.map(([path, [text = '']]) => [path.replace(/^_/, '.'), filled(text, words)])),
    'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
    '.env.example': filled(env, { ...words, about: 'Copy this file to `.env`, which the app reads.' }),
    '.env': filled(env, {
      ...words,
      ...settingsOf(first),
      about: 'What is set in the environment goes before this file, which stays out of git.',
    }),
  }
}

/** The texts of each file of some folders, by its path. */
function templateFiles(...folders: readonly string[]): Readonly<Record<string, readonly string[]>> {
  if (templates === undefined) throw new UsageError('the templates of projects are missing: install folkmoot again')
  const texts: Record<string, readonly string[]> = {}
  for (const folder of folders.map((path) => join(templates, path)))
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())) {
      const file = join(entry.parentPath, entry.name)
      const path = relative(folder, file)
      texts[path] = [...(texts[path] ?? []), readFileSync(file, 'utf8')]
    }
  return texts
}

const filled = (text: string, words: Texts): string => text.replaceAll(/\{\{(\w+)\}\}/g, (_, word: string) => words[word] ?? '')

/** Values as `.env` has them, in quotes where they need some: Docker Compose would replace a `$NAME` outside of single ones. */
const settingsOf = (values: Texts): Texts =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const written = [...(value.includes('$') ? [] : ['']), "'", '"', '`']
        .map((quote) => `${quote}${value}${quote}`)
        .find((text) => parseEnv(`A=${text}\nB=`)['A'] === value)
      if (written === undefined)
        throw new UsageError(`${JSON.stringify(value)} has a # and every kind of quote, which .env cannot hold`)
      return [name, written]
    }),
  )
