/**
 * Plain node:http with nothing behind it, the reference of every ratio. As every API must, it makes its responses of values
 * each time, and parses each body. No authentication, no validation, no storage.
 */
import { createServer } from 'node:http'
import { records, serving } from './records.ts'

const { byId, page, shortPage, add } = await records()

const server = createServer((request, response) => {
  const send = (status: number, value: unknown) => {
    const body = JSON.stringify(value)
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    })
    response.end(body)
  }
  const { method, url = '' } = request
  if (method === 'POST') {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => send(201, add(JSON.parse(Buffer.concat(chunks).toString('utf8')))))
  } else if (url.includes('per_page=100')) send(200, page)
  else if (url.includes('per_page')) send(200, shortPage)
  else send(200, byId(url.split('/')[6] ?? ''))
})
serving(server)
