/** Where the app keeps its data: a JSON file, and the outbox beside it. */
import { openOutbox } from 'folkmoot/outbox'
import { lowdbStorage } from 'folkmoot/storage/lowdb'

/** The setting that says where. */
export const storageSetting = { name: 'DATA', must: 'a directory', isRight: /./, fallback: './data' }

export async function openStorage(directory: string) {
  const outbox = await openOutbox({ directory: `${directory}/outbox` })
  return lowdbStorage({ path: `${directory}/community.json`, outbox })
}
