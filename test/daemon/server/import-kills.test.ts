/** An import that is killed again and again, and started again each time: every row becomes one member, with its events. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import { openSource } from '../../../daemon/relay/ingest/outbox-address.ts'
import { scoped } from '../../../lib/storage/scoped.ts'
import { members } from '../../../lib/storage/tables/members.ts'
import { recordsOf } from '../../adapters/storage/records-of.ts'
import { run } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { ended } from '../../support/program.ts'
import { rounds as roundsOf } from '../../support/rounds.ts'

const rounds = roundsOf(10, 40)
/** More than are imported before the last kill. */
const rows = rounds * 400

test('kill -9 at any moment: an import that is started again misses no row, and makes none twice', {
  timeout: 300_000,
}, async () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'db.sqlite')
  const storage = ['--storage', `sqlite:${path}`]
  const owner = ['--owner-email', 'ada@example.org', '--owner-name', 'Ada Ash', '--plan', 'unlimited']
  const made = await ended(
    'folkmoot',
    'networks',
    'create',
    '--subdomain',
    'demo',
    '--title',
    'Demo',
    ...owner,
    ...storage,
    '--json',
  )
  const network: string = JSON.parse(made.stdout).network_id
  const file = join(directory, 'members.csv')
  const lines = Array.from({ length: rows }, (_, row) => `member${row}@example.org,Bela,${row},"Founder;Row"`)
  writeFileSync(file, ['email,first_name,last_name,tags', ...lines].join('\n'))
  const watching = await sqliteStorage({ path })
  onTestFinished(() => watching.close())
  const count = () => watching.transaction((tx) => scoped(tx, network).count(members, {}), { readOnly: true })

  let killed = 0
  for (let round = 0; round < rounds; round++) {
    const before = await count()
    const importing = run('folkmoot', 'members', 'import', file, '--name', 'All', ...storage)
    // Amid the rows, at a moment that differs from round to round.
    await expect.poll(count, { interval: 1 + (round % 7) * 3 }).toBeGreaterThan(before)
    importing.child.kill('SIGKILL')
    if ((await importing.ended) === 0) break
    killed++
  }
  // On a busy machine one may end before it is killed.
  expect(killed).toBeGreaterThan(2)
  const { code, stdout } = await ended('folkmoot', 'members', 'import', file, '--name', 'All', ...storage, '--json')
  const report = JSON.parse(stdout)
  expect([code, report]).toEqual([0, expect.objectContaining({ rows, refused: 0 })])
  expect(report.created + report.known).toBe(rows)
  const audit = (
    await ended('folkmoot', 'audit', 'list', '--action', 'members.imported', '--limit', '100', ...storage, '--json')
  ).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).details)
  const counts = { rows, created: report.created, known: report.known, refused: 0 }
  expect(audit[0]).toMatchObject({ stage: 'ended', name: 'All', ...counts })
  // Each that was killed has its beginning alone.
  const stages = audit.map(({ stage }) => stage)
  expect(stages.filter((stage) => stage === 'started').length - stages.filter((stage) => stage === 'ended').length).toBe(killed)

  const all = await watching.transaction((tx) => scoped(tx, network).find(members, {}), { readOnly: true })
  const imported = all.filter(({ first_name }) => first_name === 'Bela')
  expect(new Set(imported.map(({ email }) => email)).size).toBe(rows)
  expect(imported).toHaveLength(rows)
  const tags = await ended('folkmoot', 'tags', 'list', ...storage, '--json')
  const carried = tags.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(Object.fromEntries(carried.map(({ title, member_count }) => [title, member_count]))).toEqual({
    All: rows,
    Founder: rows,
    Row: rows,
  })
  const joins = (await recordsOf(await openSource(`sqlite:${path}`))).flatMap((record) =>
    record.kind === 'event' && record.event_type === 'MemberJoinedHook' ? String(JSON.parse(record.body).payload.member.id) : [],
  )
  expect(joins.toSorted()).toEqual(imported.map(({ id }) => id).toSorted())
})
