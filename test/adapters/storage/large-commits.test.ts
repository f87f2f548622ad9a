/** Operations that touch very many rows, and publish an event for each: on every engine, to the end of the relay's source. */
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openOutbox, outboxDirectory } from '../../../adapters/outbox/file.ts'
import { lowdbStorage } from '../../../adapters/storage/lowdb.ts'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { postgresOutbox, postgresStorage } from '../../../adapters/storage/postgres.ts'
import { sqliteOutbox, sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import type { OutboxSource } from '../../../lib/outbox/source.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { scoped } from '../../../lib/storage/scoped.ts'
import { memberSegments } from '../../../lib/storage/tables/custom-fields.ts'
import { members } from '../../../lib/storage/tables/members.ts'
import { createTestCommunity } from '../../support/community.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { testPostgres } from '../../support/postgres.ts'
import { soaking } from '../../support/rounds.ts'
import { recordsOf } from './records-of.ts'
import { wordOf } from './things.ts'

const server = await testPostgres()

interface Subject {
  readonly storage: Storage
  source(): Promise<OutboxSource>
}

const engines: Readonly<Record<string, () => Promise<Subject>>> = {
  async memory() {
    const directory = temporaryDirectory()
    return { storage: memoryStorage({ outbox: await openOutbox({ directory }) }), source: async () => outboxDirectory(directory) }
  },
  async lowdb() {
    const directory = temporaryDirectory()
    const outbox = await openOutbox({ directory: join(directory, 'outbox') })
    const storage = await lowdbStorage({ path: join(directory, 'db.json'), outbox, warn: () => {} })
    return { storage, source: async () => outboxDirectory(join(directory, 'outbox')) }
  },
  async sqlite() {
    const path = join(temporaryDirectory(), 'db.sqlite')
    return { storage: await sqliteStorage({ path }), source: () => sqliteOutbox(path) }
  },
  async postgres() {
    const schema = server.newSchema()
    const storage = await postgresStorage({ url: server.url, schema, statementTimeoutMs: 60_000 })
    return { storage, source: () => postgresOutbox({ url: server.url, schema }) }
  },
}

async function subject(name: string): Promise<Subject> {
  const open = engines[name]
  if (!open) throw new Error(`there is no engine ${name}`)
  return open()
}

const stamp = { created_at: '2026-11-20T10:00:00.000Z', updated_at: '2026-11-20T10:00:00.000Z' }
const idOf = (index: number) => String(1_000_000 + index)

/** So many members who carry the segment, as rows. */
async function carriers(storage: Storage, count: number, bio: string, segment: { id: string; custom_field_id: string }) {
  await storage.transaction(async (whole) => {
    const tx = scoped(whole, '1')
    for (let begin = 0; begin < count; begin += 1_000) {
      const ids = Array.from({ length: Math.min(1_000, count - begin) }, (_, index) => idOf(begin + index))
      await Promise.all(
        ids.flatMap((id) => {
          const email = `m${id}@example.org`
          const member = { ...stamp, id, email, email_key: email, first_name: 'Member', last_name: id, bio }
          const carried = { ...stamp, id, member_id: id, segment_id: segment.id, custom_field_id: segment.custom_field_id }
          return [tx.insert(members, member), tx.insert(memberSegments, { ...carried, kind: 'tag' })] as Promise<unknown>[]
        }),
      )
    }
  })
}

async function deleteTagOf(name: string, count: number, bio: string) {
  const { storage, source } = await subject(name)
  onTestFinished(() => storage.close())
  const { send } = await createTestCommunity({ storage })
  const { body: tag } = await send('tags.create', { body: { title: 'Gardening' } })
  await carriers(storage, count, bio, tag)
  const { status } = await send('tags.delete', { params: { id: tag.id } })
  const outbox = await source()
  onTestFinished(() => outbox.close())
  const removed: string[] = []
  let largest = 0
  for (let positions = {}, more = true; more; ) {
    const reading = await outbox.read(positions, 256 * 1024)
    for (const commit of reading.commits) {
      largest = Math.max(largest, JSON.stringify(commit).length)
      for (const record of commit)
        if (record.kind === 'event' && record.event_type === 'MemberTagRemovedHook')
          removed.push(JSON.parse(record.body).payload.member.id)
    }
    expect(reading.damage).toEqual([])
    positions = { ...positions, ...reading.positions }
    more = reading.more
  }
  return { status, removed, largest }
}

const all = (count: number) => Array.from({ length: count }, (_, index) => idOf(index))

// The databases take ten times as long for the rows, and a smaller number shows the same of them.
const counts = { memory: 12_000, lowdb: 2_000, sqlite: 2_000, postgres: 2_000 }

test.each(Object.entries(counts))('%s: a tag that %i members carry is deleted, each with one event', async (name, count) => {
  const { status, removed } = await deleteTagOf(name, count, '')
  expect(status).toBe(204)
  expect(removed).toEqual(all(count))
})

/** In the soak 20 MB of them. */
const long = soaking ? 100 : 25

test.each(Object.keys(engines))('%s: members with the longest texts make a commit of many MB in small pieces', async (name) => {
  const { status, removed, largest } = await deleteTagOf(name, long, 'ö'.repeat(100_000))
  expect(status).toBe(204)
  expect(removed).toEqual(all(long))
  expect(largest).toBeLessThan(1024 * 1024)
})

/** More than a function takes as its arguments; in `npm test` the databases get more than a statement takes as its values. */
const most = 150_000
const some = soaking ? most : 70_000
const many = { memory: most, lowdb: some, sqlite: some, postgres: some }

test.each(Object.entries(many))('%s: %i records of one transaction come out in their order', async (name, count) => {
  const { storage, source } = await subject(name)
  onTestFinished(() => storage.close())
  const ids = all(count)
  await storage.transaction((tx) => tx.append(ids.map((id) => wordOf(id))))
  const outbox = await source()
  expect((await recordsOf(outbox)).map((record) => 'event_id' in record && record.event_id)).toEqual(ids)
})
