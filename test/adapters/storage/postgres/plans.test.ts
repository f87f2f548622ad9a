/** How often PostgreSQL plans a statement, as its own counts have it. */
import type pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../../../adapters/storage/postgres.ts'
import type { Storage, Tx } from '../../../../lib/storage/contract.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { thing, things } from '../things.ts'

const server = await testPostgres()

/** A storage with so many things that a tenth of them is more than a page. */
async function filled(): Promise<Storage> {
  const storage = await postgresStorage({ url: server.url, schema: server.newSchema(), tables: [things], poolSize: 1 })
  onTestFinished(() => storage.close())
  await storage.transaction(async (tx) => {
    await Promise.all(Array.from({ length: 2000 }, (_, place) => tx.insert(things, thing(place + 1))))
  })
  await storage.transaction(({ native }) => (native as pg.Client).query('ANALYZE'))
  return storage
}

/** Plans for the values of one call alone, of the statements that read things. */
const ownPlans = async ({ native }: Tx): Promise<readonly number[]> => {
  const { rows } = await (native as pg.Client).query(
    `SELECT custom_plans AS plans FROM pg_prepared_statements WHERE statement LIKE 'SELECT%"things"%'`,
  )
  return rows.map(({ plans }) => Number(plans))
}

test('a page that is requested often has one plan for all values', async () => {
  const storage = await filled()
  const plans = await storage.transaction(async (tx) => {
    for (let time = 0; time < 20; time++) await tx.find(things, { where: { network_id: '1' }, limit: 26 })
    return ownPlans(tx)
  })
  // PostgreSQL makes five such plans before it compares them with one for all values.
  expect(plans).toEqual([5])
})
