/** The imports of the examples from `folkmoot/storage`, from the sources of this checkout. */
export { type HostRows, type HostTable, type Query, tables, type Where } from '../../lib/storage/index.ts'
