/**
 * A separate process that commits until it is killed, and prints an id as soon as its commit is acknowledged:
 * `node x URL SCHEMA FIRST`. Each commit stores a thing and an event of the same name, counted from FIRST. It also counts it
 * in the first thing of all, so that the transactions wait for each other. Eight run at a time.
 */
import { argv } from 'node:process'
import { postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { print } from '../../../support/print.ts'
import { storeAndTell, things } from '../things.ts'

const [, , url = '', schema = '', first = ''] = argv
const storage = await postgresStorage({ url, schema, tables: [things] })
for (let next = Number(first); ; next += 8) {
  await Promise.all(
    Array.from({ length: 8 }, async (_, more) => {
      await storage.transaction(async (tx) => {
        await storeAndTell(tx, next + more)
        const counted = await tx.update(things, '1', { label: 'held' })
        await tx.update(things, '1', { size: (counted?.size ?? 0) + 1 })
      })
      await print(`${next + more}\n`)
    }),
  )
}
