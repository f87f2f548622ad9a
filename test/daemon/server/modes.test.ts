/**
 * Whatever the programs create is for their user alone: files of mode 0600, directories of mode 0700. They run with a umask of 0, so
 * that each mode is the program's own.
 */
import { spawn } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Command, environment, program, watched } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'

function withoutMask(name: 'folkmoot' | 'folkmoot-relay', ...args: readonly string[]): Command {
  const command = ['-c', 'umask 0; exec "$0" "$@"', process.execPath, program(name), ...args]
  return watched(name, spawn('/bin/sh', command, { stdio: ['ignore', 'pipe', 'pipe'], env: environment() }))
}

async function done(...args: Parameters<typeof withoutMask>): Promise<void> {
  const { ended, out } = withoutMask(...args)
  expect(await ended, `${args.join(' ')}: ${out.stderr}`).toBe(0)
}

/** Everything below a directory that others may read, write or enter, and how much there is. */
function look(top: string): { readonly names: string[]; readonly open: string[] } {
  const names = readdirSync(top, { recursive: true, encoding: 'utf8' })
  const open = names.flatMap((name) => {
    const mode = statSync(join(top, name), { throwIfNoEntry: false })?.mode ?? 0
    return (mode & 0o077) === 0 ? [] : [`${name} ${(mode & 0o777).toString(8)}`]
  })
  return { names, open }
}

const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

async function upload(url: string, token: string): Promise<void> {
  const form = new FormData()
  form.set('asset_style', 'post')
  form.set('asset_file', new Blob([Buffer.from(picture, 'base64')]), 'dot.png')
  const headers = { authorization: `Bearer ${token}` }
  const uploaded = await fetch(`${url}/admin/v1/networks/1/assets`, { method: 'POST', headers, body: form })
  expect(uploaded.status).toBe(201)
}

test.each(['sqlite', 'lowdb'])('nothing that the programs create on %s is open to others', async (kind) => {
  const top = temporaryDirectory()
  const made = join(top, 'made/for')
  const storage = `${kind}:${join(made, 'db')}`
  const outbox = kind === 'sqlite' ? storage : join(made, 'outbox')
  const copied = join(top, 'copied/to')
  const server = withoutMask(
    'folkmoot',
    'serve',
    '--demo',
    '--relay',
    '--json',
    '--port',
    '0',
    '--allow-http',
    '--storage',
    storage,
  )
  const { url, token } = JSON.parse(await server.firstLine())
  await upload(url, token)
  await done('folkmoot', 'audit', 'export', '--to', join(top, 'audit.ndjson'), '--storage', storage)
  await done('folkmoot', 'panel-link', '--storage', storage)
  const during = look(top)
  server.child.kill('SIGTERM')
  await server.ended
  const relay = withoutMask('folkmoot-relay', 'run', '--outbox', outbox, '--control-port', '0', '--json')
  await relay.written('"relay.started"')
  const relaying = look(top)
  relay.child.kill('SIGTERM')
  await relay.ended
  await done('folkmoot', 'copy', '--from', storage, '--to', `${kind}:${join(copied, 'db')}`)
  const after = look(top)
  expect([...during.open, ...relaying.open, ...after.open]).toEqual([])
  const expected = [
    ...['made/for/assets', 'audit.ndjson', 'copied/to/db'],
    ...(kind === 'sqlite' ? [] : ['made/for/outbox/relay']),
  ]
  expect([...during.names, ...after.names]).toEqual(expect.arrayContaining(expected))
})
