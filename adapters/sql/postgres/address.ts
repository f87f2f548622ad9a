/** PostgreSQL addresses on a command line. */
import { defaultSchema } from './dialect.ts'

export const isPostgresAddress = (address: string): boolean => /^postgres(ql)?:\/\//.test(address) && URL.parse(address) !== null

/** The parts of `postgres://…?schema=NAME`: the schema is ours, everything else is for the connection. */
export function postgresAddress(address: string): { readonly url: string; readonly schema: string } {
  const url = new URL(address)
  const schema = url.searchParams.get('schema') ?? defaultSchema
  url.searchParams.delete('schema')
  return { url: url.href, schema }
}

/** The address of a schema of a database. */
export function withSchema(address: string, schema: string): string {
  const url = new URL(address)
  url.searchParams.set('schema', schema)
  return url.href
}

/** An address without its password: what programs hand on. The password is passed as `PGPASSWORD`. */
export function withPasswordLeftOut(address: string): string {
  if (!isPostgresAddress(address)) return address
  const url = new URL(address)
  url.password = ''
  url.searchParams.delete('password')
  return url.href
}
