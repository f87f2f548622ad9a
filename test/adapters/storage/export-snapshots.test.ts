/** Exports while others write: one state on SQLite and PostgreSQL, and page by page elsewhere. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { postgresStorage } from '../../../adapters/storage/postgres.ts'
import { sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import { createCommunity, type ExportRow } from '../../../lib/index.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { testPostgres } from '../../support/postgres.ts'
import { recordingOutbox } from './recording-outbox.ts'

const network = '1'
const server = await testPostgres()
const sqlite = () => sqliteStorage({ path: join(temporaryDirectory(), 'db.sqlite') })
const postgres = () => postgresStorage({ url: server.url, schema: server.newSchema() })
const query = { what: 'members', fields: ['first_name'] } as const

/** A community of 250 members, of whom some are changed, removed and added. */
async function filled(storage: Storage) {
  const community = createCommunity({ storage, allowHttp: true })
  onTestFinished(() => community.close())
  const owner = { email: 'ada@example.org', first_name: 'Member', last_name: 'Ash' }
  await community.networks.create({ id: network, subdomain: 'demo', title: 'Demo', owner })
  const add = (name: string, first_name: string) =>
    community.call('members.create', { network, body: { email: `${name}@example.org`, first_name, last_name: 'Ash' } })
  const ids: string[] = []
  for (let n = 1; n < 250; n++) ids.push((await add(`m${n}`, 'Member')).id)
  const params = (place: number) => ({ network, params: { id: ids.at(place) ?? '' } })
  return {
    community,
    async change() {
      await community.call('members.update', { ...params(-1), body: { first_name: 'Changed' } })
      await community.members.erase(network, params(-2).params.id)
      await add('late', 'Late')
    },
  }
}

const namesOf = (rows: readonly ExportRow[]) => rows.map((row) => row['first_name'])

/** The rows of an export in the middle of which something happens. */
async function interrupted(rows: AsyncIterable<ExportRow>, happens: () => unknown): Promise<readonly ExportRow[]> {
  const found: ExportRow[] = []
  for await (const row of rows) if (found.push(row) === 50) await happens()
  return found
}

const namesIn = async (rows: AsyncIterable<ExportRow>) => namesOf(await interrupted(rows, () => {}))

const before = Array.from({ length: 250 }, () => 'Member')
const after = [...before.slice(0, 248), '', 'Changed', 'Late']

describe.each([
  ['sqlite', sqlite],
  ['postgres', postgres],
])('%s', (_name, open) => {
  test('rows that are changed, erased or added during an export are in it as they were', async () => {
    const { community, change } = await filled(await open())
    expect(namesOf(await interrupted(community.export(network, query), change))).toEqual(before)
    expect(await namesIn(community.export(network, query))).toEqual(after)
  })

  test('so are those between two pages that are read one by one, and those of one person', async () => {
    const { community } = await filled(await open())
    const id = (await community.members.list(network, { q: 'm1@' })).items[0]?.id ?? ''
    for (let n = 0; n < 110; n++) await community.members.changeRole(network, id, n % 2 === 0 ? 'moderator' : 'contributor')
    const first = await community.members.exportPage(network, id)
    const person = await interrupted(community.members.export(network, id), () => community.members.erase(network, id))
    const lines = person.filter((row) => row['action'] === 'member.role_changed')
    expect(lines.map((row) => row['subject_name'])).toEqual(Array.from({ length: 110 }, () => 'Member Ash'))
    expect(first.next).toMatch(/@[\w-]{36}$/)
  })

  test('more exports than two read page by page, and one that is left makes room', async () => {
    const { community } = await filled(await open())
    const walks = [1, 2, 3].map(() => community.export(network, query)[Symbol.asyncIterator]())
    for (const walk of walks) await walk.next()
    const holds = async () => (await community.exportPage(network, query)).next?.includes('@')
    expect(await holds()).toBe(false)
    await walks[0]?.return?.()
    expect(await holds()).toBe(true)
  })

  test('a place shows nothing of another network, and one whose snapshot is over is read in the present state', async () => {
    const { community, change } = await filled(await open())
    const { next } = await community.exportPage(network, query)
    await community.networks.create({
      subdomain: 'other',
      title: 'Other',
      owner: { email: 'o@example.org', first_name: 'O', last_name: 'O' },
    })
    await change()
    expect((await community.exportPage('other', { ...query, after: next ?? '' })).rows).toEqual([])
    const gone = String(next).replace(/@.*/, `@${randomUUID()}`)
    expect(await namesIn(community.export(network, query))).toEqual(after)
    const page = await community.exportPage(network, { ...query, after: gone })
    expect(page.next).not.toContain('@')
    expect(page.rows).toHaveLength(100)
    await expect(community.exportPage(network, { ...query, after: `x@${randomUUID()}` })).rejects.toMatchObject({ status: 422 })
  })

  test('a community closes during an export, which then ends with a refusal', async () => {
    const { community } = await filled(await open())
    await expect(interrupted(community.export(network, query), () => community.close())).rejects.toMatchObject({ status: 503 })
  })
})

test('an export whose reader pauses too long lets go of its snapshot, and goes on page by page', async () => {
  const { community, change } = await filled(await sqlite())
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const rows = await interrupted(community.export(network, query), async () => {
    vi.advanceTimersByTime(19_000)
    await change()
  })
  expect(namesOf(rows)).toEqual(before)
  const late = await interrupted(community.export(network, query), async () => {
    vi.advanceTimersByTime(20_000)
    const last = (await community.members.list(network, { q: 'late' })).items[0]?.id ?? ''
    await community.call('members.update', { network, params: { id: last }, body: { first_name: 'Later' } })
  })
  expect(namesOf(late).at(-1)).toBe('Later')
})

test('in memory an export is read page by page, and a row that is there all the time comes once', async () => {
  const { community, change } = await filled(memoryStorage({ outbox: recordingOutbox() }))
  expect(namesOf(await interrupted(community.export(network, query), change))).toEqual(after)
})
