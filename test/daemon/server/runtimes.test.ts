/** The server and its relay on other runtimes than Node. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { programOf } from '../../adapters/http/hosts/packages.ts'
import { watched } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'

const program = join(import.meta.dirname, '../../../daemon/bin/folkmoot.ts')

test.for(['bun', 'deno'] as const)('on %s a post is stored and its webhook delivered', async (runtime, { skip }) => {
  const runs = programOf(runtime)
  if (runs === undefined) return skip('`npm run test:hosts` installs it')
  const delivered = Promise.withResolvers<string | undefined>()
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => response.end())
    delivered.resolve(request.headers.authorization)
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  onTestFinished(() => void receiver.close())

  const storage = `sqlite:${join(temporaryDirectory(), 'db.sqlite')}`
  const serve = ['serve', '--demo', '--relay', '--allow-http', '--json', '--port', '0', '--storage', storage]
  const hook = ['--webhook-url', `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`, '--webhook-token', 'its-key']
  const args = [...(runtime === 'deno' ? ['run', '--allow-all'] : []), program, ...serve, ...hook]
  const server = watched(runtime, spawn(runs, args, { stdio: ['ignore', 'pipe', 'pipe'] }))
  const { url, token } = JSON.parse(await server.firstLine())
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ space_id: '2001', title: 'Roses' })
  expect((await fetch(`${url}/admin/v1/networks/demo/posts`, { method: 'POST', headers, body })).status).toBe(201)
  expect(await delivered.promise).toBe('Bearer its-key')
  server.child.kill('SIGTERM')
  expect(await server.ended).toBe(0)
})
