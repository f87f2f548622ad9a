/**
 * What all test files of a run share: a directory, and a PostgreSQL that starts when the first file asks for it, unless
 * `DATABASE_URL` names one.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where files may be made; gone with everything in it when the last test is over. */
    directory: string
    /** Answers with the address of PostgreSQL. */
    postgres: string
  }
}

interface Shared {
  readonly directory: string
  readonly postgres: string
  close(): Promise<void>
}

async function share(): Promise<Shared> {
  // A disk in memory, where there is one: what is written here has to survive nothing.
  const directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'folkmoot-tests-'))
  let started: Promise<PostgresServer> | undefined
  const server = createServer((_, response) => {
    // The files that run at once have pools of many connections between them.
    started ??= startPostgres({ flags: ['-c', 'max_connections=600'] })
    started.then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    directory,
    postgres: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.close()
      server.closeAllConnections()
      await (await started)?.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

// Each project of `vitest.config.ts` runs this; the first one makes what they share, the last one ends it.
let shared: Promise<Shared> | undefined
let users = 0

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  users++
  shared ??= share()
  const { directory, postgres } = await shared
  project.provide('directory', directory)
  project.provide('postgres', postgres)
  return async () => {
    if (--users > 0) return
    const last = await shared
    shared = undefined
    await last?.close()
  }
}
