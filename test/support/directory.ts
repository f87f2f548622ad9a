import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A separate directory, removed after the test. */
export function temporaryDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'folkmoot-')))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
