/** Lints both OpenAPI documents, as a community with the default options publishes them. Nothing leaves the machine. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { memoryStorage } from '../adapters/storage/memory.ts'
import { createCommunity } from '../lib/index.ts'

const redocly = createRequire(import.meta.url).resolve('@redocly/cli/bin/cli.js')
const config = fileURLToPath(new URL('../redocly.yaml', import.meta.url))

const community = createCommunity({ storage: memoryStorage() })
const directory = mkdtempSync(join(tmpdir(), 'folkmoot-openapi-'))
try {
  const files = (['api', 'webhooks'] as const).map((part) => {
    const file = join(directory, `${part}.json`)
    writeFileSync(file, JSON.stringify(community.openapi(part), null, 2))
    return file
  })
  const { status, error } = spawnSync(process.execPath, [redocly, 'lint', '--config', config, ...files], {
    stdio: 'inherit',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  })
  if (error) throw error
  process.exitCode = status ?? 1
} finally {
  rmSync(directory, { recursive: true })
  await community.close()
}
