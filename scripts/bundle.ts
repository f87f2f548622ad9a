/** The JavaScript of the package: few files, which load quickly. The build and the tests of the hosts use it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CodeSplittingNameFunction, rolldown } from 'rolldown'

interface Package {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
  readonly bin: Readonly<Record<string, string>>
}

const root = join(import.meta.dirname, '..')
const { exports, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Package

/** The programs of the package, below the root of the checkout. */
export const programs: readonly string[] = Object.values(bin)

/** The modules of the package, below the root of the checkout. */
const modules = Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : entry.default))

/** Parts that may run apart from each other: the library, and others that use some of its modules. */
const parts: Readonly<Record<string, readonly string[]>> = {
  library: ['lib/index.ts'],
  client: ['lib/client/index.ts'],
  receiver: ['lib/receiver/index.ts'],
  hosts: ['adapters/http/node.ts', 'adapters/http/fastify.ts', 'adapters/http/koa.ts', 'adapters/http/hono.ts'],
  storages: ['lib/storage/index.ts', 'adapters/storage/memory.ts', 'adapters/storage/sqlite.ts', 'adapters/storage/postgres.ts'],
  help: ['daemon/bin/folkmoot-main.ts', 'daemon/bin/folkmoot-relay-main.ts'],
  relay: ['daemon/relay/relay.ts'],
}

/**
 * Puts the modules that the library loads into few files, one for each set of parts that load them. By itself rolldown would also
 * divide them by every command, to 39 files. Node needs about a millisecond for each.
 */
function byParts(): CodeSplittingNameFunction {
  let loaded: readonly { readonly part: string; readonly modules: ReadonlySet<string> }[] | undefined
  return (id, context) => {
    const loadedBy = (sources: readonly string[]): ReadonlySet<string> => {
      const modules = new Set(sources.map((source) => join(root, source)))
      for (const module of modules) for (const imported of context.getModuleInfo(module)?.importedIds ?? []) modules.add(imported)
      return modules
    }
    loaded ??= Object.entries(parts).map(([part, sources]) => ({ part, modules: loadedBy(sources) }))
    const names = loaded.flatMap(({ part, modules }) => (modules.has(id) ? [part] : []))
    return names[0] === 'library' ? names.join('-') : null
  }
}

/**
 * Bundles the modules, and whatever else is asked for. Nothing is minified, and packages stay packages.
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
  const build = await rolldown({
    cwd: root,
    input,
    platform: 'neutral',
    // Groups of modules without their imports need it. Exports of an entry stay those of its source.
    preserveEntrySignatures: 'allow-extension',
    // A program's first lines load the rest for what that does.
    treeshake: false,
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
  })
  await build.write({
    dir: directory,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    // The parts that load a module load its imports, too. So these are in its own file, or in one of more parts.
    codeSplitting: { groups: [{ name: byParts(), debugName: 'by parts', includeDependenciesRecursively: false }] },
  })
  await build.close()
}
