/** Where the app keeps its data: a SQLite file. */
import { mkdir } from 'node:fs/promises'
import { sqliteStorage } from 'folkmoot/storage/sqlite'

/** The setting that says where. */
export const storageSetting = { name: 'DATA', must: 'a directory', isRight: /./, fallback: './data' }

export async function openStorage(directory) {
  await mkdir(directory, { recursive: true })
  return sqliteStorage({ path: `${directory}/community.sqlite` })
}
