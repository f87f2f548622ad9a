/** Whatever is stored about a person has an answer to the question what their erasure does with it. */
import { expect, test } from 'vitest'
import { personalRows } from '../../../lib/host/export/personal-tables.ts'
import { erasedColumns, type Table } from '../../../lib/storage/table.ts'
import { members } from '../../../lib/storage/tables/members.ts'
import { tables } from '../../../lib/storage/tables.ts'
import { createTestCommunity } from '../../support/community.ts'
import { newMember } from '../../support/records.ts'

test('every column of members is personal or kept', () => {
  const common = ['id', 'network_id', 'created_at', 'updated_at']
  const undecided = Object.entries(members.columns).filter(
    ([name, { personal }]) => personal === undefined && !common.includes(name),
  )
  expect(undecided.map(([name]) => `${name}: declare it personal(…) or kept(…) in lib/storage/tables/members.ts`)).toEqual([])
})

/** A value of each type that no erased row has. */
const marks: Readonly<Record<string, unknown>> = {
  text: 'Zedekiah',
  boolean: true,
  integer: 7,
  timestamp: '2026-11-20T09:00:00.000Z',
  json: [{ id: '1', title: 'Zedekiah' }],
}

test('an erasure takes every personal column out of the row', async () => {
  const run = await createTestCommunity()
  const { id } = await newMember(run, 'Zedekiah')
  const erased = erasedColumns(members)
  const filled = Object.fromEntries(Object.keys(erased).map((name) => [name, marks[members.columns[name]?.type ?? '']]))
  await run.storage.transaction((tx) => tx.update(members, id, filled))
  await run.community.members.erase('1', id)
  const row = await run.storage.transaction((tx) => tx.get(members, id))
  expect(row).toMatchObject(erased)
  expect(JSON.stringify(row)).not.toContain('Zedekiah')
})

test('an export of a person reads every table that names a member, by each column that does', () => {
  const named = (tables as readonly Table[]).flatMap((table) =>
    Object.entries(table.columns)
      .filter(
        ([name, { references }]) =>
          references?.table === 'members' || /^(?:member|creator|author|recipient|sender|subject)_id$|^email_key/.test(name),
      )
      .map(([name]) => `${table.name}.${name}`),
  )
  const person = { id: '5', address: 'zed@example.org', avatar: 'https://example.org/zed.png', keys: ['7'] }
  const read = personalRows(person).flatMap(({ table, columns }) => columns.map((name) => `${table.name}.${name}`))
  // The address of a member is in their own row, which is found by its id.
  const missing = named.filter((column) => !read.includes(column) && column !== 'members.email_key')
  expect(
    missing.map((column) => `${column}: name it in lib/host/export/personal-tables.ts, and look at erasure.test.ts`),
  ).toEqual([])
})
