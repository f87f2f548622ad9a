/** Columns that follow from others of their row, wherever rows are written by other ways than operations and the host's calls. */
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import { seedDemo } from '../../../../daemon/server/demo/seed.ts'
import { copyTables } from '../../../../daemon/server/storage/copy-tables.ts'
import { createCommunity } from '../../../../lib/index.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import { derivedColumns, type Row, type Table } from '../../../../lib/storage/table.ts'
import { tables } from '../../../../lib/storage/tables.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { consent, everything, pullFrom, seededSource } from './support.ts'

const derivedTables = (tables as readonly Table<Row>[]).filter(({ columns }) => Object.values(columns).some((one) => one.derived))

/** Every table with such columns holds rows, and each row has what its other columns say. */
async function expectDerived(storage: Storage): Promise<void> {
  const rows = await everything(storage)
  for (const table of derivedTables) {
    const found = rows[table.name] ?? []
    expect(found).not.toEqual([])
    expect(found).toEqual(found.map((row) => ({ ...row, ...derivedColumns(table, row) })))
  }
}

test('the demo network and its copy have the columns that follow from others', async () => {
  const storage = memoryStorage()
  await seedDemo(createCommunity({ storage, allowHttp: true }), storage)
  await expectDerived(storage)
  const copy = await sqliteStorage({ path: join(temporaryDirectory(), 'db.sqlite') })
  onTestFinished(() => copy.close())
  await copyTables(storage, copy, 'memory')
  await expectDerived(copy)
})

test('a pull keeps the columns that follow from others, of new rows and of changed ones', async () => {
  const source = await seededSource()
  const { send } = source
  const target = memoryStorage()
  await pullFrom(source, target)
  await expectDerived(target)
  // One member takes the former address of another, one hides theirs, one leaves, one comes; a post has another title.
  await send('members.update', { params: { id: '101' }, body: { email: 'free@example.org', first_name: 'Zoë' } })
  await send('members.update', { params: { id: '104' }, body: { email: 'grace@example.org' } })
  await send('members.delete', { params: { id: '102' } })
  await send('members.create', { body: { email: 'new@example.org', first_name: 'New', last_name: 'One' } })
  await send('posts.update', { params: { id: '401' }, body: { title: 'Ångström' } })
  await consent(source.storage, false, '103')
  await pullFrom(source, target)
  await expectDerived(target)
  await consent(source.storage, false)
  await pullFrom(source, target)
  await expectDerived(target)
})
