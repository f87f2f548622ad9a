import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openOutbox, outboxDirectory } from '../../../adapters/outbox/file.ts'
import { noSmallDisk, smallDisk } from '../../support/small-disk.ts'
import { event, readAll } from './support.ts'

test('on a real disk that is read-only, nothing is acknowledged, records can be read, and it continues once it is writable', async (context) => {
  const disk = smallDisk('1m')
  if (!disk) return context.skip(noSmallDisk)
  const remount = (mode: 'ro' | 'rw') => spawnSync('mount', ['-o', `remount,${mode}`, disk]).status
  const directory = join(disk, 'outbox')
  const append = async (id: string) => {
    const outbox = await openOutbox({ directory })
    try {
      await outbox.append([[event(id)]])
    } finally {
      await outbox.close()
    }
  }
  await append('before')
  expect(remount('ro')).toBe(0)
  await expect(append('refused')).rejects.toMatchObject({ code: 'unavailable' })
  expect((await readAll(outboxDirectory(directory))).ids).toEqual(['before'])
  expect(remount('rw')).toBe(0)
  await append('after')
  expect((await readAll(outboxDirectory(directory))).ids.toSorted()).toEqual(['after', 'before'])
})
