/** Builds `dist/` with tsc: plain JavaScript and declarations, file by file, nothing bundled. */
import { execFileSync } from 'node:child_process'
import { chmodSync, rmSync } from 'node:fs'

rmSync('dist', { recursive: true, force: true })
execFileSync('npx', ['tsc', '-p', 'tsconfig.build.json'], { stdio: 'inherit' })
for (const name of ['folkmoot', 'folkmoot-relay']) chmodSync(`dist/daemon/bin/${name}.js`, 0o755)
