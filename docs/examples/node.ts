/** The API next to an application of `node:http`: `node node.ts`. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream'
import { communityMiddleware } from 'folkmoot/node'
import { closeOnSignal, host, openCommunity, port, print, uploadAt } from './community.ts'

const community = await openCommunity()
const api = communityMiddleware(community, { requestId: (_, response) => response.getHeader('x-request-id') })

const server = createServer((request, response) => {
  const id = String(request.headers['x-request-id'] ?? randomUUID())
  response.setHeader('x-request-id', id)
  response.on('finish', () => print({ id, method: request.method, path: request.url, status: response.statusCode }))
  api(request, response, async () => {
    if (request.method === 'GET' && request.url === '/about') response.end(JSON.stringify({ inFlight: community.inFlight() }))
    else if (request.method === 'POST' && request.url === '/own') response.end(await textOf(request))
    else {
      const upload = await uploadAt(request.url ?? '')
      if (upload?.body) pipeline(upload.body, response.setHeaders(upload.headers), () => {})
      else response.writeHead(404).end('your 404')
    }
  })
}).listen(port, host)

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

closeOnSignal(community, () => new Promise((closed) => server.close(closed)))
