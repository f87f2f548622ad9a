import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ended } from '../../support/program.ts'
import { noSmallDisk, smallDisk } from '../../support/small-disk.ts'

const network = ['--title', 'Paint Pals', '--subdomain', 'paint-pals', '--owner-name', 'Ada', '--owner-email', 'ada@example.org']

test.for<readonly [string, string, RegExp]>([
  [
    'sqlite:',
    'db.sqlite',
    /^folkmoot: .*db\.sqlite: EROFS: .*mount it for writing\. A copy on another disk, with its -wal file, can be read/,
  ],
  ['lowdb:', 'db.json', /^folkmoot: .*outbox cannot be written: EROFS: .*mount it for writing\n$/],
])('commands on a storage of %s name the remedy for a read-only disk', async ([kind, file, sentence], { skip }) => {
  const disk = smallDisk('4m')
  if (!disk) return skip(noSmallDisk)
  const storage = `${kind}${join(disk, file)}`
  expect(await ended('folkmoot', 'networks', 'create', ...network, '--storage', storage)).toMatchObject({ code: 0 })
  expect(spawnSync('mount', ['-o', 'remount,ro', disk]).status).toBe(0)
  for (const command of ['networks', 'keys', 'endpoints', 'audit'])
    expect(await ended('folkmoot', command, 'list', '--storage', storage)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(sentence),
    })
})
