import { expect, test } from 'vitest'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { ApiError, createCommunity, type HostCalls } from '../../../lib/index.ts'
import { Conflict, type Storage } from '../../../lib/storage/contract.ts'
import { Recorder } from '../../../lib/storage/recorder.ts'
import type { Table } from '../../../lib/storage/table.ts'
import { members } from '../../../lib/storage/tables/members.ts'
import { tables } from '../../../lib/storage/tables.ts'
import { withTables } from '../../../lib/storage/with-tables.ts'
import { demoNetwork } from '../../support/community.ts'
import { createSeededCommunity, seeded } from '../../support/seed.ts'

const network = '1'
const { emptySpace, member, space, tag, spareTag } = seeded

/** Every row, as text. */
const contentOf = (storage: Storage) =>
  storage.transaction(
    async (tx) =>
      JSON.stringify(
        await Promise.all((tables as readonly Table[]).map(async (table) => [table.name, await tx.find(table, {})])),
      ),
    { readOnly: true },
  )

const rename = (title: string) => (calls: HostCalls) =>
  calls.call('tags.update', { network, params: { id: tag }, body: { title } })

test('a preview of an erasure is of all its transactions, and changes nothing', async () => {
  const t = await createSeededCommunity()
  const before = await contentOf(t.storage)
  const preview = await t.community.preview((calls) => calls.by({ actor: 'ada' }).members.erase(network, member))
  expect(await contentOf(t.storage)).toBe(before)
  expect(t.records.filter(({ kind }) => kind === 'erasure')).toEqual([])
  expect(preview.rows['members']).toEqual({ inserted: 0, changed: 1, removed: 0 })
  expect(preview.rows['audit']).toEqual({ inserted: 1, changed: 0, removed: 0 })
  expect(preview.events).toEqual({ MemberLeftHook: 4 })
  expect(preview.result).toMatchObject({ id: member, state: 'deleted' })
  expect(preview.sentence).toMatch(/^1 member changes, .*; \d+ events?, 0 deliveries to 0 endpoints; nothing was changed$/)

  const erased = await t.community.act((calls) => calls.by({ actor: 'ada' }).members.erase(network, member), {
    if: preview.token,
  })
  expect(erased).toMatchObject({ id: member, state: 'deleted' })
  expect(t.records.filter(({ kind }) => kind === 'erasure').length).toBeGreaterThan(0)
  expect((await t.community.audit.list({ network })).items[0]).toMatchObject({ action: 'member.erased', actor: 'ada' })
})

test('work goes on after a call that was refused, without what that call had changed', async () => {
  const t = await createSeededCommunity()
  const work = async (calls: HostCalls) => {
    await expect(calls.call('tags.update', { network, params: { id: spareTag }, body: { title: '' } })).rejects.toThrow(ApiError)
    await expect(calls.keys.create({ network, name: 'A', scopes: ['*'], member_id: '42' })).rejects.toThrow(ApiError)
    return Promise.all([rename('Oil')(calls), calls.call('tags.delete', { network, params: { id: spareTag } })])
  }
  const preview = await t.community.preview(work)
  expect(preview.rows).toEqual({ segments: { inserted: 0, changed: 1, removed: 1 } })
  const [{ title }] = await t.community.act(work, { if: preview.token })
  expect(title).toBe('Oil')
})

test('a transaction that fails is taken back by itself', async () => {
  const t = await createSeededCommunity({
    hooks: {
      async before({ id, tx }) {
        if (id !== 'tags.create') return
        await tx.update(members, member, { first_name: 'Gone' })
        await tx.remove(members, '104')
        throw new ApiError(403, { error: 'No' })
      },
    },
  })
  const preview = await t.community.preview(async (calls) => {
    await calls.call('tags.create', { network, body: { title: 'New' } }).catch(() => {})
    const query = { per_page: 100 }
    return (await calls.call('members.list', { network, query })).items.map(({ first_name }) => first_name)
  })
  expect(preview.rows).toEqual({})
  expect(preview.result).toEqual(expect.arrayContaining(['Grace', 'Barbara']))
  expect(preview.sentence).toBe('no record changes; no event; nothing was changed')
})

