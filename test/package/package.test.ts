import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { temporaryDirectory } from '../support/directory.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const { name, version, exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))

/** Packed once for both tests: that builds it. */
const packed = await mkdtemp(join(tmpdir(), 'folkmoot-packed-'))
afterAll(() => rm(packed, { recursive: true }))
await run('npm', ['pack', '--pack-destination', packed], { cwd: root })
const tarball = join(packed, `${name}-${version}.tgz`)

test('the packed package installs, every entry loads, its programs start, and the README example serves', async () => {
  const directory = temporaryDirectory()
  await mkdir(join(directory, 'app'))
  const app = join(directory, 'app')
  await writeFile(join(app, 'package.json'), JSON.stringify({ name: 'app', type: 'module', private: true }))
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball], { cwd: app })

  const entries = Object.keys(exports).filter((entry) => !entry.endsWith('package.json') && entry !== './testing')
  const load = entries.map((entry) => `await import('${name}${entry.slice(1)}')`).join('\n')
  await writeFile(join(app, 'load.js'), `${load}\nconsole.log('loaded')`)
  expect((await run(process.execPath, ['load.js'], { cwd: app })).stdout).toBe('loaded\n')

  for (const program of ['folkmoot', 'folkmoot-relay']) {
    const { stdout } = await run(process.execPath, [join(app, 'node_modules', '.bin', program), '--help'], { cwd: app })
    expect(stdout).toContain(`Usage: ${program}`)
  }

  const readme = await readFile(join(root, 'README.md'), 'utf8')
  const [mount = '', first = ''] = [...readme.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code)
  const ask = `
const me = await fetch('http://127.0.0.1:4000/admin/v1/networks/paint-pals/me', { headers: { authorization: 'Bearer ' + token } })
const own = await fetch('http://127.0.0.1:4000/')
console.log((await me.json()).name, await own.text())
process.exit(0)`
  await writeFile(join(app, 'readme.js'), mount + first + ask)
  expect((await run(process.execPath, ['readme.js'], { cwd: app })).stdout).toBe('Ada Ash your application\n')
})

test('the core loads with valibot and itty-router alone', async () => {
  const directory = temporaryDirectory()
  await run('tar', ['-xzf', tarball, '-C', directory])
  for (const needed of ['valibot', 'itty-router'])
    await cp(join(root, 'node_modules', needed), join(directory, 'node_modules', needed), { recursive: true })
  await writeFile(
    join(directory, 'load.mjs'),
    `const { createCommunity } = await import('./package/dist/lib/index.js')\nconsole.log(typeof createCommunity)`,
  )
  expect((await run(process.execPath, ['load.mjs'], { cwd: directory })).stdout).toBe('function\n')
})
