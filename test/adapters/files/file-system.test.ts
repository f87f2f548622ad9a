/** Files whose writes are durable when they resolve: by a flag where that is certain, else by a second call. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statfsSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { nodeFileSystem } from '../../../adapters/files/file-system.ts'
import { temporaryDirectory } from '../../support/directory.ts'

/** `O_DSYNC` of Linux, and file systems that are known to mind it: ext4, XFS, Btrfs. */
const [flag, minding] = [0o10000, [0xef53, 0x58465342, 0x9123683e]]
const shared = '/dev/shm'

/** Writes three times to a new file. @returns its content, how often it was synced by a call, and whether the kernel has the flag */
async function written(directory: string, options?: { readonly synced: boolean }) {
  const path = join(directory, 'a.ndjson')
  const probe = await open(join(directory, 'probe'), 'w')
  const calls = vi.spyOn(Object.getPrototypeOf(probe) as FileHandle, 'datasync')
  onTestFinished(() => calls.mockRestore())
  await probe.close()
  const file = await nodeFileSystem.create(path, options)
  for (let place = 0; place < 3; place++) expect(await file.write(Buffer.from('abc'), place * 3)).toBe(3)
  const hasFlag = flagsOf(path).some((flags) => (flags & flag) !== 0)
  await file.close()
  return { content: readFileSync(path, 'utf8'), calls: calls.mock.calls.length, hasFlag }
}

/** The flags of this process's open files with this path. */
function flagsOf(path: string): number[] {
  if (!existsSync('/proc/self/fdinfo')) return []
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      if (readlinkSync(`/proc/self/fd/${fd}`) !== path) return []
      return [Number.parseInt(/^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '', 8)]
    } catch {
      // The directory that was just read is closed by now.
      return []
    }
  })
}

test('each write to a synced file is synced, by the flag or by a call, and never by both', async () => {
  const directory = temporaryDirectory()
  const byFlag = minding.includes(statfsSync(directory).type)
  expect(await written(directory, { synced: true })).toEqual({
    content: 'abcabcabc',
    calls: byFlag ? 0 : 3,
    hasFlag: byFlag,
  })
})

test('a file system that may ignore the flag gets a call for each write', async ({ skip }) => {
  skip(!existsSync(shared), `there is no ${shared}`)
  const directory = mkdtempSync(join(shared, 'folkmoot-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  expect(await written(directory, { synced: true })).toEqual({ content: 'abcabcabc', calls: 3, hasFlag: false })
})

test('any other file is synced only on request', async () => {
  expect(await written(temporaryDirectory())).toEqual({ content: 'abcabcabc', calls: 0, hasFlag: false })
})