test('an act is refused and undone if something has changed since its preview', async () => {
  const t = await createSeededCommunity()
  const work = rename('Oil')
  const { token } = await t.community.preview(work)
  await rename('Gouache')(t.community)
  const [before, records] = [await contentOf(t.storage), t.records.length]
  const refusal = { status: 409, message: 'This would no longer change what its preview has named. Preview it again' }
  await expect(t.community.act(work, { if: token })).rejects.toMatchObject(refusal)
  const input = { network, params: { id: tag }, body: { title: 'Oil' } }
  const { token: one } = await t.community.preview('tags.update', input)
  await rename('Ink')(t.community)
  await expect(t.community.call('tags.update', { ...input, if: one })).rejects.toMatchObject(refusal)
  expect(await contentOf(t.storage)).not.toBe(before)
  expect(t.records.length).toBe(records)
  await expect(t.community.call('tags.update', { ...input, body: { title: 'Oils' }, if: one })).rejects.toMatchObject(refusal)
  const { token: now } = await t.community.preview('tags.update', input)
  await expect(t.community.call('tags.update', { ...input, if: now })).resolves.toMatchObject({ title: 'Oil' })
})

test('an act without the token of a preview is a mistake', async () => {
  const t = await createSeededCommunity()
  const act = t.community.act as (work: unknown, options?: unknown) => Promise<unknown>
  await expect(act(rename('Oil'))).rejects.toThrow(TypeError)
  await expect(act(rename('Oil'), { if: 7 })).rejects.toMatchObject({ status: 422 })
  const input = { network, params: { id: tag }, body: { title: 'Oil' }, if: undefined }
  await expect(t.community.call('tags.update', input as never)).rejects.toThrow(/would not be compared with its preview/)
})

test('ids and secrets of a preview are none', async () => {
  const t = await createSeededCommunity()
  const work = async (calls: HostCalls) => ({
    made: await calls.keys.create({ network, name: 'Export', scopes: ['*'] }),
    post: await calls.call('posts.create', { network, body: { space_id: space, title: 'New' } }),
  })
  const preview = await t.community.preview(work)
  const { made, post } = preview.result
  expect([made.key.id, post.id]).toEqual(['0', '0'])
  expect(post.permalink).not.toMatch(/\d{10}/)
  expect(made.token).toMatch(/^fmt_0{40}/)
  expect(await t.community.preview(work)).toEqual(preview)
  const { post: really } = await t.community.act(work, { if: preview.token })
  expect(really.id).toMatch(/^\d{10,}$/)
})

test('the hook can see that it is a preview, and its veto refuses it', async () => {
  const seen: boolean[] = []
  const t = await createSeededCommunity({
    hooks: {
      before({ isPreview }) {
        seen.push(isPreview)
        if (seen.length === 3) throw new ApiError(403, { error: 'Not today' })
      },
    },
  })
  const { token } = await t.community.preview(rename('Oil'))
  await t.community.act(rename('Oil'), { if: token })
  await expect(t.community.preview(rename('Ink'))).rejects.toMatchObject({ status: 403, message: 'Not today' })
  expect(seen).toEqual([true, false, true])
})

test('hooks.after gets the events of an act, and none of a preview', async () => {
  const told: string[] = []
  const t = await createSeededCommunity({ hooks: { after: ({ event_type }) => void told.push(event_type) } })
  const work = (calls: HostCalls) => calls.call('members.delete', { network, params: { id: member } })
  const { token } = await t.community.preview(work)
  await t.community.act(work, { if: token })
  const happened = [...t.events(), ...t.events('host')].map(({ event_type }) => event_type)
  await expect.poll(() => told.toSorted()).toEqual(happened.toSorted())
})

test('a key of consumeOnce that a preview uses up is unused', async () => {
  const t = await createSeededCommunity()
  const use = (calls: Pick<HostCalls, 'consumeOnce'>) => calls.consumeOnce({ network, key: 'form 1' })
  expect((await t.community.preview(use)).result).toBe(true)
  expect(await use(t.community)).toBe(true)
  expect(await use(t.community)).toBe(false)
})

