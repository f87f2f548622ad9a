/**
 * Builds `dist/`: declarations file by file with tsc, and JavaScript of few files with rolldown. Loading a file costs Node about a
 * millisecond, and the library alone has more than a hundred.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, rmSync } from 'node:fs'
import { bundle, programs } from './bundle.ts'

rmSync('dist', { recursive: true, force: true })
// Not by `npx`, which is a script of the shell on Windows.
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' })
await bundle('dist', programs)
for (const path of programs) chmodSync(path, 0o755)
