/**
 * Packs the package as it is built, and looks at the tarball: whether its entries and types are found (publint, attw), whether the types
 * need those of Node, and how large it is. docs/decisions/dependencies.md says why the limits are these.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'

interface Size {
  readonly what: string
  readonly is: number
  readonly most: number
  readonly unit: string
}

interface Locked {
  readonly dev?: true
  readonly peer?: true
  readonly optional?: true
  readonly devOptional?: true
}

const root = join(import.meta.dirname, '..')

/** The directories of the packages that are installed with this one. */
function installedDirectories(): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>
  }
  return Object.entries(packages)
    .filter(([path, { dev, peer, optional, devOptional }]) => path !== '' && !dev && !peer && !optional && !devOptional)
    .map(([path]) => join(root, path))
}

/** The room that a directory takes on a disk, which gives out blocks of 4096 bytes. Packages inside of it count for themselves. */
function bytesOf(directory: string): number {
  const sizes = readdirSync(directory, { withFileTypes: true }).map((entry) => {
    if (entry.name === 'node_modules') return 0
    const path = join(directory, entry.name)
    return entry.isDirectory() ? 4096 + bytesOf(path) : Math.ceil(statSync(path).size / 4096) * 4096
  })
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** The core with its packages, minified and compressed, as a bundle of a host has it. */
async function coreBytes(): Promise<number> {
  const build = await rolldown({
    cwd: root,
    input: 'dist/lib/index.js',
    platform: 'neutral',
    resolve: { mainFields: ['module'] },
  })
  // A minifier leaves comments for bundlers out, too.
  const { output } = await build.generate({ minify: true, comments: { annotation: false } })
  await build.close()
  return gzipSync(output.map((each) => (each.type === 'chunk' ? each.code : '')).join(''), { level: 9 }).length
}

async function sizes(tarball: string, unpacked: string): Promise<readonly Size[]> {
  const directories = installedDirectories()
  const installed = directories.reduce((sum, each) => sum + bytesOf(each), bytesOf(unpacked))
  return [
    { what: 'an installation', is: installed / 1e6, most: 16.5, unit: 'MB' },
    { what: 'an installation', is: directories.length + 1, most: 30, unit: 'packages' },
    { what: 'the tarball', is: statSync(tarball).size / 1e3, most: 880, unit: 'kB' },
    { what: 'the core, minified and compressed', is: (await coreBytes()) / 1e3, most: 133, unit: 'kB' },
  ]
}

/** Runs a program, and shows what it says if it finds a problem. */
function check(name: string, ...args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  process.stdout.write(status === 0 ? `${name}: no problem\n` : `${stdout}${stderr}`)
  if (status !== 0) process.exitCode = 1
}

/** The entries whose declarations import modules of Node. docs/embedding.md lists them. */
const ofNode: ReadonlySet<string> = new Set(['./fastify', './koa', './node', './ports', './storage/sqlite'])

/**
 * Checks the declarations of all other entries as projects for browsers and for workers do that check what they install and have no
 * `@types/node`.
 */
function checkWithoutNode(unpacked: string, directory: string): void {
  const { exports } = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')) as { readonly exports: object }
  const entries = Object.keys(exports).filter((entry) => entry !== './package.json' && !ofNode.has(entry))
  const modules = join(directory, 'node_modules')
  // Copies, because the real paths of links are next to `@types/node`.
  for (const name of ['valibot', 'rate-limiter-flexible'])
    cpSync(join(root, 'node_modules', name), join(modules, name), { recursive: true })
  cpSync(unpacked, join(modules, 'folkmoot'), { recursive: true })
  const file = join(directory, 'entries.ts')
  writeFileSync(file, entries.map((entry, place) => `export type * as entry${place} from 'folkmoot${entry.slice(1)}'\n`).join(''))
  const options =
    '--noEmit --strict --skipLibCheck false --target es2022 --module esnext --moduleResolution bundler --ignoreConfig'
  const tsc = [program('typescript', 'bin', 'tsc'), ...options.split(' '), '--types', '']
  for (const kind of ['dom', 'webworker'])
    check(`types of ${entries.length} entries without Node, ${kind}`, ...tsc, '--lib', `es2022,${kind}`, file)
}

const program = (...path: readonly string[]): string => join(root, 'node_modules', ...path)
const directory = mkdtempSync(join(tmpdir(), 'folkmoot-checked-'))
try {
  // `dist` is there: the scripts of the package would build it again.
  const pack = ['pack', '--ignore-scripts', '--pack-destination', directory]
  execFileSync('npm', pack, { cwd: root, stdio: 'ignore', shell: process.platform === 'win32' })
  const tarball = join(directory, readdirSync(directory)[0] ?? '')
  execFileSync('tar', ['-xzf', tarball, '-C', directory])
  check('publint', program('publint', 'src', 'cli.js'), 'run', tarball, '--strict')
  const attw = program('@arethetypeswrong', 'cli', 'dist', 'index.js')
  check('attw', attw, tarball, '--profile', 'esm-only', '--format', 'ascii', '--no-color')
  checkWithoutNode(join(directory, 'package'), mkdtempSync(join(directory, 'without-node-')))
  for (const { what, is, most, unit } of await sizes(tarball, join(directory, 'package'))) {
    const number = Math.round(is * 10) / 10
    process.stdout.write(`${what}: ${number} ${unit}, at most ${most}\n`)
    if (is > most) process.exitCode = 1
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