test('work that uses the community itself is refused, and undone', async () => {
  const t = await createSeededCommunity()
  const before = await contentOf(t.storage)
  await expect(t.community.preview(() => rename('Oil')(t.community))).rejects.toThrow(TypeError)
  expect(await contentOf(t.storage)).toBe(before)
})

test('a key that is used stays the same', async () => {
  const t = await createSeededCommunity()
  const { key, token } = await t.community.keys.create({ network, name: 'Export', scopes: ['*'] })
  const revoke = (calls: HostCalls) => calls.keys.revoke(network, key.id)
  const preview = await t.community.preview(revoke)
  await t.sendAs(token)('me.show')
  await expect.poll(async () => (await t.community.keys.find(network, key.id))?.last_used_at).not.toBeNull()
  expect(await t.community.act(revoke, { if: preview.token })).toMatchObject({ status: 'Revoked' })
})

test('rows of host tables that no transaction holds have no preview', async () => {
  const rows: object[] = []
  const storage = withTables(memoryStorage(), {
    spaces: {
      async insert(_native, row) {
        rows.push(row)
        return row
      },
      get: async () => undefined,
      find: async () => [],
      count: async () => 0,
    },
  })
  const faults: unknown[] = []
  const community = createCommunity({ storage, hooks: { onError: (error) => void faults.push(error) } })
  await community.networks.create(demoNetwork)
  const preview = community.preview('spaces.create', { network, body: { name: 'New' } })
  await expect(preview).rejects.toMatchObject({ status: 403, message: expect.stringContaining('it has no preview') })
  expect([rows, faults]).toEqual([[], []])
  expect((await community.preview('tags.create', { network, body: { title: 'New' } })).rows).toMatchObject({
    segments: { inserted: 1 },
  })
})

test('a preview of more rows than it can remember is refused', async () => {
  const recorder = new Recorder(true, 2)
  const storage = memoryStorage()
  const stamp = { network_id: '1', created_at: '', updated_at: '' }
  const [table] = tables
  const row = { ...stamp, title: '', subtitle: '', purpose: '', description: '' }
  const work = storage.transaction(async (real) => {
    const tx = recorder.over(real)
    for (const id of ['1', '2', '3'])
      await tx.insert(table, {
        ...row,
        id,
        subdomain: id,
        service_plan: 'standard',
        member_email_visibility: false,
        read_only: false,
      })
  })
  await expect(work).rejects.toMatchObject({ status: 413, message: expect.stringContaining('more than 2 rows') })
})

test('a preview whose transaction a deadlock has undone runs again as a whole', async () => {
  const t = await createSeededCommunity()
  let works = 0
  // Of a transaction that the database has undone, each later call fails, too.
  const undone = (real: Storage): Storage => ({
    close: () => real.close(),
    transaction: (work, options) =>
      real.transaction(async (tx) => {
        if (!options?.isPreview || ++works > 1) return work(tx)
        const fails = async () => Promise.reject(new Conflict('deadlock'))
        return work({ ...tx, get: fails, find: fails, lock: fails, insert: fails, update: fails, remove: fails })
      }, options),
  })
  const community = createCommunity({ storage: undone(t.storage), clock: t.clock })
  expect((await community.preview(rename('Oil'))).rows).toEqual({ segments: { inserted: 0, changed: 1, removed: 0 } })
  expect(works).toBe(2)
})

test('calls of a preview that run in parallel change what they would one after the other', async () => {
  const t = await createSeededCommunity()
  const join = (calls: Pick<HostCalls, 'call'>, user_id: string) =>
    calls.call('space_members.create', { network, params: { space_id: emptySpace }, query: { user_id } })
  const all = (calls: Pick<HostCalls, 'call'>) => Promise.all(['102', '103', '104'].map((id) => join(calls, id)))
  const preview = await t.community.preview(all)
  await t.community.act(all, { if: preview.token })
  expect(preview.rows['space_memberships']).toEqual({ inserted: 3, changed: 0, removed: 0 })
})
