import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getuid, platform } from 'node:process'
import { onTestFinished } from 'vitest'

/** Why a test over a small disk is skipped where there can be none. */
export const noSmallDisk = 'mounting a small tmpfs needs root on Linux'

/**
 * A real file system that is soon full, gone with the test; `undefined` where none can be mounted.
 * @param size as `mount` takes it: `512k`
 */
export function smallDisk(size: string): string | undefined {
  if (platform !== 'linux' || getuid?.() !== 0) return undefined
  const directory = mkdtempSync(join(tmpdir(), 'folkmoot-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', directory]).status !== 0) return undefined
  // Lazily: a test that failed may still have files open there.
  onTestFinished(() => void spawnSync('umount', ['-l', directory]))
  return directory
}
