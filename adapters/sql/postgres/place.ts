/** The options that name a PostgreSQL database. */
import * as v from 'valibot'
import { kind } from '../../../lib/base/describe-value.ts'
import { withMethods } from '../../../lib/base/options.ts'
import type { PgPool } from './connection.ts'

/** As `pg` reads it: the query may name a socket, so the host may be missing. */
const isReadable = (address: string): boolean =>
  /^postgres(ql)?:\/\//.test(address) && URL.parse(address.replace('@/', '@localhost/')) !== null

/** The address may hold a password, so the message has none of it. */
export const postgresUrl = v.custom<string>(
  (value) => typeof value === 'string' && isReadable(value),
  ({ input }) => {
    const rule = 'must be an address such as postgres://user:password@host:5432/database'
    if (typeof input !== 'string') return `${rule}, got ${kind(input)}`
    return `${rule}. In a password write # as %23, / as %2F, ? as %3F and @ as %40`
  },
)

/** Connections that request bytes give no statement a text. */
const isText = ({ options }: PgPool): boolean => !options || !('binary' in options) || options.binary !== true

export const postgresPool = v.pipe(
  withMethods<PgPool>(['connect'], 'new pg.Pool() has'),
  v.check(isText, 'must be a pool without `binary: true`'),
)

/**
 * The one of both that is given.
 * @param call the call's name, for the message
 * @throws TypeError if both are given, or none
 */
export function requirePlace(call: string, { url, pool }: { readonly url?: unknown; readonly pool?: unknown }): void {
  if (url === undefined && pool === undefined)
    throw new TypeError(`${call}: option \`url\` or \`pool\` must name a PostgreSQL database`)
  if (url !== undefined && pool !== undefined) throw new TypeError(`${call}: give option \`url\` or \`pool\`, not both`)
}
