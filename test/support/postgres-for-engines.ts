/** Starts one PostgreSQL for all the files that run on it, unless `DATABASE_URL` names one. */
import type { TestProject } from 'vitest/node'
import { startPostgres } from './postgres-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where it is. */
    postgres: string
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const named = process.env['DATABASE_URL']
  const server = named ? { url: named, stop: async () => {} } : await startPostgres()
  project.provide('postgres', server.url)
  return () => server.stop()
}
