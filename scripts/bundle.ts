/** The JavaScript of the package: few files, which load quickly. The build and the tests of the hosts use it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

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
    // A program's first lines load the rest for what that does.
    treeshake: false,
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
  })
  await build.write({ dir: directory, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' })
  await build.close()
}
