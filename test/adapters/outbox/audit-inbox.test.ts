/** The inbox of the audit beside an outbox directory: each line arrives once, and none is lost. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { leaveLine, type WaitingLine } from '../../../adapters/outbox/audit-inbox.ts'
import { openOutbox, outboxDirectory, takeAuditLines } from '../../../adapters/outbox/file.ts'
import { createTestCommunity } from '../../support/community.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { event, readAll } from './support.ts'

const by = { actor: 'cli:ada' }
const at = '2026-11-20T10:00:00.000Z'
const line: WaitingLine = {
  ...{ network: '1', action: 'deliveries.skipped', subject: { type: 'endpoint', id: '7', name: 'Shop' }, by, at, work_id: 'w1' },
  details: { skipped: 3 },
}

async function setUp() {
  const directory = temporaryDirectory()
  const { community, clock } = await createTestCommunity()
  clock.advance(Date.parse(at) + 3_600_000 - clock.now())
  const told = async () => (await community.audit.list({ network: '1', actor: by.actor, order: 'oldest' })).items
  const files = () => readdirSync(join(directory, 'audit'))
  return { directory, community, told, files }
}

test('a line arrives once, with its actor and its time, and only its owner can read it before', async () => {
  const { directory, community, told, files } = await setUp()
  await leaveLine(directory, line)
  const [name = ''] = files()
  expect(statSync(join(directory, 'audit', name)).mode & 0o777).toBe(0o600)
  const bytes = readFileSync(join(directory, 'audit', name))
  expect(await takeAuditLines(community, directory)).toEqual({ taken: 1, refused: [] })
  expect(files()).toEqual([])
  // The process ended before it removed the file.
  writeFileSync(join(directory, 'audit', name), bytes)
  expect(await takeAuditLines(community, directory)).toEqual({ taken: 1, refused: [] })
  expect(await told()).toMatchObject([
    { at, actor: 'cli:ada', action: 'deliveries.skipped', subject: line.subject, details: { skipped: 3, work_id: 'w1' } },
  ])
})

test('lines come in the order of their time, whatever their files are called', async () => {
  const { directory, community, told } = await setUp()
  const times = ['10:00:02', '10:00:01', '10:00:03'].map((time) => `2026-11-20T${time}.000Z`)
  for (const [place, time] of times.entries()) await leaveLine(directory, { ...line, at: time, work_id: `w${place}` })
  await takeAuditLines(community, directory)
  expect((await told()).map((entry) => entry.at)).toEqual(times.toSorted())
})

test.each([
  ['no JSON', '{'],
  ['no object', 'null'],
  ['another network', JSON.stringify({ ...line, network: '999' })],
  ['an action of the storage itself', JSON.stringify({ ...line, action: 'key.revoked' })],
  ['no actor', JSON.stringify({ ...line, by: undefined })],
  ['a line that is too long', JSON.stringify({ ...line, details: { text: 'x'.repeat(300_000) } })],
])('a file with %s is kept aside, and the others are taken', async (_name, text) => {
  const { directory, community, told, files } = await setUp()
  await leaveLine(directory, line)
  writeFileSync(join(directory, 'audit', '0.json'), text)
  const refused = join(directory, 'audit', '0.refused')
  expect(await takeAuditLines(community, directory)).toEqual({ taken: 1, refused: [refused] })
  expect([files(), (await told()).length]).toEqual([['0.refused'], 1])
  expect(await takeAuditLines(community, directory)).toEqual({ taken: 0, refused: [] })
})

test('a storage in trouble keeps the lines where they are', async () => {
  const { directory, community, told, files } = await setUp()
  await leaveLine(directory, line)
  const failing: typeof community.by = (actor) => {
    const calls = community.by(actor)
    return { ...calls, audit: { ...calls.audit, record: () => Promise.reject(new Error('away')) } }
  }
  await expect(takeAuditLines({ by: failing }, directory)).rejects.toThrow('away')
  expect(files()).toHaveLength(1)
  await takeAuditLines(community, directory)
  expect(await told()).toHaveLength(1)
})

test('a directory that does not exist is refused by its name', async () => {
  const { directory, community } = await setUp()
  const missing = join(directory, 'missing')
  await expect(takeAuditLines(community, missing)).rejects.toThrow(`there is no outbox at ${missing}`)
})

test('an outbox without lines has none, and its events are read as ever', async () => {
  const { directory, community } = await setUp()
  expect(await takeAuditLines(community, directory)).toEqual({ taken: 0, refused: [] })
  const outbox = await openOutbox({ directory })
  await leaveLine(directory, line)
  await outbox.append([[event('e1')]])
  await outbox.close()
  expect((await readAll(outboxDirectory(directory))).ids).toEqual(['e1'])
})

test('an inbox that cannot be written is named', async () => {
  const { directory } = await setUp()
  writeFileSync(join(directory, 'audit'), 'a file')
  await expect(leaveLine(directory, line)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(join(directory, 'audit')),
  })
})
