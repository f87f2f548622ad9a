/** The JavaScript of the package: few files, which load quickly. The build and the tests of the hosts use it. */
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { type CodeSplittingNameFunction, type Plugin, rolldown } from 'rolldown'
import { minifySync } from 'rolldown/utils'
import { licencesOf } from './licences.ts'

interface Package {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
  readonly bin: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
}

const root = join(import.meta.dirname, '..')
const { exports, bin, dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Package

/** The programs of the package, below the root of the checkout. */
export const programs: readonly string[] = Object.values(bin)

/** The modules of the package, below the root of the checkout. */
export const modules: readonly string[] = Object.values(exports).flatMap((entry) =>
  typeof entry === 'string' ? [] : entry.default,
)

/**
 * The files of the library. Each of its modules is in the first one that has an entry which loads it, and the rest in `library`.
 * Entries of one file run apart from those of another, and load no later one.
 */
const files: Readonly<Record<string, readonly string[]>> = {
  receiver: ['lib/receiver/index.ts', 'lib/client/index.ts'],
  programs: ['daemon/bin/folkmoot-main.ts', 'daemon/bin/folkmoot-relay-main.ts'],
  common: ['adapters/http/node.ts', 'adapters/http/fastify.ts', 'adapters/http/koa.ts', 'adapters/http/hono.ts'],
  storages: [
    ...['lib/storage/index.ts', 'adapters/storage/memory.ts', 'adapters/storage/sqlite.ts', 'adapters/storage/postgres.ts'],
    'daemon/relay/relay.ts',
  ],
  library: ['lib/index.ts'],
}

/**
 * Puts the modules that the library loads into few files. By itself rolldown would divide them by every entry and command, to 39
 * files. Node needs about a millisecond for each.
 */
function byFile(): CodeSplittingNameFunction {
  let loaded: readonly { readonly name: string; readonly modules: ReadonlySet<string> }[] | undefined
  return (id, context) => {
    const loadedBy = (sources: readonly string[]): ReadonlySet<string> => {
      const modules = new Set(sources.map((source) => join(root, source)))
      for (const module of modules) for (const imported of context.getModuleInfo(module)?.importedIds ?? []) modules.add(imported)
      return modules
    }
    loaded ??= Object.entries(files).map(([name, sources]) => ({ name, modules: loadedBy(sources) }))
    if (!loaded.at(-1)?.modules.has(id)) return null
    return loaded.find(({ modules }) => modules.has(id))?.name ?? null
  }
}

/** V8 keeps a file in two bytes for each character, and reads it slower, if only one character is outside of Latin-1. */
const inAscii = (code: string): string =>
  code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The packages that are installed with folkmoot, or next to it. All others become part of its files. */
const installed: ReadonlySet<string> = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)])

/** The package that an import names. */
const packageOf = (id: string): string => /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? id

const isOutside = (id: string): boolean => isBuiltin(id) || installed.has(packageOf(id))

/**
 * What packages inside of the files load without need, with what replaces it: a log, colours, and all 2,231 names of
 * characters in HTML, which are three times as large as the tokenizer that would look them up (lib/rules/html-tokens.ts).
 */
const nothing = 'export default () => () => {}'
const unused: ReadonlyMap<string, string> = new Map([
  ['debug', nothing],
  ['@colors/colors/safe', nothing],
  [
    'entities/decode',
    'export class EntityDecoder {}\nexport const DecodingMode = {}, fromCodePoint = {}, htmlDecodeTree = {}, xmlDecodeTree = {}',
  ],
])

const withoutUnused: Plugin = {
  name: 'without what is not used',
  resolveId: (id) => (unused.has(id) ? `\0${id}` : null),
  load: (id) => (id.startsWith('\0') ? (unused.get(id.slice(1)) ?? null) : null),
}

/**
 * Bundles the modules, and anything else in `more`, with the small packages that they use and the licences of those. Nothing of our
 * own is minified.
 * @param directory gets what `dist/` has
 * @param more paths in `dist/` to bundle besides the modules
 */
export async function bundle(directory: string, more: readonly string[] = []): Promise<void> {
  /** Each module and program with its source. */
  const input = Object.fromEntries(
    [...modules, ...more].map((path) => {
      const name = path.replace(/^(\.\/)?dist\//, '').replace(/\.js$/, '')
      return [name, `${name}.ts`]
    }),
  )
  const ascii: Plugin = {
    name: 'in ASCII',
    generateBundle(_options, files) {
      for (const file of Object.values(files)) if (file.type === 'chunk') file.code = inAscii(file.code)
    },
  }
  const short: Plugin = {
    name: 'short names in packages',
    transform: (code, id) =>
      id.includes('/node_modules/') && /\.[cm]?js$/.test(id) ? minifySync(id, code, { mangle: true, compress: true }).code : null,
  }
  const licences: Plugin = {
    name: 'licences',
    generateBundle(_options, files) {
      const ids = Object.values(files).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
      this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES', source: licencesOf(ids) })
    },
  }
  const build = await rolldown({
    cwd: root,
    input,
    plugins: [withoutUnused, short, ascii, licences],
    platform: 'neutral',
    // Groups of modules without their imports need it. Exports of an entry stay those of its source.
    preserveEntrySignatures: 'allow-extension',
    resolve: { mainFields: ['module', 'main'], conditionNames: ['node', 'import', 'default'] },
    // Our own modules stay whole: a program's first lines load the rest for what that does.
    treeshake: { moduleSideEffects: (id) => !id.includes('/node_modules/') },
    external: isOutside,
    // No comment with the path of each module.
    experimental: { attachDebugInfo: 'none' },
  })
  await build.write({
    dir: directory,
    format: 'esm',
    // The declarations have them, where editors look.
    comments: { jsdoc: false },
    // Functions keep their names, and statements their lines, for stacks. What cannot run and what is written longer than it needs goes.
    minify: { compress: true, mangle: { keepNames: true }, codegen: false },
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    // An entry that loads a module loads its imports, too. So these are in the same file, or in one before.
    codeSplitting: { groups: [{ name: byFile(), debugName: 'by file', includeDependenciesRecursively: false }] },
  })
  await build.close()
}
