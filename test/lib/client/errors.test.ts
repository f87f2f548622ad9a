/** The errors of a client: one class for each status, and a sentence that helps. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import * as client from '../../../lib/client/index.ts'
import { json, scripted } from '../../support/scripted-server.ts'

const { isClientError } = client

async function failureOf(work: PromiseLike<unknown>): Promise<client.ClientError> {
  const error: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!isClientError(error)) throw new Error(`no ClientError: ${String(error)}`)
  return error
}

const statuses: readonly (readonly [status: number, kind: typeof client.ClientError, code: string])[] = [
  [400, client.BadRequest, 'bad_request'],
  [401, client.Unauthorized, 'unauthorized'],
  [403, client.Forbidden, 'forbidden'],
  [404, client.NotFound, 'not_found'],
  [405, client.ClientError, 'method_not_allowed'],
  [409, client.Conflict, 'conflict'],
  [413, client.ClientError, 'content_too_large'],
  [418, client.ClientError, 'refused'],
  [422, client.UnprocessableContent, 'unprocessable_content'],
  [429, client.RateLimited, 'rate_limited'],
  [500, client.ServerError, 'server_error'],
  [503, client.ServerError, 'server_error'],
]

test.each(statuses)('%i is its own class', async (status, kind, code) => {
  const body = { error: "title can't be blank" }
  const error = await failureOf(scripted([json(body, status, { 'x-request-id': 'r-1' })], { maxRetries: 0 }).client.tags.show(5))
  expect(error.constructor).toBe(kind)
  expect({ ...error, name: error.name, message: error.message, from: error.headers.get('x-request-id') }).toMatchObject({
    name: kind === client.ClientError ? 'ClientError' : kind.name,
    message: `GET /admin/v1/networks/1/tags/5/: ${status} title can't be blank`,
    status,
    code,
    requestId: 'r-1',
    body,
    from: 'r-1',
  })
  expect(error).toBeInstanceOf(Error)
  expect(error.stack).toMatch(new RegExp(`^${error.name}: GET `))
})

test('a sentence of the server cannot steer a terminal, nor begin a line in a log; the body keeps it', async () => {
  const sentence = 'gone\u001b]0;title\u0007\u009b31m\r\n2026-11-20 INFO all is well\u2028\u202e'
  const error = await failureOf(scripted([json({ error: sentence }, 404)]).client.me.show())
  expect(error.message).toBe('GET /admin/v1/networks/1/me: 404 gone ]0;title  31m  2026-11-20 INFO all is well  ')
  expect(error.body).toEqual({ error: sentence })
})

test('the code of an access error and the request id of a fault are those of the server', async () => {
  const expired = json({ error: 'token_expired', message: 'The API token was revoked.', status: 401 }, 401)
  expect(await failureOf(scripted([expired]).client.me.show())).toMatchObject({
    code: 'token_expired',
    message: 'GET /admin/v1/networks/1/me: 401 The API token was revoked.',
  })
  const fault = json({ error: 'Internal server error', request_id: 'abc' }, 500)
  expect(await failureOf(scripted([fault], { maxRetries: 0 }).client.me.show())).toMatchObject({ requestId: 'abc' })
})

test.each([
  ['a page of a proxy', '<html>Bad gateway</html>', '<html>Bad gateway</html>'],
  ['nothing', '', undefined],
  ['a list', '[]', []],
  ['a text', '"no"', 'no'],
  ['other fields', '{"error":{"code":5}}', { error: { code: 5 } }],
])('an error with %s has no sentence, and its body as it is', async (_, text, body) => {
  const error = await failureOf(scripted([new Response(text, { status: 502 })], { maxRetries: 0 }).client.me.show())
  expect({ message: error.message, body: error.body }).toEqual({ message: 'GET /admin/v1/networks/1/me: 502', body })
})

test('a lost connection has its cause', async () => {
  const cause = new TypeError('fetch failed')
  const error = await failureOf(scripted([cause], { maxRetries: 0 }).client.me.show())
  expect(error).toBeInstanceOf(client.ConnectionError)
  expect(error).toMatchObject({ status: undefined, code: 'connection_failed', cause })
  expect(error.message).toBe('GET /admin/v1/networks/1/me: the connection failed or was lost (https://api.test)')
})

test('a connection that is refused, and https to a port of http, are named with the server and the reason', async () => {
  const server = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const ask = (baseUrl: string) =>
    failureOf(client.createClient({ baseUrl, network: 'demo', token: 'secret-token', maxRetries: 0 }).me.show())
  const https = await ask(`https://127.0.0.1:${port}`)
  server.close()
  await once(server, 'close')
  const refused = await ask(`http://127.0.0.1:${port}`)
  const sentence = 'GET /admin/v1/networks/demo/me: the connection failed or was lost'
  expect(https.message).toMatch(`${sentence} (https://127.0.0.1:${port}, ERR_SSL_`)
  expect(refused.message).toBe(`${sentence} (http://127.0.0.1:${port}, ECONNREFUSED)`)
})

test('the reason of a lost connection is a word, however its causes are made', async () => {
  const endless: { cause?: unknown } = {}
  endless.cause = endless
  const messageOf = async (cause: unknown) => {
    const error = new TypeError('fetch failed of secret-token', { cause })
    return (await failureOf(scripted([error], { maxRetries: 0 }).client.me.show())).message.split('lost ')[1]
  }
  const nested = new AggregateError([Object.assign(new Error('no'), { code: 'EHOSTUNREACH' })])
  expect(await messageOf(nested)).toBe('(https://api.test, EHOSTUNREACH)')
  for (const cause of [endless, { code: 'secret-token' }, { code: `E${'X'.repeat(100)}` }, { code: 5 }, 'EPIPE', null])
    expect(await messageOf(cause)).toBe('(https://api.test)')
})

test('no message has the token or the query', async () => {
  const echo = json({ error: 'Bearer secret-token is not welcome' }, 401)
  const { client } = scripted([echo])
  const error = await failureOf(client.members.byEmail({ email: 'ada@example.org' }))
  expect(error.message).toBe('GET /admin/v1/networks/1/members/by_email: 401 Bearer [token] is not welcome')
  expect(inspect(client, { depth: 9, showHidden: true })).not.toContain('secret-token')
  for (const token of ['secret\ntoken', 'secret token', '', 'sécret']) {
    expect(() => scripted([], { token })).toThrow('option `token` must be the API token')
    const asked = scripted([], { token: () => token, maxRetries: 0 }).client.me.show()
    const failed: unknown = await asked.then(undefined, (error: unknown) => error)
    expect(String(failed)).toBe('TypeError: option `token` must be the API token: a text of printable ASCII without blanks')
  }
})

test('an error of another copy of the package is recognised', () => {
  expect(isClientError(new client.NotFound('gone', { code: 'not_found' }))).toBe(true)
  expect(isClientError({ [Symbol.for('folkmoot.ClientError')]: true })).toBe(true)
  expect([isClientError(new Error('no')), isClientError(null), isClientError(undefined)]).toEqual([false, false, false])
})
