/** Where the app keeps its data: PostgreSQL. */
import { postgresStorage } from 'folkmoot/storage/postgres'

/** The setting that says where. */
export const storageSetting = {
  name: 'DATABASE_URL',
  must: 'an address such as postgres://user:password@127.0.0.1:5432/database',
  isRight: /^postgres(ql)?:\/\/\S+$/,
  fallback: undefined,
}

export function openStorage(url) {
  return postgresStorage({ url })
}
