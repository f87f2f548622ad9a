import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openOutbox, outboxDirectory } from '../../../adapters/outbox/file.ts'
import { noSmallDisk, smallDisk } from '../../support/small-disk.ts'
import { event, readAll } from './support.ts'

test('on a real disk that is full, acknowledged records are there, the rest is refused, and it continues when there is space', async (context) => {
  const disk = smallDisk('512k')
  if (!disk) return context.skip(noSmallDisk)
  const ballast = join(disk, 'ballast')
  writeFileSync(ballast, Buffer.alloc(128 * 1024))
  const directory = join(disk, 'outbox')
  const outbox = await openOutbox({ directory })
  const taken: string[] = []
  let refusal: unknown
  for (let place = 1; place <= 1000 && !refusal; place++) {
    const record = event(`e${place}`, 'x'.repeat(4000))
    await outbox.append([[record]]).then(
      () => taken.push(`e${place}`),
      (error: unknown) => {
        refusal = error
      },
    )
  }
  expect(refusal).toMatchObject({ code: 'full' })
  expect(taken.length).toBeGreaterThan(10)
  expect((await readAll(outboxDirectory(directory))).ids).toEqual(taken)

  rmSync(ballast)
  await outbox.append([[event('after')]])
  await outbox.close()
  const { ids, damage } = await readAll(outboxDirectory(directory))
  expect(ids.toSorted()).toEqual([...taken, 'after'].toSorted())
  expect(damage).toEqual([])
})
