/** The imports of the examples from the package, from the sources of this checkout. */
export { ApiError } from '../../lib/index.ts'
export { type HostRows, type HostTable, type Query, tables, type Where } from '../../lib/storage/index.ts'
