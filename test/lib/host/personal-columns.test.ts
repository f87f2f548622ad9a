/** Whatever is stored about a person has an answer to the question what their erasure does with it. */
import { expect, test } from 'vitest'
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

/** Tables that name a member, with what an erasure does to the rows of a person. `test/lib/host/erasure.test.ts` looks at each. */
const treatment: Readonly<Record<string, string>> = {
  api_keys: 'revoked; the name that an admin gave stays',
  audit: 'name and texts go, the action stays',
  members: 'personal columns go',
  member_history: 'removed',
  space_memberships: 'removed with the account',
  segments: 'options that only they added go',
  member_segments: 'removed with the account',
  answers: 'removed with the account',
  posts: 'stay, without a name',
  comments: 'stay, without a name',
  reactions: 'removed with the account',
  mutes: 'removed with the account',
  rsvps: 'removed with the account',
  assets: 'removed, but for those of hosts',
  plan_memberships: 'removed with the account',
  subscriptions: 'stay as receipts, without a name',
  purchases: 'stay as receipts, without a name',
  invites: 'removed',
  abuse_reports: 'stay, without a name',
}

test('every table that names a member has a treatment', () => {
  const names = (table: Table): boolean =>
    table.name === 'members' ||
    Object.entries(table.columns).some(
      ([name, { references }]) =>
        references?.table === 'members' || /^(?:member|creator|author|recipient|sender|subject)_id$|^email/.test(name),
    )
  expect(
    (tables as readonly Table[])
      .filter(names)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(Object.keys(treatment).toSorted())
})
