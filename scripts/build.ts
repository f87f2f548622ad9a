/**
 * Builds `dist/`: JavaScript of few files, and the declarations of each entry. Loading a file costs Node about a millisecond, and the
 * library alone has more than a hundred.
 */
import { chmodSync, rmSync } from 'node:fs'
import { bundle, modules, programs } from './bundle.ts'
import { declare } from './declarations.ts'

rmSync('dist', { recursive: true, force: true })
await bundle('dist', programs)
await declare('dist', modules)
for (const path of programs) chmodSync(path, 0o755)
