/** `folkmoot export` and `members export`: in their own process, and through the control of a server. */
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readTable } from '../../../lib/csv/table.ts'
import { begun } from '../../support/begun.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import type { Json } from '../../support/json.ts'
import { folkmoot } from '../../support/program.ts'

const parsed = (lines: readonly string[]): Json[] =>
  lines.flatMap((line) => line.split('\n')).flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Json]))

async function table(text: string) {
  const rows: Readonly<Record<string, unknown>>[] = []
  for await (const row of readTable([text], 'csv')) rows.push(row)
  return rows
}

/** A storage with the demo's network; it is served for as long as the test runs if commands must call its server. */
async function demo(kind: 'sqlite' | 'lowdb') {
  const directory = temporaryDirectory()
  const storage = `${kind}:${join(directory, kind === 'lowdb' ? 'db.json' : 'db.sqlite')}`
  const server = begun('serve', '--demo', '--allow-http', '--json', '--port', '0', '--storage', storage)
  await server.firstLine()
  if (kind === 'sqlite') await server.stop()
  const command = (...args: readonly string[]) => folkmoot(...args, '--storage', storage)
  return { command, file: (name: string) => join(directory, name), stop: () => server.stop() }
}

test.each(['sqlite', 'lowdb'] as const)('members of %s are exported with the filters of the list', async (kind) => {
  const { command, file, stop } = await demo(kind)
  const listed = parsed((await command('members', 'list', '--role', 'host', '--json')).lines)
  const all = parsed((await command('members', 'list', '--limit', '100', '--json')).lines)
  expect(all.length).toBeGreaterThan(listed.length)
  const to = file('hosts.csv')
  const made = await command('export', '--what', 'members', '--role', 'host', '--to', to, '--true-addresses', '--json')
  expect(parsed(made.lines)).toMatchObject([{ what: 'members', rows: listed.length, file: to }])
  const rows = await table(await readFile(to, 'utf8'))
  expect(rows.map(({ email }) => email).toSorted()).toEqual(listed.map(({ email }) => email).toSorted())
  expect((await stat(to)).mode & 0o777).toBe(0o600)
  expect(parsed((await command('audit', 'list', '--action', 'export.true_addresses', '--json')).lines)).toMatchObject([
    { details: { what: 'members', filter: ['role'] } },
  ])
  expect((await command('export', '--what', 'members', '--to', to)).refused).toMatch(/exists: give the name of a new file/)

  const lines = (await command('export', '--what', 'members', '--format', 'ndjson', '--fields', 'id, first_name')).lines
  expect(parsed(lines)).toEqual(
    all
      .toReversed()
      .map(({ id, first_name }) => ({ id, first_name }))
      .toSorted((one, other) => Number(one.id) - Number(other.id)),
  )
  expect((await command('export', '--what', 'posts', '--role', 'host')).refused).toMatch(/role is no filter of posts/)
  expect((await command('export', '--what', 'members', '--created-after', 'x')).refused).toMatch(/--created-after/)
  expect((await command('export', '--what', 'members', '--fields', 'shoe')).refused).toMatch(/no column "shoe"/)

  const whole = file('person.ndjson')
  const { id } = listed[0]
  await command('members', 'export', id, '--to', whole)
  const stored = parsed([await readFile(whole, 'utf8')])
  expect(stored[0]).toMatchObject({ table: 'members', id, email: listed[0].email })
  expect(new Set(stored.map((row) => row.table)).size).toBeGreaterThan(3)
  expect((await command('members', 'export', '999')).refused).toMatch(/has no member 999/)
  if (kind === 'lowdb') await stop()
})

test('members of a list of ids or addresses are exported, and the audit has one line', async () => {
  const { command, file } = await demo('sqlite')
  const all = parsed((await command('members', 'list', '--limit', '100', '--json')).lines)
  for (const column of ['id', 'email']) {
    const list = file(`${column}.txt`)
    const meant = Array.from({ length: 150 }, (_, n) => all[n % 40]?.[column] ?? '')
    await writeFile(list, `${[...new Set(meant)].join('\n')}\n${column === 'id' ? '999' : 'who@example.org'}\n`)
    const to = file(`${column}.csv`)
    const made = await command('export', '--what', 'members', '--from', list, '--to', to, '--true-addresses', '--json')
    expect(parsed(made.lines)).toMatchObject([{ what: 'members', rows: 40, missing: 1 }])
    const rows = await table(await readFile(to, 'utf8'))
    expect(rows.map((row) => row[column]).toSorted()).toEqual([...new Set(meant)].toSorted())
  }
  const wrong = await command('export', '--what', 'posts', '--from', file('id.txt'))
  expect(wrong.refused).toBe('--from is a list of members: use it with --what members')
  expect((await command('export', '--what', 'members', '--from', file('id.txt'), '--role', 'host')).refused).toMatch(
    /only one of them/,
  )
  const lines = parsed((await command('audit', 'list', '--action', 'export.true_addresses', '--json')).lines)
  expect(lines).toHaveLength(2)
})

test('a file that is not whole is not there', async () => {
  const { command, file } = await demo('sqlite')
  const to = file('rows.csv')
  expect((await command('export', '--what', 'members', '--fields', 'shoe', '--to', to)).refused).toBeDefined()
  await expect(stat(to)).rejects.toThrow('ENOENT')
  await expect(stat(`${to}.unfinished`)).rejects.toThrow('ENOENT')
})
