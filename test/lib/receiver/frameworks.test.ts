/** Requests as frameworks hand them over, from real servers over real HTTP. */
import type { RequestListener } from 'node:http'
import express from 'express'
import { expect, test } from 'vitest'
import { isWebhookError, receive, respond } from '../../../lib/receiver/index.ts'
import { onLoopback } from '../../support/on-loopback.ts'
import { atNoon, body, event, headersOf, secret, token, url } from './support.ts'

const options = { token, secrets: secret, now: atNoon }

const codeOf = (error: unknown): string => (isWebhookError(error) ? `${error.status} ${error.code}` : String(error))

/** Serves on loopback until the test ends, and posts a delivery there. */
async function responseOf(listener: RequestListener, text = body): Promise<string> {
  const response = await fetch(`${await onLoopback(listener)}/webhooks`, {
    method: 'POST',
    headers: await headersOf(),
    body: text,
  })
  return `${response.status} ${await response.text()}`
}

const show = (request: Parameters<typeof receive>[0], changes: object = {}) =>
  receive(request, { ...options, ...changes }).then((delivery) => delivery.event.event_id, codeOf)

test("a request of Node's own server is read here", async () => {
  const listener: RequestListener = (request, response) => void show(request).then((text) => response.end(text))
  expect(await responseOf(listener)).toBe(`200 ${event.event_id}`)
})

test("a body above the limit gets a response, and the connection of Node's server is not cut before", async () => {
  const listener: RequestListener = (request, response) =>
    void show(request, { maxBytes: 1000 }).then((text) => response.writeHead(413).end(text))
  expect(await responseOf(listener, 'x'.repeat(100_000))).toBe('413 413 body_too_large')
})

test('express with express.raw() hands over the bytes', async () => {
  const app = express()
  app.post('/webhooks', express.raw({ type: '*/*' }), async (request, response) => {
    const { status } = await respond(request, options, () => undefined)
    response.status(status).end()
  })
  expect(await responseOf(app)).toBe('204 ')
})

test('express without a parser is read here', async () => {
  const app = express()
  app.post('/webhooks', async (request, response) => void response.send(await show(request)))
  expect(await responseOf(app)).toBe(`200 ${event.event_id}`)
})

test('after express.json() the bytes are gone, and the error names the remedy', async () => {
  const app = express()
  app.use(express.json())
  app.post('/webhooks', async (request, response) => {
    response.send(await receive(request, options).catch((error: Error) => `${codeOf(error)}: ${error.message}`))
  })
  expect(await responseOf(app)).toBe(
    '200 500 body_parsed: The body was parsed before: the bytes that are signed are gone. ' +
      'Hand over the bytes as they were sent: take the body before any parser, such as by express.raw().',
  )
})

test('bytes that a parser has kept in rawBody are taken', async () => {
  const app = express()
  app.use(express.json({ verify: (request, _, bytes) => void Object.assign(request, { rawBody: bytes }) }))
  app.post('/webhooks', async (request, response) => void response.send(await show(request)))
  expect(await responseOf(app)).toBe(`200 ${event.event_id}`)
})

test('an event of a function platform, with other cases of its headers and the body as a text', async () => {
  const headers = Object.fromEntries(Object.entries(await headersOf()).map(([name, value]) => [name.toUpperCase(), value]))
  expect(await show({ headers, body })).toBe(event.event_id)
  expect(await show({ headers, body: new TextEncoder().encode(body).buffer })).toBe(event.event_id)
})

test('a Request that was made of a parsed body, and one that was read before, are recognised', async () => {
  const made = new Request(url, { method: 'POST', headers: await headersOf(), body: String({ ...event }) })
  expect(await show(made)).toBe('500 body_parsed')
  const read = new Request(url, { method: 'POST', headers: await headersOf(), body })
  await read.json()
  expect(await show(read)).toBe('500 body_parsed')
})

test('a stream of Node that a parser has read is an empty body, and the sentence names parsers', async () => {
  const listener: RequestListener = async (request, response) => {
    await request.toArray()
    response.end(await receive(request, options).catch((error: Error) => `${codeOf(error)}: ${error.message}`))
  }
  expect(await responseOf(listener)).toMatch(/^200 400 body_missing: The body is empty\. If it was sent, a parser has read it\./)
})

test.each([undefined, null, 'text', { body }])('%j is no request', async (request) => {
  await expect(receive(request as never, options)).rejects.toThrow(
    new TypeError('the first argument must be a Request, or an object with headers and body'),
  )
})

test('headers that a platform hands over as null are missing', async () => {
  const headers = { ...(await headersOf()), 'content-length': null, 'x-platform': null } as never
  expect(await show({ method: 'POST', headers, body })).toBe(event.event_id)
  expect(await show({ method: 'POST', headers: { authorization: null } as never, body })).toBe('401 token_missing')
})
