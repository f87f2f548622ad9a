/**
 * Builds `dist/`: declarations file by file with tsc, and JavaScript of few files with rolldown. Loading a file costs Node about a
 * millisecond, and the library alone has more than a hundred. Nothing is minified, and packages stay packages.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync, rmSync } from 'node:fs'
import { rolldown } from 'rolldown'

interface Package {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
  readonly bin: Readonly<Record<string, string>>
}

const { exports, bin } = JSON.parse(readFileSync('package.json', 'utf8')) as Package
const built = [
  ...Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : entry.default)),
  ...Object.values(bin),
]
/** The modules and programs of the package, each with its source. */
const entries = Object.fromEntries(
  built.map((path) => {
    const name = path.replace(/^(\.\/)?dist\//, '').replace(/\.js$/, '')
    return [name, `${name}.ts`]
  }),
)

rmSync('dist', { recursive: true, force: true })
// Not by `npx`, which is a script of the shell on Windows.
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' })
const bundle = await rolldown({
  input: entries,
  platform: 'neutral',
  // A program's first lines load the rest for what that does.
  treeshake: false,
  external: (id) => !id.startsWith('.') && !id.startsWith('/'),
})
await bundle.write({ dir: 'dist', format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' })
await bundle.close()
for (const path of Object.values(bin)) chmodSync(path, 0o755)
