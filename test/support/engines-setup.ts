/** What all the files that run on one engine share: a directory, and for PostgreSQL a server, unless `DATABASE_URL` names one. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startPostgres } from './postgres-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where files may be made; gone with everything in it when the last test is over. */
    directory: string
    /** The address of PostgreSQL. */
    postgres: string
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  // A disk in memory, where there is one: what is written here has to survive nothing.
  const directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'folkmoot-engine-'))
  project.provide('directory', directory)
  const server = project.name === 'postgres' && !process.env['DATABASE_URL'] ? await startPostgres() : undefined
  if (server) project.provide('postgres', server.url)
  return async () => {
    await server?.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}
