/** The declarations of the package: those of each entry in one file, and what several entries need in files that they share. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

const root = join(import.meta.dirname, '..')

/**
 * Writes the declarations. tsc makes one file for each module, most of them for modules that no entry shows.
 * @param directory gets what `dist/` has
 * @param modules the modules of the package, such as `./dist/lib/index.js`
 */
export async function declare(directory: string, modules: readonly string[]): Promise<void> {
  const names = modules.map((path) => path.replace(/^\.\/dist\//, '').replace(/\.js$/, ''))
  // Next to the packages, where their types are found.
  const made = mkdtempSync(join(root, 'node_modules', '.folkmoot-declarations-'))
  try {
    const tsc = [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json', '--outDir', made]
    // Not by `npx`, which is a script of the shell on Windows.
    execFileSync(process.execPath, tsc, { cwd: root, stdio: 'inherit' })
    const build = await rolldown({
      cwd: made,
      input: Object.fromEntries(names.map((name) => [name, join(made, `${name}.d.ts`)])),
      // Every file has its declarations, so the generator makes none: `oxc` alone loads no compiler.
      plugins: [dts({ dtsInput: true, emitDtsOnly: true, tsconfig: false, generator: 'oxc' })],
      checks: { pluginTimings: false },
      external: (id) => !id.startsWith('.') && !id.startsWith('/'),
    })
    await build.write({ dir: resolve(directory), format: 'esm', chunkFileNames: 'types/[name]-[hash].js' })
    await build.close()
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}
