/** Plain node:http that answers the same bytes, with nothing behind it: the limit that the others are compared with. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

let answers: { byId: string; list: string; post: string } = { byId: '', list: '', post: '' }
process.on('message', (message: typeof answers | 'cpu') => {
  if (message !== 'cpu') answers = message
})

const json = 'application/json; charset=utf-8'
const server = createServer((request, response) => {
  const send = (status: number, body: string) => {
    response.writeHead(status, { 'content-type': json, 'content-length': Buffer.byteLength(body) })
    response.end(body)
  }
  if (request.method === 'POST') {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      JSON.parse(Buffer.concat(chunks).toString('utf8'))
      send(201, answers.post)
    })
  } else send(200, request.url?.includes('per_page') ? answers.list : answers.byId)
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port, token: 'none' }))
process.on('disconnect', () => process.exit(0))
process.on('message', (message) => message === 'cpu' && process.send?.({ cpu: process.cpuUsage() }))
