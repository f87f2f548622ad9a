/** The receiver of `docs/webhooks/receive.md`, run unchanged, against the relay's requests and a stranger's. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sign } from '../../lib/receiver/index.ts'
import { temporaryDirectory } from '../support/directory.ts'
import { freePort } from '../support/free-port.ts'

const page = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'webhooks', 'receive.md'), 'utf8')
const [, program = ''] = /^## A receiver\n.*?```js\n(.*?)```/ms.exec(page) ?? []
const key = 'my-webhook-token'
const secrets = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

/** Starts the receiver of the page. */
async function startReceiver(): Promise<{ readonly port: number; readonly receiver: ChildProcess; printed(): string }> {
  const port = await freePort()
  const file = join(temporaryDirectory(), 'receiver.mjs')
  await writeFile(file, `${program.replace('4801', String(port))}.on('listening', () => console.log('listening'))`)
  const receiver = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void receiver.kill('SIGKILL'))
  let text = ''
  receiver.stdout.on('data', (chunk) => {
    text += chunk
  })
  await once(receiver.stdout, 'data')
  return { port, receiver, printed: () => text }
}

/** Sends a request as it is, and leaves `afterMs` later. */
async function sendRaw(port: number, text: string, afterMs: number): Promise<string> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  let response = ''
  socket.on('data', (chunk) => {
    response += chunk.toString('latin1')
  })
  socket.write(text, 'latin1')
  await new Promise((passed) => setTimeout(passed, afterMs))
  socket.destroy()
  return response
}

test('the receiver of docs/webhooks/receive.md takes an event once, and no stranger ends it', async () => {
  const { port, receiver, printed } = await startReceiver()
  const head = 'POST / HTTP/1.1\r\nHost: localhost\r\n'
  // As many characters as the key, of which one has two bytes.
  const wide = `${head}Authorization: Bearer ${key.slice(0, -1)}\xe9\r\nContent-Length: 0\r\n\r\n`
  expect(await sendRaw(port, wide, 300)).toContain('401 Unauthorized')
  await sendRaw(port, `${head}Content-Length: 10\r\n\r\nabc`, 100)
  await sendRaw(port, `${head}Authorization: Bearer ${key}\r\nContent-Length: 10\r\n\r\nabc`, 100)

  const body = JSON.stringify({ event_id: 'e1', event_type: 'PostCreatedHook' })
  const headers = await sign(body, { token: key, secrets })
  const post = async (changes = {}) =>
    (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: { ...headers, ...changes }, body })).status
  expect(await post()).toBe(204)
  expect(await post()).toBe(204)
  expect(await post({ authorization: 'Bearer another' })).toBe(401)
  expect(await post({ 'webhook-id': 'another' })).toBe(401)
  expect(receiver.exitCode).toBeNull()
  expect(printed()).toBe('listening\nPostCreatedHook e1\n')
})
