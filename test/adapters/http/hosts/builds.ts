/**
 * The examples of Next.js and Nitro, which are built before they run. A build takes many seconds. So it is in the cache, by the
 * content of its example. It has no code of this project: each run gives it the present one.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { bundle } from '../../../../scripts/bundle.ts'
import { frameworks } from './packages.ts'

const root = join(import.meta.dirname, '..', '..', '..', '..')
const examples = join(root, 'docs', 'examples')

interface Framework {
  /** The directory of its example. */
  readonly name: string
  /** Its program, below the packages that are installed. */
  readonly program: string
  /** The directory that it builds. */
  readonly output: string
  /** Changes the copy of the example. */
  adapt?(example: string): void
}

/** The API below `/community`, next to the one at the root: the second process of the tests mounts it there. */
function mountBelow(example: string): void {
  for (const place of ['admin', join('webhooks', 'v1')])
    cpSync(join(example, 'app', place), join(example, 'app', 'community', place), { recursive: true })
}

const next: Framework = { name: 'next', program: 'next/dist/bin/next', output: '.next', adapt: mountBelow }
const nitro: Framework = { name: 'nitro', program: 'nitro/dist/cli/index.mjs', output: '.output' }

export const modules = join(frameworks.directory, 'node_modules')

export const nextProgram = join(modules, next.program)

/** Where the build of an example is, or will be. */
function placeOf({ name }: Framework): string {
  const hash = createHash('sha256').update(readFileSync(import.meta.filename))
  for (const path of ['community.ts', ...globSync(`${name}/**/*`, { cwd: examples }).toSorted()])
    if (statSync(join(examples, path)).isFile()) hash.update(`\n${path}\n`).update(readFileSync(join(examples, path)))
  return join(frameworks.directory, `${name}-${hash.digest('hex').slice(0, 16)}`)
}

/**
 * Builds an example, if it has changed since.
 * @param folkmoot the package as it is installed
 * @returns where its output is
 * @throws Error with what the framework has printed
 */
async function built(framework: Framework, folkmoot: string): Promise<string> {
  const place = placeOf(framework)
  if (existsSync(place)) return place
  const { name, program, output, adapt } = framework
  // Below the frameworks, which are found there as in a project.
  const work = mkdtempSync(`${place}.`)
  try {
    cpSync(join(examples, name), join(work, name), { recursive: true })
    cpSync(join(examples, 'community.ts'), join(work, 'community.ts'))
    adapt?.(join(work, name))
    linkFolkmoot(folkmoot, join(work, 'node_modules'))
    await promisify(execFile)(process.execPath, [join(modules, program), 'build'], {
      cwd: join(work, name),
      env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
    })
    // A cache for the next build, larger than all the rest.
    rmSync(join(work, name, output, 'cache'), { recursive: true, force: true })
    if (!existsSync(place)) renameSync(join(work, name, output), place)
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout?: string; readonly stderr?: string }
    throw new Error(`the example ${name} cannot be built:\n${stdout ?? ''}${stderr ?? ''}`, { cause: error })
  } finally {
    rmSync(work, { recursive: true })
  }
  return place
}

/** The package as it is, and its dependencies. */
function linkFolkmoot(folkmoot: string, to: string): void {
  mkdirSync(to)
  cpSync(folkmoot, join(to, 'folkmoot'), { recursive: true })
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  for (const name of Object.keys(dependencies)) {
    mkdirSync(join(to, name, '..'), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(to, name))
  }
}

/** @param directory an application, with its packages */
async function copyBuild(framework: Framework, directory: string): Promise<string> {
  const to = join(directory, framework.name, framework.output)
  const place = await built(framework, join(directory, 'node_modules', 'folkmoot'))
  cpSync(place, to, { recursive: true, verbatimSymlinks: true })
  return to
}

/** Puts the build of the example for Next.js into an application, and the packages that it needs. */
export async function prepareNext(directory: string): Promise<void> {
  for (const name of ['next', 'react', 'react-dom']) symlinkSync(join(modules, name), join(directory, 'node_modules', name))
  await copyBuild(next, directory)
}

/** Puts the build of the example for Nitro into an application. Nitro has copied the package, and that may be an older one. */
export async function prepareNitro(directory: string): Promise<void> {
  const copied = join(await copyBuild(nitro, directory), 'server', 'node_modules', 'folkmoot')
  rmSync(copied, { recursive: true })
  symlinkSync(join(directory, 'node_modules', 'folkmoot'), copied)
}

/** Builds the examples before the tests, which then only start them. */
export async function buildExamples(): Promise<void> {
  if ([next, nitro].every((framework) => existsSync(placeOf(framework)))) return
  console.log('the examples of Next.js and Nitro are built')
  const folkmoot = mkdtempSync(join(tmpdir(), 'folkmoot-'))
  try {
    cpSync(join(root, 'package.json'), join(folkmoot, 'package.json'))
    await bundle(join(folkmoot, 'dist'))
    for (const framework of [next, nitro]) await built(framework, folkmoot)
  } finally {
    rmSync(folkmoot, { recursive: true })
  }
}
