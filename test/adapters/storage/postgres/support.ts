import { postgresOutbox, postgresStorage } from '../../../../adapters/storage/postgres.ts'
import type { StorageUnderTest, TableDefinition } from '../../../../lib/testing/index.ts'
import type { TestPostgres } from '../../../support/postgres.ts'
import { recordsOf } from '../records-of.ts'

/** A storage in a separate schema, which the suite may look into and open again. */
export async function postgresSubject(
  { url, newSchema, drop }: TestPostgres,
  tables: readonly TableDefinition[],
): Promise<StorageUnderTest> {
  const schema = newSchema()
  const open = () => postgresStorage({ url, schema, tables })
  return {
    storage: await open(),
    records: async () => recordsOf(await postgresOutbox({ url, schema })),
    reopen: open,
    dispose: () => drop(schema),
  }
}
