/**
 * A separate process that commits until it is killed, and prints an id as soon as its commit is acknowledged:
 * `node x DIRECTORY FIRST`. Each commit stores a thing and an event of the same name, counted from FIRST. When that is 1, the
 * file is made large first, so that a kill finds it in the middle of a write.
 */
import { join } from 'node:path'
import { argv } from 'node:process'
import { openOutbox } from '../../../../adapters/outbox/file.ts'
import { lowdbStorage } from '../../../../adapters/storage/lowdb.ts'
import { print } from '../../../support/print.ts'
import { insert, thing, things, wordOf } from './support.ts'

const [, , directory = '', first = ''] = argv
const outbox = await openOutbox({ directory: join(directory, 'outbox') })
const storage = await lowdbStorage({ path: join(directory, 'db.json'), outbox })

if (first === '1') await insert(storage, thing(0, { name: 'x'.repeat(2_000_000) }))
for (let next = Number(first); ; next += 3) {
  const ids = [next, next + 1, next + 2].map(String)
  await Promise.all(
    ids.map((id) =>
      storage.transaction(async (tx) => {
        await tx.insert(things, thing(id, { name: `Thing ${id} ${'x'.repeat(next % 500)}` }))
        await tx.append([wordOf(id)])
      }),
    ),
  )
  await print(ids.map((id) => `${id}\n`).join(''))
}
