/**
 * The first lines of both programs. They load no other file of the project, so that they run on any Node. On a Node that is too
 * old they print a sentence. On any other they let Node keep the compiled code for the next start.
 */
import { lstatSync, mkdirSync } from 'node:fs'
// Not by name: an old Node has no `enableCompileCache`, and would end on the import.
import nodeModule from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** As in package.json, `engines`. */
const oldest = [22, 19] as const

/** Starts a program. */
export function begin(name: string, program: () => Promise<unknown>): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
    process.stderr.write(
      `${name}: this is Node ${process.versions.node}, and folkmoot needs Node ${oldest.join('.')} or later: install a newer one\n`,
    )
    process.exitCode = 2
    return
  }
  keepCompiled()
  withoutSqliteWarning()
  void program()
}

/**
 * Node 22, early versions of 24, and 25.0 write on standard error that `node:sqlite` is experimental. Other programs read
 * that output. CI tries what is stored on the oldest of those versions.
 */
function withoutSqliteWarning(): void {
  const { emitWarning } = process
  process.emitWarning = (warning: string | Error, ...about: unknown[]): void => {
    if (!String(warning).startsWith('SQLite is an experimental feature')) Reflect.apply(emitWarning, process, [warning, ...about])
  }
}

/** Without its directory this is only slower. `NODE_COMPILE_CACHE` names another one. */
function keepCompiled(): void {
  if (process.env['NODE_COMPILE_CACHE'] || process.env['NODE_DISABLE_COMPILE_CACHE']) return
  const directory = [besidePackages(), ownTemporary()].find((path) => path !== undefined && isOurs(path))
  // Deno has none.
  if (directory) nodeModule.enableCompileCache?.(directory)
}

/** `node_modules/.cache` of the checkout, or of the project that has installed the package. */
function besidePackages(): string | undefined {
  const here = fileURLToPath(import.meta.url)
  const installed = here.lastIndexOf(join('/', 'node_modules', '/'))
  if (installed !== -1) return join(here.slice(0, installed), 'node_modules', '.cache', 'folkmoot')
  for (const up of ['../..', '../../..']) {
    const packages = fileURLToPath(new URL(`${up}/node_modules`, import.meta.url))
    if (lstatSync(packages, { throwIfNoEntry: false })) return join(packages, '.cache', 'folkmoot')
  }
  return undefined
}

const ownTemporary = (): string => join(tmpdir(), `folkmoot-${process.getuid?.() ?? 'cache'}-compiled`)

/** Compiled code is run as it is found: a directory that others could write to, or have made, is not used. */
function isOurs(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const found = lstatSync(path)
    if (!process.getuid) return found.isDirectory()
    return found.isDirectory() && found.uid === process.getuid() && (found.mode & 0o022) === 0
  } catch {
    return false
  }
}
