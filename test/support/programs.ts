/**
 * The programs that tests start as processes, in one piece each. Tests start hundreds of processes, and a program of hundreds of
 * files takes twice the processor time to start. `test/daemon/server/start.test.ts` starts the sources as they are.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

const root = join(import.meta.dirname, '..', '..')

const programs = { folkmoot: 'daemon/bin/folkmoot.ts', 'folkmoot-relay': 'daemon/bin/folkmoot-relay.ts' }
/** They load little, and of the same files. */
const writers = {
  'acquire-lock': 'test/adapters/files/acquire-lock.ts',
  'append-for-ever': 'test/adapters/outbox/append-for-ever.ts',
  'lowdb-write-for-ever': 'test/adapters/storage/lowdb/write-for-ever.ts',
  'postgres-write-for-ever': 'test/adapters/storage/postgres/write-for-ever.ts',
  'sqlite-write-for-ever': 'test/adapters/storage/sqlite/write-for-ever.ts',
}

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
  // Without it Node compiles each file twice, to find out of which kind it is.
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  for (const [name, source] of Object.entries(programs)) await buildTo(directory, { [name]: source })
  await buildTo(directory, writers)
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

async function buildTo(directory: string, sources: Readonly<Record<string, string>>): Promise<void> {
  const build = await rolldown({
    cwd: root,
    input: sources,
    platform: 'node',
    external: [/^node:/, 'pg'],
    // Whole files: what is left out of a program would not be tested.
    treeshake: false,
  })
  // A program alone becomes one file: what it loads late runs late there, too.
  await build.write({ dir: directory, format: 'esm', codeSplitting: Object.keys(sources).length > 1 })
  await build.close()
}
