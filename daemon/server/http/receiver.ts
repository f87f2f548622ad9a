import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A delivery as the built-in receiver saw it. */
export interface Received {
  readonly event_type: string
  readonly event_id: string
  readonly bytes: number
}

/** The built-in receiver: a webhook endpoint that takes everything which carries its key. */
export interface Receiver {
  readonly url: string
  close(): Promise<void>
}

const largest = 4 * 1024 * 1024

/**
 * Starts a receiver on loopback.
 * @param key what deliveries must carry as bearer token
 * @param received called for each delivery
 */
export async function startReceiver(key: string, received: (delivery: Received) => void): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const respond = (status: number) => response.writeHead(status).end()
    if (request.headers.authorization !== `Bearer ${key}`) return respond(401)
    try {
      const body = await readText(request)
      if (body === undefined) return respond(413)
      const { event_type, event_id } = JSON.parse(body) as Received
      received({ event_type, event_id, bytes: Buffer.byteLength(body) })
      return respond(204)
    } catch {
      return respond(400)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function readText(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length > largest) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
