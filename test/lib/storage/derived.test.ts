/** Columns that follow from others of their row. */
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { lowdbStorage } from '../../../adapters/storage/lowdb.ts'
import type { Patch, Storage } from '../../../lib/storage/contract.ts'
import { hostScoped } from '../../../lib/storage/scoped.ts'
import { derived, table, text } from '../../../lib/storage/table.ts'
import { type MemberRow, members } from '../../../lib/storage/tables/members.ts'
import { recordingOutbox } from '../../adapters/storage/recording-outbox.ts'
import { createTestCommunity } from '../../support/community.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { newMember } from '../../support/records.ts'

const keysOf = (storage: Storage, id: string) =>
  storage.transaction(async (tx) => {
    const row = await tx.get(members, id)
    return [row?.name_key, row?.search_key]
  })

test('the keys of a name follow every change of it, and of the consent to show the address', async () => {
  const run = await createTestCommunity()
  const { id } = await newMember(run, 'Zoe')
  await run.send('members.update', { params: { id }, body: { first_name: 'Zoë' } })
  const change = (patch: Patch<MemberRow>) =>
    run.storage.transaction((tx) => hostScoped(tx, '1').update(members, id, { ...patch, updated_at: '2026-11-20T11:00:00.000Z' }))
  await change({ last_name: 'ÅNGSTRÖM', email: 'Zoe@Example.org', commercial_email_consent: false })
  expect(await keysOf(run.storage, id)).toEqual(['zoe angstrom', 'zoe angstrom'])
  await change({ commercial_email_consent: true })
  expect(await keysOf(run.storage, id)).toEqual(['zoe angstrom', 'zoe angstrom zoe@example.org'])
  await run.send('members.update', { params: { id }, body: { first_name: 'Ada', email: 'ada@example.org' } })
  expect(await keysOf(run.storage, id)).toEqual(['ada angstrom', 'ada angstrom ada@example.org'])
  await run.send('members.update', { params: { id }, body: { role: 'moderator' } })
  expect(await keysOf(run.storage, id)).toEqual(['ada angstrom', 'ada angstrom ada@example.org'])
  await change({ commercial_email_consent: false })
  expect(await keysOf(run.storage, id)).toEqual(['ada angstrom', 'ada angstrom'])
  await change({ first_name: 'x'.repeat(400), last_name: '\u{1f98a}'.repeat(200) })
  expect([...((await keysOf(run.storage, id))[0] ?? '')]).toHaveLength(500)
  await run.community.members.erase('1', id)
  expect(await keysOf(run.storage, id)).toEqual(['', ''])
})

test('concurrent changes of the two names end in the key of both', async () => {
  const run = await createTestCommunity()
  const { id } = await newMember(run, 'Before')
  const change = (body: object) => run.send('members.update', { params: { id }, body })
  await Promise.all([change({ first_name: 'Grace' }), change({ last_name: 'Hopper' })])
  expect((await keysOf(run.storage, id))[0]).toBe('grace hopper')
})

const first = table('things', { name: text() })
const second = table('things', { name: text(), key: derived(['name'], ({ name }: { name: string }) => name.toLowerCase()) })

test('a lowdb file of an earlier version gets the columns when it is read', async () => {
  const path = join(temporaryDirectory(), 'db.json')
  const at = '2026-11-20T10:00:00.000Z'
  const row = { id: '1', network_id: '1', created_at: at, updated_at: at, name: 'ADA' }
  const before = await lowdbStorage({ path, outbox: recordingOutbox() })
  await before.transaction((tx) => tx.insert(first, row))
  await before.close()
  const after = await lowdbStorage({ path, outbox: recordingOutbox() })
  onTestFinished(() => after.close())
  expect(await after.transaction((tx) => tx.find(second, { contains: { key: ['ad'] } }))).toEqual([{ ...row, key: 'ada' }])
})
