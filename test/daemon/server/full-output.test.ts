import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { environment, program } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { noSmallDisk, smallDisk } from '../../support/small-disk.ts'

/** The end of `folkmoot spec`, which prints to a file. */
function printed(file: string) {
  const output = openSync(file, 'w')
  const { status, stderr } = spawnSync(process.execPath, [program('folkmoot'), 'spec'], {
    stdio: ['ignore', output, 'pipe'],
    env: environment(),
    encoding: 'utf8',
  })
  closeSync(output)
  return { status, stderr }
}

test('results are written to their end; of those that a disk has no room for, the operator hears', ({ skip }) => {
  const disk = smallDisk('100k')
  if (!disk) return skip(noSmallDisk)
  const whole = join(temporaryDirectory(), 'whole.json')
  expect(printed(whole)).toEqual({ status: 0, stderr: '' })
  expect(JSON.parse(readFileSync(whole, 'utf8'))).toHaveProperty('openapi')
  const part = join(disk, 'part.json')
  expect(printed(part)).toEqual({
    status: 1,
    stderr: 'folkmoot: standard output cannot be written (ENOSPC), so what it has is not whole\n',
  })
  expect(statSync(part).size).toBeGreaterThan(0)
})
