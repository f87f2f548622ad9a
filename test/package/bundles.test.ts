/** A program that imports every entry is bundled with the package, without its optional packages, and started. */
import { execFile } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { bundlers, isInstalled } from '../adapters/http/hosts/packages.ts'
import { temporaryDirectory } from '../support/directory.ts'
import { shared } from '../support/shared.ts'
import { everyBundler } from './bundlers.ts'

interface Package {
  readonly exports: Readonly<Record<string, unknown>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>
}

const root = join(import.meta.dirname, '..', '..')
const { exports, dependencies, peerDependenciesMeta } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Package

/** Entries that do nothing without their optional package, and import it. */
const needing = ['./mcp', './testing/storage']
const entries = Object.keys(exports)
  .filter((entry) => entry !== './package.json' && !needing.includes(entry))
  .map((entry) => `folkmoot${entry.slice(1)}`)

const program = `
import { createServer } from 'node:http'
import { once } from 'node:events'
import { createCommunity } from 'folkmoot'
import { createClient } from 'folkmoot/client'
import { communityMiddleware } from 'folkmoot/node'
import { ports } from 'folkmoot/ports'
import { receive } from 'folkmoot/receiver'
import { startRelay } from 'folkmoot/relay'
import { sqliteStorage } from 'folkmoot/storage/sqlite'
${entries.map((entry, index) => `import * as entry${index} from '${entry}'`).join('\n')}

async function main() {
  const loaded = [${entries.map((_, index) => `entry${index}`).join()}].filter((entry) => Object.keys(entry).length > 0).length
  const storage = await sqliteStorage({ path: './db.sqlite' })
  const community = createCommunity({ storage, ports: ports(), allowHttp: true })
  const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' }
  const { network } = await community.networks.create({ subdomain: 'paint-pals', title: 'Paint Pals', owner })
  const { token } = await community.keys.create({ network: network.id, name: 'Program', scopes: ['*'] })
  const delivered = Promise.withResolvers()
  const key = 'my-webhook-token'
  const api = communityMiddleware(community)
  const server = createServer((request, response) =>
    api(request, response, async () => {
      const { event } = await receive(request, { token: key, secrets: false })
      response.end()
      delivered.resolve(event.event_type)
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const baseUrl = 'http://127.0.0.1:' + server.address().port
  await community.endpoints.upsert({ network: network.id, url: baseUrl + '/hook', events: ['MemberJoinedHook'], token: key })
  const relay = await startRelay({ storage, allowHttp: true, allowPrivate: true })
  const client = createClient({ baseUrl, network: 'paint-pals', token })
  const { email } = await client.members.create({ email: 'bo@example.org', first_name: 'Bo', last_name: 'Birch', member_type: 'full' })
  const event = await delivered.promise
  await relay.stop()
  await community.close()
  server.close()
  server.closeAllConnections()
  console.log(JSON.stringify({ loaded, email, event }))
}
main()
`

/** A project with the package and what npm installs with it, and no optional package. */
async function project(): Promise<string> {
  const directory = temporaryDirectory()
  const modules = join(directory, 'node_modules')
  cpSync(join(await shared('package'), 'node_modules', 'folkmoot'), join(modules, 'folkmoot'), { recursive: true })
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(modules, name), 'junction')
  }
  await writeFile(join(directory, 'server.js'), program)
  return directory
}

test('no file of the package has the name of an optional package where bundlers look for it, except to import it', async () => {
  const dist = join(await shared('package'), 'node_modules', 'folkmoot', 'dist')
  const names = Object.keys(peerDependenciesMeta).join('|')
  const seen = new RegExp(`(?:import\\.meta\\.resolve|require(?:\\.resolve)?)\\(\\s*["'\`](?:${names})`)
  const files = globSync('**/*.js', { cwd: dist })
  expect(files.filter((file) => seen.test(readFileSync(join(dist, file), 'utf8')))).toEqual([])
})

if (!isInstalled(bundlers)) process.stderr.write('webpack, Rspack and esbuild are not installed: nothing is bundled\n')

test('the page about bundlers names the versions that are tried', () => {
  const page = readFileSync(join(root, 'docs', 'hosts', 'bundlers.md'), 'utf8')
  const vite = JSON.parse(readFileSync(join(root, 'node_modules', 'vite', 'package.json'), 'utf8')) as {
    readonly version: string
  }
  const { webpack = '', '@rspack/core': rspack = '', esbuild = '' } = bundlers.versions
  const minor = (version: string): string => version.split('.', 2).join('.')
  const named = `webpack ${minor(webpack)}, Rspack ${minor(rspack)}, Vite ${minor(vite.version)}, esbuild ${minor(esbuild)};`
  expect(page).toContain(named)
})

test.skipIf(!isInstalled(bundlers)).each(everyBundler)(
  'a program of every entry, bundled by %s as %s, starts',
  async (_, format, bundle) => {
    const directory = await project()
    const to = temporaryDirectory()
    await bundle({ directory, entry: './server.js', to, format })
    const { stdout } = await promisify(execFile)(process.execPath, [join(to, `server.${format === 'esm' ? 'mjs' : 'cjs'}`)], {
      cwd: to,
    })
    expect(JSON.parse(stdout)).toEqual({ loaded: entries.length, email: 'bo@example.org', event: 'MemberJoinedHook' })
  },
)
