/** The control of a running server: commands of the same user reach its community through it. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { chmod, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import { pid } from 'node:process'
import { isApiError } from '../../../lib/errors.ts'
import { isEncryptionError } from '../../../lib/outbox/encryption.ts'
import { isStorageError } from '../../../lib/storage/contract.ts'
import { actorHeader, callNames, runCall, type ServedOperator } from './calls.ts'
import { controlHost, socketAddress, socketNameOf, writeControlFile } from './place.ts'

export interface Control {
  close(): Promise<void>
}

export interface ControlParts {
  readonly operator: ServedOperator
  /** Where the control file is to be. Its server holds the storage, so an existing file is a leftover. */
  readonly file: string
  readonly onFault: (error: unknown, call: string) => void
}

interface Answer {
  readonly status: number
  readonly body: object
}

const longestBody = 1024 * 1024
const mostArguments = 3

/**
 * Listens on a socket next to the control file.
 *
 * `POST /` with `{"call": "keys.list", "arguments": ["1"]}` answers `{"result": …}` or `{"error": "…", "status": 422}`.
 * @throws UsageError, or what the file system throws
 */
export async function startControl({ operator, file, onFault }: ControlParts): Promise<Control> {
  const token = randomBytes(32).toString('base64url')
  const expected = Buffer.from(`Bearer ${token}`)
  const socket = socketNameOf(file)

  const server = createServer({ requestTimeout: 10_000, maxHeaderSize: 4096 }, (request, response) => {
    answer(request).then(
      (given) => send(response, given),
      () => response.destroy(),
    )
  })
  server.maxConnections = 32

  const actingFor = ({ headers }: IncomingMessage) => ({ ...operator, ...operator.by({ actor: actorIn(headers[actorHeader]) }) })

  async function answer(request: IncomingMessage): Promise<Answer> {
    if (request.headers.host !== controlHost || request.headers.origin !== undefined) return refusal(403, 'wrong host')
    const given = Buffer.from(request.headers.authorization ?? '')
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return refusal(401, 'wrong token')
    if (request.method !== 'POST' || request.url !== '/') return refusal(404, 'there is nothing here')
    const asked = callOf(await textOf(request))
    if (!asked) return refusal(400, 'the body must be {"call", "arguments"} with a call that exists')
    try {
      return { status: 200, body: { result: (await runCall(actingFor(request), asked.call, asked.args)) ?? null } }
    } catch (error) {
      if (isApiError(error)) return refusal(error.status, error.message)
      if (isStorageError(error) || isEncryptionError(error)) return refusal(503, error.message)
      onFault(error, asked.call)
      return refusal(500, 'this failed in the server; see its log')
    }
  }

  const address = socketAddress(file, socket)
  try {
    await rm(join(dirname(file), socket), { force: true })
    await new Promise<void>((listening, failed) => {
      server.once('error', failed)
      server.listen(address.path, listening)
    })
    if (!socket.startsWith('\\\\')) await chmod(join(dirname(file), socket), 0o600)
    await writeControlFile(file, { pid, socket, token })
  } catch (error) {
    server.close()
    address.release()
    throw error
  }
  return {
    async close() {
      try {
        await rm(file, { force: true })
      } finally {
        await new Promise<void>((closed) => {
          server.close(() => closed())
          server.closeIdleConnections()
        })
        address.release()
      }
    },
  }
}

/** The user that a command names: whoever reads the token is that user, or may become them. An earlier command names nobody. */
function actorIn(header: string | readonly string[] | undefined): string {
  try {
    return decodeURIComponent(String(header ?? '')).slice(0, 500) || 'cli'
  } catch {
    return 'cli'
  }
}

const refusal = (status: number, error: string): Answer => ({ status, body: { error, status } })

function send(response: ServerResponse, { status, body }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body))
}

/** @returns `''` when it is too long, which is no JSON either */
async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > longestBody) return ''
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function callOf(text: string): { readonly call: string; readonly args: readonly unknown[] } | undefined {
  try {
    const { call, arguments: args, ...rest } = JSON.parse(text) as Readonly<Record<string, unknown>>
    const known = typeof call === 'string' && callNames.has(call)
    if (!known || !Array.isArray(args) || args.length > mostArguments || Object.keys(rest).length > 0) return undefined
    return { call, args }
  } catch {
    return undefined
  }
}
