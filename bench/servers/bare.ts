/**
 * Plain node:http with nothing behind it, the limit that the others are compared with: it answers the same bytes, or with
 * `bare.ts stringify` makes them of the same values with each answer, as every API must.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'

type Answers = Readonly<Record<'byId' | 'list' | 'shortList' | 'post', string>>

const stringifies = process.argv[2] === 'stringify'
let answers = new Map<string, string>()
let values = new Map<string, unknown>()
process.on('message', (message: Answers | 'usage') => {
  if (message === 'usage') return process.send?.({ cpu: process.cpuUsage(), rss: process.memoryUsage.rss() })
  answers = new Map(Object.entries(message))
  values = new Map(Object.entries(message).map(([name, text]) => [name, JSON.parse(text)]))
  return process.send?.('ready')
})

const json = 'application/json; charset=utf-8'
const server = createServer((request, response) => {
  const send = (status: number, name: keyof Answers) => {
    const body = (stringifies ? JSON.stringify(values.get(name)) : answers.get(name)) ?? ''
    response.writeHead(status, { 'content-type': json, 'content-length': Buffer.byteLength(body) })
    response.end(body)
  }
  const url = request.url ?? ''
  if (request.method === 'POST') {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      JSON.parse(Buffer.concat(chunks).toString('utf8'))
      send(201, 'post')
    })
  } else if (url.includes('per_page=100')) send(200, 'list')
  else send(200, url.includes('per_page') ? 'shortList' : 'byId')
})
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port, token: 'none' }))
process.on('disconnect', () => process.exit(0))
