import { createServer } from 'node:http'
import { changedHeader } from '../../../lib/outbox/headers.ts'
import { isWebhookError } from '../../../lib/receiver/errors.ts'
import { headerReader, rawBody } from '../../../lib/receiver/request.ts'
import { listenOnLoopback } from '../../loopback.ts'

/** A delivery as the built-in receiver saw it. */
export interface Received {
  readonly event_type: string
  readonly event_id: string
  readonly bytes: number
  /** The names of the changed fields. */
  readonly changed: string | undefined
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
 */
export async function startReceiver(key: string, received: (delivery: Received) => void): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const respond = (status: number) => response.writeHead(status).end()
    if (request.headers.authorization !== `Bearer ${key}`) return respond(401)
    try {
      const body = Buffer.from(await rawBody(request, largest))
      const { event_type, event_id } = JSON.parse(body.toString('utf8')) as Received
      received({ event_type, event_id, bytes: body.length, changed: headerReader(request)(changedHeader) })
      return respond(204)
    } catch (error) {
      return respond(isWebhookError(error) ? error.status : 400)
    }
  })
  const { port, close } = await listenOnLoopback(server, '--demo', 0)
  return { url: `http://127.0.0.1:${port}/webhooks`, close }
}
