/** Connections to a SQLite file beside each other in one process. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { openConnection } from '../../../../adapters/sql/sqlite/connection.ts'
import { openDatabase } from '../../../../daemon/relay/store/sqlite/database.ts'
import { temporaryDirectory } from '../../../support/directory.ts'

const noList = 'Linux alone has a list of locks'

/** Locks that processes have on a file, as Linux lists them. */
function locksOn(path: string): number {
  const { ino } = statSync(path)
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .filter((line) => line.includes(`:${ino} `)).length
}

test('a second connection of a process leaves the first one its lock on the file', async ({ skip }) => {
  skip(process.platform !== 'linux', noList)
  const path = join(temporaryDirectory(), 'db.sqlite')
  const first = openConnection(path)
  onTestFinished(() => first.close())
  expect(locksOn(path)).toBe(1)
  openConnection(path).close()
  expect(locksOn(path)).toBe(1)
})

test("a second opening of a relay's store leaves the first one its lock", async ({ skip }) => {
  skip(process.platform !== 'linux', noList)
  const path = join(temporaryDirectory(), 'relay.sqlite')
  const first = await openDatabase(path)
  onTestFinished(() => first.connection.close())
  expect(locksOn(path)).toBe(1)
  const second = await openDatabase(path)
  second.connection.close()
  expect(locksOn(path)).toBe(1)
})
