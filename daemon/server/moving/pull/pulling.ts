/** The state that the parts of a running pull share. */
import { retryOnConflict } from '../../../../lib/kernel/transactions.ts'
import type { Storage, Tx } from '../../../../lib/storage/contract.ts'
import type { Id } from '../../../../lib/storage/table.ts'
import type { Paced } from '../paced-client.ts'
import type { Ids } from './ids.ts'
import { putNote } from './notes.ts'
import type { State } from './state.ts'

export interface Pulling {
  readonly source: Paced
  readonly storage: Storage
  readonly network_id: Id
  readonly ids: Ids
  /** The member whom the token belongs to; `0` if the server does not say. */
  readonly owner: Id
  /** Records that were changed before this time stay as they are. */
  readonly since: string | undefined
  state: State
  readonly onProgress: (stage: string, read: number) => void
  /** Shows people a sentence about what is not as usual. */
  readonly warn: (sentence: string) => void
}

/** Writes in one transaction, with the ids that came up in it. It runs again when it has lost a race. */
export async function write<T>({ storage, ids, network_id }: Pulling, work: (tx: Tx) => Promise<T>): Promise<T> {
  let noted: readonly Id[] = []
  const result = await retryOnConflict(() =>
    storage.transaction(async (tx) => {
      const done = await work(tx)
      const pairs = [...ids.unsaved]
      for (const [id, body] of pairs)
        await putNote(tx, 'id', { key: `${network_id} ${id}`, about: network_id, body: `${id} ${body}` })
      noted = pairs.map(([id]) => id)
      return done
    }),
  )
  ids.saved(noted)
  return result
}
