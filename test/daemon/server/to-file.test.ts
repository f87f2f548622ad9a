/** The files that exports write. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeTexts } from '../../../daemon/server/commands/to-file.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { noSmallDisk, smallDisk } from '../../support/small-disk.ts'

const out = {} as Parameters<typeof writeTexts>[2]

test('an export is readable for its owner alone, whatever an earlier one left behind', async () => {
  const to = join(temporaryDirectory(), 'members.csv')
  writeFileSync(`${to}.unfinished`, 'of an export that was killed, and long', { mode: 0o644 })
  async function* texts() {
    yield 'id,email\r\n'
    yield '1,ada@example.org\r\n'
  }
  await writeTexts(texts(), to, out)
  expect(readFileSync(to, 'utf8')).toBe('id,email\r\n1,ada@example.org\r\n')
  expect(statSync(to).mode & 0o777).toBe(0o600)
})

test('a disk that fills up while rows are read ends the export, and leaves no file', async ({ skip }) => {
  const disk = smallDisk('100k')
  if (!disk) return skip(noSmallDisk)
  const to = join(disk, 'members.csv')
  async function* texts() {
    for (let page = 0; page < 40; page++) {
      yield 'x'.repeat(10_000)
      // As the next page is read, the fault of the write before comes.
      for (let read = 0; read < 5; read++) await stat(disk ?? '')
    }
  }
  await expect(writeTexts(texts(), to, out)).rejects.toThrow(`${to} cannot be written (ENOSPC): choose another place`)
  expect(() => statSync(`${to}.unfinished`)).toThrow('ENOENT')
})

test('a fault of what is exported is no fault of the file, and leaves none', async () => {
  const to = join(temporaryDirectory(), 'members.csv')
  async function* texts() {
    yield 'id,email\r\n'
    throw Object.assign(new Error('the database is gone'), { code: 'ECONNRESET', syscall: 'read' })
  }
  await expect(writeTexts(texts(), to, out)).rejects.toThrow('the database is gone')
  for (const file of [to, `${to}.unfinished`]) expect(() => statSync(file)).toThrow('ENOENT')
})
