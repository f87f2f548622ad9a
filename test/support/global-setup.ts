/**
 * Shared by all test files of a run: a directory, a browser, a PostgreSQL (unless `DATABASE_URL` names one), and the programs
 * for processes. All but the directory are made when the first file needs them.
 */
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { launchShared } from '../browser/browser.ts'
import { buildPackage } from './built-package.ts'
import { startPostgres } from './postgres-server.ts'
import { buildPrograms } from './programs.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where files may be made; gone with everything in it when the last test is over. */
    directory: string
    /** Where each test file gets a directory for temporary files. */
    temporary: string
    /**
     * Responds with the addresses of PostgreSQL on `/postgres` and of the browser on `/browser`; on `/programs` with a
     * directory.
     */
    shared: string
  }
}

interface Shared {
  readonly directory: string
  readonly temporary: string
  readonly address: string
  close(): Promise<void>
}

/** Done when it is requested, once. */
function once<T>(work: () => Promise<T>) {
  let begun: Promise<T> | undefined
  return {
    get: () => {
      begun ??= work()
      return begun
    },
    /** The parts that have been made, if any. */
    made: () => begun,
  }
}

async function share(): Promise<Shared> {
  // Killed programs leave their temporary files behind. The name is short, because paths of sockets are.
  const temporary = mkdtempSync(join(tmpdir(), 'fm-'))
  // PostgreSQL may run as another user.
  chmodSync(temporary, 0o755)
  const { TMPDIR } = process.env
  process.env['TMPDIR'] = temporary
  // A disk in memory, where there is one: what is written here has to survive nothing.
  const directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'folkmoot-tests-'))
  // The files that run at once have pools of many connections between them.
  const postgres = once(() => startPostgres({ flags: ['-c', 'max_connections=600'] }))
  const programs = once(buildPrograms)
  const built = once(() => buildPackage(directory))
  const browser = once(launchShared)
  const responses: Readonly<Record<string, () => Promise<string>>> = {
    '/postgres': async () => (await postgres.get()).url,
    '/programs': async () => (await programs.get()).directory,
    '/package': () => built.get(),
    '/browser': async () => (await browser.get()).wsEndpoint(),
  }
  const server = createServer((request, response) => {
    const answer = responses[request.url ?? '']?.() ?? Promise.reject(new Error(`nothing is shared at ${request.url}`))
    answer.then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    directory,
    temporary,
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close()
      server.closeAllConnections()
      await (await postgres.made())?.stop()
      ;(await programs.made())?.remove()
      await (await browser.made())?.close()
      if (TMPDIR === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = TMPDIR
      for (const made of [directory, temporary]) rmSync(made, { recursive: true, force: true })
    },
  }
}

/** Shared by the projects of a run. Each project loads this file anew, so a variable here would not do. */
interface Run {
  shared?: Promise<Shared>
  users: number
}
const key = Symbol.for('folkmoot.tests')
const run: Run = (Reflect.get(globalThis, key) as Run | undefined) ?? { users: 0 }
Reflect.set(globalThis, key, run)

// Each project of `vitest.config.ts` runs this; the first one makes what they share, the last one ends it.
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  run.users++
  run.shared ??= share()
  const { directory, temporary, address } = await run.shared
  project.provide('directory', directory)
  project.provide('temporary', temporary)
  project.provide('shared', address)
  return async () => {
    if (--run.users > 0) return
    const last = await run.shared
    delete run.shared
    await last?.close()
  }
}
