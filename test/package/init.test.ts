/**
 * `folkmoot init` of the packed package: the project of every host and storage serves, delivers, and passes its own test.
 * `npm test` takes each host and each storage once, `npm run test:soak` every pair.
 */
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, realpathSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { hostParts } from '../../daemon/server/init/app-file.ts'
import { projectHosts, projectStorages } from '../../daemon/server/init/choices.ts'
import { storageParts } from '../../daemon/server/init/server-file.ts'
import { end, watched } from '../support/command.ts'
import { temporaryDirectory } from '../support/directory.ts'
import { freePort } from '../support/free-port.ts'
import { installed, packed } from '../support/packed.ts'
import { testPostgres } from '../support/postgres.ts'
import { soaking } from '../support/rounds.ts'

const run = promisify(execFile)
const tokenLine = /only now: (\S+)\n/

/** What every project needs, installed once. */
const shared = realpathSync(mkdtempSync(join(tmpdir(), 'installed-')))
const parts = [...Object.values(hostParts), ...Object.values(storageParts)]
const needed = parts.flatMap(({ packages }) => Object.entries(packages).map(([name, range]) => `${name}@${range}`))
await installed(shared, await packed(), ...needed)

const server = await testPostgres()
const client = await server.client()
/** npm runs `node` of the PATH. */
const environment = { PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter), HOME: process.env['HOME'] }

const pairs = projectHosts.flatMap((host, at) => {
  const storages = soaking ? projectStorages : [projectStorages[at % projectStorages.length] ?? 'lowdb']
  return storages.map((storage) => [host, storage] as const)
})

test.each(pairs)('a project for %s and %s serves, delivers, restarts and passes its test', async (host, storage) => {
  const directory = join(temporaryDirectory(), 'my-app')
  const bin = join(shared, 'node_modules', '.bin', 'folkmoot')
  await run(process.execPath, [bin, 'init', directory, '--host', host, '--storage', storage, '--yes'])
  await symlink(join(shared, 'node_modules'), join(directory, 'node_modules'), 'junction')
  expect((await run('npm', ['test'], { cwd: directory, env: environment })).stdout).toContain('pass 2')

  const port = await freePort()
  // Each has the database to itself. The one before has ended.
  if (storage === 'postgres') await client.query('DROP SCHEMA IF EXISTS folkmoot CASCADE')
  const env = { ...environment, PORT: String(port), ...(storage === 'postgres' ? { DATABASE_URL: server.url } : {}) }
  const start = () => watched('npm start', spawn('npm', ['start'], { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] }))
  const first = start()
  await first.written('only now: ')
  await expect.poll(() => first.out.stdout).toMatch(tokenLine)
  const token = tokenLine.exec(first.out.stdout)?.[1]
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${port}/admin/v1/networks/my-community/${path}`, { ...init, headers })
  const body = JSON.stringify({ email: 'grace@example.org', first_name: 'Grace', last_name: 'Oak' })
  expect((await ask('members', { method: 'POST', body })).status).toBe(201)
  await first.written('Received MemberJoinedHook')
  await end(first)

  const second = start()
  await second.written('The API: ')
  await expect.poll(() => ask('members').then(({ status }) => status)).toBe(200)
  await end(second)
  expect(second.out.stdout).not.toContain('only now')
  expect(`${first.out.stderr}${second.out.stderr}`).not.toContain('Error')
})
