/** Syncs where Node has a part of them alone. Yarn's Plug'n'Play replaces its file handles: their `sync` and `datasync` reject then. */
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
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

const permitting = `
  import { openOutbox } from './adapters/outbox/file.ts'
  import { lowdbStorage } from './adapters/storage/lowdb.ts'
  import { sqliteStorage } from './adapters/storage/sqlite.ts'
  import { createCommunity } from './lib/index.ts'
  const directory = process.argv[1]
  const outbox = await openOutbox({ directory: directory + '/outbox' })
  const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' }
  for (const storage of [
    await lowdbStorage({ path: directory + '/db.json', outbox }),
    await sqliteStorage({ path: directory + '/db.sqlite' }),
  ]) {
    const community = createCommunity({ storage })
    const { network } = await community.networks.create({ subdomain: 'paint-pals', title: 'Paint Pals', owner })
    await community.call('tags.create', { network: network.id, body: { title: 'Oil' } })
    await community.close()
    console.log('durable')
  }`

test("with the permission model of Node 24, whose syncs by a file's number are disabled", async ({ skip }) => {
  skip(Number.parseInt(process.versions.node, 10) > 24, 'the permission model of later versions disables every sync')
  const flags = ['--permission', '--allow-fs-read=*', '--allow-fs-write=*', '--input-type=module', '--eval', permitting]
  const cwd = join(import.meta.dirname, '..', '..', '..')
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, temporaryDirectory()], { cwd })
  expect(stdout).toBe('durable\ndurable\n')
})
