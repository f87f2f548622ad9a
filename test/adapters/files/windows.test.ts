/** Windows opens a directory, and refuses to sync it. */
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { openOutbox } from '../../../adapters/outbox/file.ts'
import { lowdbStorage } from '../../../adapters/storage/lowdb.ts'
import { createTestCommunity } from '../../support/community.ts'
import { temporaryDirectory } from '../../support/directory.ts'

beforeEach(async () => {
  const handle = await open(join(temporaryDirectory(), 'probe'), 'w')
  const prototype = Object.getPrototypeOf(handle) as FileHandle
  await handle.close()
  const { sync } = prototype
  const refusing = vi.spyOn(prototype, 'sync').mockImplementation(async function (this: FileHandle) {
    if ((await this.stat()).isDirectory())
      throw Object.assign(new Error('EPERM: operation not permitted, fsync'), { code: 'EPERM' })
    await sync.call(this)
  })
  onTestFinished(() => refusing.mockRestore())
})

async function written(): Promise<unknown> {
  const directory = temporaryDirectory()
  const outbox = await openOutbox({ directory: join(directory, 'outbox') })
  const { community } = await createTestCommunity({ storage: await lowdbStorage({ path: join(directory, 'db.json'), outbox }) })
  const tag = await community.call('tags.create', { network: 'demo', body: { title: 'Oil' } })
  await community.close()
  return tag
}

test('a lowdb storage and an outbox write where a directory cannot be synced, on Windows alone', async () => {
  await expect(written()).rejects.toThrow()
  const platform = vi.spyOn(process, 'platform', 'get').mockReturnValue('win32')
  onTestFinished(() => platform.mockRestore())
  expect(await written()).toMatchObject({ title: 'Oil' })
})
