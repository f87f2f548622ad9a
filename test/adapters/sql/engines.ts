/** A database of each engine, for tests of the SQL kit. */
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Dialect } from '../../../adapters/sql/dialect.ts'
import type { Schema } from '../../../adapters/sql/migrations.ts'
import { postgresDialect } from '../../../adapters/sql/postgres/dialect.ts'
import { migrateOn, requireMigratedOn } from '../../../adapters/sql/postgres/migrate.ts'
import { openPool } from '../../../adapters/sql/postgres/pool.ts'
import { send } from '../../../adapters/sql/postgres/wire/send.ts'
import { openConnection } from '../../../adapters/sql/sqlite/connection.ts'
import { sqliteDialectOf } from '../../../adapters/sql/sqlite/dialect.ts'
import { migrateFile, requireMigratedFile } from '../../../adapters/sql/sqlite/migrate.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { testPostgres } from '../../support/postgres.ts'

export interface TestDatabase {
  readonly dialect: Dialect
  /** On a separate connection, as another process would. */
  migrate(schema: Schema, dryRun?: boolean): Promise<readonly string[]>
  requireMigrated(schema: Schema): Promise<void>
  /** Rows as lists of texts and nulls. */
  rows(sql: string): Promise<readonly (readonly (string | null)[])[]>
}

const shown = (rows: readonly (readonly unknown[])[]) =>
  rows.map((row) => row.map((value) => (value === null ? null : String(value))))

async function sqlite(): Promise<TestDatabase> {
  const path = join(temporaryDirectory(), 'kit.sqlite')
  const dialect = sqliteDialectOf('')
  const opened = () => {
    const connection = openConnection(path)
    onTestFinished(() => connection.close())
    return connection
  }
  const connection = opened()
  return {
    dialect,
    migrate: (schema, dryRun) => migrateFile(opened().database, dialect, schema, path, dryRun),
    requireMigrated: (schema) => requireMigratedFile(connection.database, dialect, schema, path),
    rows: async (sql) => shown(connection.query({ sql, values: [] })),
  }
}

async function postgres(): Promise<TestDatabase> {
  const server = await testPostgres()
  const schema = server.newSchema()
  const dialect = postgresDialect(schema)
  const pool = await openPool({ url: server.url, size: 5, connectTimeoutMs: 5_000, statementTimeoutMs: 10_000 })
  onTestFinished(() => pool.end())
  return {
    dialect,
    migrate: (wanted, dryRun) => migrateOn(pool, dialect, wanted, dryRun),
    requireMigrated: (wanted) => requireMigratedOn(pool, dialect, wanted),
    async rows(sql) {
      const client = await pool.connect()
      try {
        return shown((await send(client, sql)).rows)
      } finally {
        client.release()
      }
    },
  }
}

export const engines = [
  ['sqlite', sqlite],
  ['postgres', postgres],
] as const
