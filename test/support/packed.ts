/** The package as npm packs it, and projects that have installed it. */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { afterAll } from 'vitest'
import { soaking } from './rounds.ts'
import { shared } from './shared.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')

/**
 * Packs the checkout, which npm builds, in a run with the soak. In others the package has no declarations: they take most of the
 * build, and no test here reads one. `npm run -s check:package` does.
 * @returns the tarball, which is gone after the last test of the file
 */
export async function packed(): Promise<string> {
  const { name, version, files } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    readonly name: string
    readonly version: string
    readonly files: readonly string[]
  }
  const to = await mkdtemp(join(tmpdir(), 'folkmoot-packed-'))
  afterAll(() => rm(to, { recursive: true }))
  const tarball = join(to, `${name}-${version}.tgz`)
  if (soaking) {
    await run('npm', ['pack', '--pack-destination', to], { cwd: root })
    return tarball
  }
  const directory = join(to, 'package')
  const leftOut = files.filter((path) => path.startsWith('!')).map((path) => join(path.slice(1)))
  for (const path of ['package.json', ...files.filter((path) => path !== 'dist' && !path.startsWith('!'))])
    await cp(join(root, path), join(directory, path), {
      recursive: true,
      filter: (from) => !leftOut.includes(relative(root, from)),
    })
  await cp(join(await shared('package'), 'node_modules', name, 'dist'), join(directory, 'dist'), { recursive: true })
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', to], { cwd: directory })
  return tarball
}

/** Installs packages into a new project, whose `node_modules` is left. */
export async function installed(directory: string, ...packages: readonly string[]): Promise<void> {
  await writeFile(join(directory, 'package.json'), JSON.stringify({ name: 'app', type: 'module', private: true }))
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...packages], { cwd: directory })
}
