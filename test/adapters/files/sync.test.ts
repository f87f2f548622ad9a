/** Yarn's Plug'n'Play replaces the file handles of Node. Their `sync` and `datasync` reject then. */
import { readdirSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { leaveLine } from '../../../adapters/outbox/audit-inbox.ts'
import { openOutbox } from '../../../adapters/outbox/file.ts'
import { directoryAssets } from '../../../adapters/ports/directory-assets.ts'
import { lowdbStorage } from '../../../adapters/storage/lowdb.ts'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { createTestCommunity } from '../../support/community.ts'
import { temporaryDirectory } from '../../support/directory.ts'

beforeEach(async () => {
  const handle = await open(join(temporaryDirectory(), 'probe'), 'w')
  const prototype = Object.getPrototypeOf(handle) as FileHandle
  await handle.close()
  for (const name of ['sync', 'datasync'] as const) {
    const replaced = vi.spyOn(prototype, name).mockRejectedValue(new Error('Method not implemented.'))
    onTestFinished(() => replaced.mockRestore())
  }
})

const storages: Readonly<Record<string, (directory: string) => Promise<Storage>>> = {
  memory: async (directory) => memoryStorage({ outbox: await openOutbox({ directory }) }),
  lowdb: async (directory) =>
    lowdbStorage({ path: join(directory, 'db.json'), outbox: await openOutbox({ directory: join(directory, 'outbox') }) }),
  SQLite: async (directory) => sqliteStorage({ path: join(directory, 'db.sqlite') }),
}

test.each(Object.keys(storages))('a write to %s is durable without the handles of Node', async (name) => {
  const storage = await storages[name]?.(temporaryDirectory())
  const { community } = await createTestCommunity(storage ? { storage } : {})
  expect(await community.call('tags.create', { network: 'demo', body: { title: 'Oil' } })).toMatchObject({ title: 'Oil' })
  await community.close()
})

test('so is an asset, and a line for the audit', async () => {
  const directory = temporaryDirectory()
  const assets = directoryAssets({ directory, baseUrl: '/assets' })
  const file = { id: '1', extension: 'txt', name: 'a.txt', content_type: 'text/plain' }
  expect(await assets.put(new Uint8Array(3), file)).toBe('/assets/1.txt')
  const at = '2026-11-20T10:00:00.000Z'
  const line = { network: '1', action: 'deliveries.skipped', subject: { type: 'network', id: '1' }, work_id: 'w1', at } as const
  await leaveLine(directory, { ...line, by: { actor: 'cli:ada' } })
  expect(readdirSync(join(directory, 'audit'))).toHaveLength(1)
})
