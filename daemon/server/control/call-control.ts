/** Commands call a running server. */
import { request } from 'node:http'
import { errorCode } from '../../../adapters/files/errors.ts'
import { ApiError } from '../../../lib/errors.ts'
import { actorHeader } from '../../control/control-server.ts'
import { CommandFailure } from '../../usage.ts'
import { commandActor } from '../../user.ts'
import { operatorOver, type ServerOperator } from './calls.ts'
import { type ControlFile, controlHost, readControlFile, socketAddress } from './place.ts'

/** Milliseconds that a server has to show that it is there; and for a call of one that is, such as a long import into lowdb. */
const [defaultTimeoutMs, callTimeoutMs] = [10_000, 600_000]

/** Nothing listens: the server has ended or crashed. */
class NoServer extends Error {}

/**
 * The operator of the server that a control file belongs to.
 *
 * @returns `undefined` when there is no such file, or its server is gone
 * @throws UsageError when the server is there and does not respond, or the file is another user's
 */
export async function serverAt(file: string, timeoutMs = defaultTimeoutMs): Promise<ServerOperator | undefined> {
  const control = await readControlFile(file)
  if (!control) return undefined
  const send = (call: string, args: readonly unknown[], ms = callTimeoutMs) => sendCall(file, control, { call, args }, ms)
  try {
    await send('networks.list', [], timeoutMs)
  } catch (error) {
    if (error instanceof NoServer) return undefined
    throw error
  }
  return operatorOver((call, args) =>
    send(call, args).catch((error: unknown) => {
      throw error instanceof NoServer ? new CommandFailure(`the server of ${file} has ended: run the command again`) : error
    }),
  )
}

interface Call {
  readonly call: string
  readonly args: readonly unknown[]
}

async function sendCall(file: string, control: ControlFile, { call, args }: Call, timeoutMs: number): Promise<unknown> {
  const address = socketAddress(file, control.socket)
  const silent = new CommandFailure(
    `process ${control.pid} holds ${file.replace(/\.control$/, '')} and does not respond on its control socket: look at its log, or end it`,
  )
  try {
    const { status, text } = await post(address.path, control.token, JSON.stringify({ call, arguments: args }), timeoutMs, silent)
    const body = JSON.parse(text) as { readonly result?: unknown; readonly error?: unknown }
    if (status === 200) return body.result ?? undefined
    const sentence = String(body.error)
    throw status < 500 && status !== 401 && status !== 403
      ? new ApiError(status, { error: sentence })
      : new CommandFailure(sentence)
  } finally {
    address.release()
  }
}

interface Reply {
  readonly status: number
  readonly text: string
}

function post(socketPath: string, token: string, body: string, timeoutMs: number, silent: Error): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const headers = {
      host: controlHost,
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      [actorHeader]: encodeURIComponent(commandActor()),
      'content-length': Buffer.byteLength(body),
    }
    const sent = request({ socketPath, method: 'POST', path: '/', headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') }))
      response.on('error', reject)
    })
    sent.setTimeout(timeoutMs, () => sent.destroy(silent))
    sent.on('error', (error) => reject(['ECONNREFUSED', 'ENOENT'].includes(errorCode(error)) ? new NoServer() : error))
    sent.end(body)
  })
}
