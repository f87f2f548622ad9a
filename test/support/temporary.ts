/** Gives each test file a directory for temporary files, so that programs of one file never meet those of another. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, inject } from 'vitest'

// Short, because the paths of sockets are: at most 104 bytes.
const directory = mkdtempSync(join(inject('temporary'), 't'))
// PostgreSQL may run as another user.
chmodSync(directory, 0o755)
process.env['TMPDIR'] = directory
afterAll(() => rmSync(directory, { recursive: true, force: true }))
