/**
 * `npx node scripts/test-on-node.ts [VERSION [PATH ...]]`: runs tests on another Node, which is installed into a cache of the user.
 * Without a version it is the oldest one that `engines` allows. Without
 * paths it runs the tests of what differs between versions.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { cachePath, fillOnce } from '../test/support/user-cache.ts'

const root = join(import.meta.dirname, '..')
const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly engines: { readonly node: string }
}
const oldest = `${/^>=(\d+\.\d+)$/.exec(engines.node)?.[1]}.0`
const [version = oldest, ...paths] = process.argv.slice(2)
if (!/^\d+\.\d+\.\d+$/.test(version)) {
  process.stderr.write('usage: node scripts/test-on-node.ts [VERSION, such as 22.19.0 [PATH ...]]\n')
  process.exit(2)
}
/** What uses the parts of Node that change: streams, TLS, SQLite, files, processes, and both programs. */
const differing = [
  'test/lib/base',
  'test/lib/client',
  'test/lib/http',
  'test/lib/receiver',
  'test/lib/testing/storage-example',
  'test/adapters/files',
  'test/adapters/http/node',
  'test/adapters/outbox',
  'test/adapters/sql',
  'test/adapters/storage/lowdb',
  'test/adapters/storage/sqlite',
  'test/daemon/relay/operate/processes',
  'test/daemon/relay/send',
  'test/daemon/relay/store',
  'test/daemon/server/serve.test',
  'test/daemon/server/start',
]
/** Left out unless a path names them: they take long on any version. */
const leftOut = ['**/large-commits.test.ts', 'test/adapters/storage/**/{races,processes}.test.ts']

const directory = cachePath(`node-${version}`)
fillOnce(directory, `Node ${version} is`, (begun) => {
  execFileSync('npm', ['install', '--prefix', begun, '--no-audit', '--no-fund', `node@${version}`], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
})
const programs = join(directory, 'node_modules', '.bin')

const selected = paths.length > 0 ? paths : [...differing, ...leftOut.flatMap((pattern) => ['--exclude', pattern])]
const { status } = spawnSync(
  join(programs, 'node'),
  [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--project', 'main', ...selected],
  { cwd: root, stdio: 'inherit', env: { ...process.env, PATH: `${programs}${delimiter}${process.env['PATH']}` } },
)
process.exitCode = status ?? 1
