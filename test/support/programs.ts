/**
 * The programs that tests start as processes, in one piece each. Tests start hundreds of processes, and a program of hundreds of
 * files takes twice the processor time to start. `test/daemon/server/start.test.ts` starts the sources as they are.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { rolldown } from 'rolldown'

const root = join(import.meta.dirname, '..', '..')

const sources = [
  'daemon/bin/folkmoot.ts',
  'daemon/bin/folkmoot-relay.ts',
  'test/adapters/files/acquire-lock.ts',
  'test/adapters/outbox/append-for-ever.ts',
  'test/adapters/storage/lowdb-write-for-ever.ts',
  'test/adapters/storage/postgres-write-for-ever.ts',
  'test/adapters/storage/sqlite-write-for-ever.ts',
]

export interface Programs {
  /** Holds `NAME.js` for each program. */
  readonly directory: string
  remove(): void
}

export async function buildPrograms(): Promise<Programs> {
  // As deep as `dist/daemon/bin`, from where a program finds `package.json` and its packages.
  const parent = join(root, 'node_modules', '.folkmoot-tests')
  mkdirSync(parent, { recursive: true })
  const directory = mkdtempSync(join(parent, 'programs-'))
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(sources.map((source) => [basename(source, '.ts'), source])),
    platform: 'node',
    external: [/^node:/, 'pg'],
    // Whole files: what is left out of a program would not be tested.
    treeshake: false,
  })
  await build.write({ dir: directory, format: 'esm' })
  await build.close()
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}
