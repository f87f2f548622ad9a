/**
 * A separate process that commits until it is killed, and prints an id as soon as its commit is acknowledged:
 * `node x PATH FIRST`. Each commit stores a thing and an event of the same name, counted from FIRST; four at a time.
 */
import { argv } from 'node:process'
import { sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import { print } from '../../../support/print.ts'
import { insertAndTell, things } from '../things.ts'

const [, , path = '', first = ''] = argv
const storage = await sqliteStorage({ path, tables: [things] })
for (let next = Number(first); ; next += 4) {
  await Promise.all(
    [0, 1, 2, 3].map(async (more) => {
      await insertAndTell(storage, next + more)
      await print(`${next + more}\n`)
    }),
  )
}
