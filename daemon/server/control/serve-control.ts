/** The control of a running server: commands of the same user reach its community through it. */
import { randomBytes } from 'node:crypto'
import { chmod, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pid } from 'node:process'
import { isEncryptionError } from '../../../lib/outbox/encryption.ts'
import { isStorageError } from '../../../lib/storage/contract.ts'
import { type ControlRequest, type ControlResponse, controlServer, nothingHere, refusal } from '../../control/control-server.ts'
import { callNames, runCall, type ServedOperator } from './calls.ts'
import { controlHost, socketAddress, socketNameOf, writeControlFile } from './place.ts'

export interface Control {
  close(): Promise<void>
}

export interface ControlParts {
  readonly operator: ServedOperator
  /** Where the control file is to be. Its server holds the storage, so an existing file is a leftover. */
  readonly file: string
  readonly onFault: (what: string, error: unknown) => void
}

const mostArguments = 3

/**
 * Listens on a socket next to the control file.
 *
 * `POST /` with `{"call": "keys.list", "arguments": ["1"]}` gets `{"result": …}` or `{"error": "…"}`.
 * @throws UsageError, or what the file system throws
 */
export async function startControl({ operator, file, onFault }: ControlParts): Promise<Control> {
  const token = randomBytes(32).toString('base64url')
  const socket = socketNameOf(file)

  async function respond({ method, url, actor = 'cli', body }: ControlRequest): Promise<ControlResponse> {
    if (method !== 'POST' || url.pathname !== '/') return nothingHere
    const request = callOf(await body().catch(() => ({})))
    if (!request) return refusal(400, 'the body must be {"call", "arguments"} with a call that exists')
    // Anyone who can read the token is that user, or may become them.
    const acting = { ...operator, ...operator.by({ actor }) }
    return { status: 200, body: { result: (await runCall(acting, request.call, request.args)) ?? null } }
  }

  const server = controlServer({
    ...{ token, respond, onFault },
    isAddressed: ({ headers: { host, origin } }) => host === controlHost && origin === undefined,
    statusOf: (error) => (isStorageError(error) || isEncryptionError(error) ? 503 : undefined),
  })
  server.maxConnections = 32

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

function callOf({ call, arguments: args, ...rest }: Readonly<Record<string, unknown>>) {
  const known = typeof call === 'string' && callNames.has(call)
  if (!known || !Array.isArray(args) || args.length > mostArguments || Object.keys(rest).length > 0) return undefined
  return { call, args: args as readonly unknown[] }
}
