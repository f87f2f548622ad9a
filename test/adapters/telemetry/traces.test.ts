/** One trace runs from the request to the API through the outbox and the relay to the receiver, as the SDK exports it. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { expect, onTestFinished, test } from 'vitest'
import { openOutbox } from '../../../adapters/outbox/file.ts'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { postgresStorage } from '../../../adapters/storage/postgres.ts'
import { sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import { openTelemetry } from '../../../adapters/telemetry/index.ts'
import { type EmbeddedRelayOptions, startRelay } from '../../../daemon/relay/index.ts'
import { createCommunity, type Options } from '../../../lib/index.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { receiver, status, until } from '../../daemon/relay/support.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { testPostgres } from '../../support/postgres.ts'
import { faults, idOf, parentOf, recordedSpans, traceOf } from './recorded-spans.ts'

const server = await testPostgres()
const tracing = await openTelemetry()
const root = '/admin/v1/networks/{network_id}'
const sent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const sentTrace = '4bf92f3577b34da6a3ce929d0e0e4736'

const storages = {
  'an outbox directory': async () =>
    memoryStorage({ outbox: await openOutbox({ directory: join(temporaryDirectory(), 'outbox') }) }),
  SQLite: () => sqliteStorage({ path: join(temporaryDirectory(), 'db.sqlite') }),
  PostgreSQL: () => postgresStorage({ url: server.url, schema: server.newSchema() }),
}

/** A network whose requests come by HTTP, with an endpoint that is sent each new member. */
async function network(storage: Storage, url: string, more: Partial<Options> = { tracing }) {
  onTestFinished(() => storage.close())
  const encryptionKeys = [randomBytes(32).toString('base64')]
  const community = createCommunity({ storage, encryptionKeys, allowHttp: true, ...more })
  onTestFinished(() => community.close())
  const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' }
  const { network: made } = await community.networks.create({ subdomain: 'pals', title: 'Pals', owner })
  await community.endpoints.upsert({ network: made.id, url, events: ['MemberJoinedHook'], token: true })
  const { token } = await community.keys.create({ network: made.id, name: 'tests', scopes: ['*'] })
  const request = (
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = { traceparent: sent },
  ) =>
    community.fetch(
      new Request(`http://api.test/admin/v1/networks/${made.id}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
  const joins = (name: string) =>
    request('POST', '/members', { email: `${name}@example.org`, first_name: name, last_name: 'Ash' })
  return { community, network_id: made.id, token, encryptionKeys, request, joins }
}

async function relayOf(options: EmbeddedRelayOptions) {
  const relay = await startRelay({ allowHttp: true, allowPrivate: true, ...options })
  onTestFinished(() => relay.stop(0))
  return relay
}

test.each(Object.entries(storages))('%s: one trace runs from the request to the receiver', async (_, open) => {
  const hook = await receiver()
  const storage = await open()
  const { joins, encryptionKeys, network_id } = await network(storage, hook.url)
  await relayOf({ storage, encryptionKeys, tracing })
  expect((await joins('Oil')).status).toBe(201)
  await until(() => recordedSpans(/^deliver/).length > 0, 'the attempt ends')

  const [request] = recordedSpans(/^POST/)
  const [attempt] = recordedSpans(/^deliver/)
  const [writing] = recordedSpans(/^transaction write/).filter((span) => idOf(span) === parentOf(attempt))
  expect([traceOf(request), traceOf(writing), traceOf(attempt)]).toEqual([sentTrace, sentTrace, sentTrace])
  expect([parentOf(request), parentOf(writing)]).toEqual(['00f067aa0ba902b7', idOf(request)])
  expect(hook.received[0]?.headers['traceparent']).toBe(`00-${sentTrace}-${idOf(attempt)}-01`)

  expect(request).toMatchObject({ name: `POST ${root}/members`, kind: SpanKind.SERVER })
  expect(request?.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': `${root}/members`,
    'http.response.status_code': 201,
    'url.path': `/admin/v1/networks/${network_id}/members`,
    'url.scheme': 'http',
    'folkmoot.operation': 'members.create',
  })
  expect(attempt).toMatchObject({
    name: 'deliver MemberJoinedHook',
    kind: SpanKind.CLIENT,
    status: { code: SpanStatusCode.UNSET },
  })
  expect(attempt?.attributes).toEqual({
    'messaging.system': 'folkmoot',
    'messaging.operation.name': 'deliver',
    'messaging.operation.type': 'send',
    'messaging.destination.name': 'MemberJoinedHook',
    'messaging.message.id': hook.received[0]?.id,
    'http.request.method': 'POST',
    'http.response.status_code': 204,
    'server.address': '127.0.0.1',
    'server.port': hook.port,
    'folkmoot.network_id': network_id,
    'folkmoot.endpoint_id': expect.stringMatching(/^\d+$/),
  })
})

test.each([
  ['SQLite', 'sqlite'],
  ['PostgreSQL', 'postgresql'],
] as const)('transactions on %s name their database', async (name, system) => {
  const { request } = await network(await storages[name](), 'https://hooks.example.org')
  await request('GET', '/members')
  const [reading] = recordedSpans(/^transaction read/).slice(-1)
  expect(reading).toMatchObject({ kind: SpanKind.INTERNAL })
  expect(reading?.attributes).toEqual({ 'db.system.name': system, 'folkmoot.transaction.kind': 'read' })
  expect(traceOf(reading)).toBe(sentTrace)
})

test('each attempt is a span of its own, and a failed one says so', async () => {
  const hook = await receiver((got, response) => status(hook.received.length === 1 ? 503 : 204)(got, response))
  const storage = await storages.SQLite()
  const { joins, encryptionKeys } = await network(storage, hook.url)
  await relayOf({ storage, encryptionKeys, tracing, retrySchedule: [0, 0.1] })
  await joins('Oil')
  await until(() => recordedSpans(/^deliver/).length === 2, 'the second attempt ends')
  const attempts = recordedSpans(/^deliver/)
  expect(attempts.map(traceOf)).toEqual([sentTrace, sentTrace])
  expect(attempts.map(({ status: { code } }) => code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.UNSET])
  expect(attempts[0]?.attributes).toMatchObject({ 'error.type': '503', 'http.response.status_code': 503 })
  expect(attempts[1]?.attributes).toMatchObject({ 'http.request.resend_count': 1 })
  expect(hook.received.map(({ headers }) => headers['traceparent']?.slice(36, 52))).toEqual(attempts.map(idOf))
})

test('events that are written together stay in the traces of their requests', async () => {
  const hook = await receiver()
  const storage = await storages.SQLite()
  const { request, encryptionKeys } = await network(storage, hook.url)
  await relayOf({ storage, encryptionKeys, tracing })
  const traces = Array.from({ length: 8 }, (_, index) => `${index + 1}`.repeat(32))
  await Promise.all(
    traces.map((id, index) =>
      request(
        'POST',
        '/members',
        { email: `m${index}@example.org`, first_name: `M${index}`, last_name: 'Ash' },
        { traceparent: `00-${id}-00f067aa0ba902b7-01` },
      ),
    ),
  )
  await until(() => hook.received.length === traces.length, 'all events come')
  const byName = hook.received.map(({ body, headers }) => [
    JSON.parse(body).payload.member.first_name,
    headers['traceparent']?.slice(3, 35),
  ])
  expect(byName.toSorted()).toEqual(traces.map((id, index) => [`M${index}`, id]))
})

test('a span that the host has open is the parent, and hooks are in the span of their request', async () => {
  const seen: (string | undefined)[] = []
  const hooks = { before: () => void seen.push(trace.getActiveSpan()?.spanContext().traceId) }
  const { joins } = await network(await storages.SQLite(), 'https://hooks.example.org', { tracing, hooks })
  const own = trace.getTracer('host').startSpan('own')
  await context.with(trace.setSpan(context.active(), own), () => joins('Oil'))
  const [request] = recordedSpans(/^POST/)
  expect(request).toMatchObject({ kind: SpanKind.INTERNAL })
  expect([parentOf(request), seen]).toEqual([own.spanContext().spanId, [own.spanContext().traceId]])
})

test('refusals are no failures of the server, and faults are', async () => {
  const hooks = {
    before: () => {
      throw new Error('a fault with a secret')
    },
    onError: () => undefined,
  }
  const { request } = await network(await storages['an outbox directory'](), 'https://hooks.example.org', { tracing, hooks })
  await request('GET', '/members/999')
  await request('GET', '/nowhere/a-secret')
  await request('GET', '/members/by-a%40example.org')
  const [missing, unknown, odd] = recordedSpans(/^GET/)
  expect(missing).toMatchObject({ name: `GET ${root}/members/{id}`, status: { code: SpanStatusCode.ERROR } })
  expect(missing?.attributes).toMatchObject({ 'http.response.status_code': 500, 'error.type': '500' })
  expect(unknown).toMatchObject({ name: 'GET', status: { code: SpanStatusCode.UNSET } })
  expect(unknown?.attributes).toEqual({ 'http.request.method': 'GET', 'url.scheme': 'http', 'http.response.status_code': 404 })
  expect(odd?.attributes).not.toHaveProperty('url.path')
})

test.each([
  ['a record that is not there', 'GET', '/members/999', 404],
  ['a change of a record that is not there', 'DELETE', '/members/999', 404],
  ['a value that another record has', 'POST', '/members', 422],
] as const)('%s marks no span as an error', async (_, method, path, expected) => {
  const { request, joins } = await network(await storages.SQLite(), 'https://hooks.example.org')
  await joins('Oil')
  const before = recordedSpans().length
  const refused = method === 'POST' ? joins('Oil') : request(method, path)
  expect((await refused).status).toBe(expected)
  const all = recordedSpans().slice(before)
  expect(all.some(({ name }) => name.startsWith('transaction'))).toBe(true)
  expect(all.map(({ status: { code }, attributes }) => [code, attributes['error.type']])).toEqual(
    all.map(() => [SpanStatusCode.UNSET, undefined]),
  )
})

test('nothing of a person, a key or a body is in a span', async () => {
  const hook = await receiver()
  const storage = await storages.SQLite()
  const { request, joins, token, encryptionKeys } = await network(storage, `${hook.url}?secret=hush`)
  await relayOf({ storage, encryptionKeys, tracing })
  await joins('Quill')
  await request('GET', '/members/by_email?email=quill%40example.org')
  await until(() => recordedSpans(/^deliver/).length > 0, 'the attempt ends')
  const written = JSON.stringify(
    recordedSpans().map(({ name, attributes, events, status: ended }) => [name, attributes, events, ended]),
  )
  expect(written).not.toMatch(new RegExp(`quill|hush|bearer|${token}|${encryptionKeys[0]?.replaceAll(/\W/g, '.')}`, 'i'))
})

test('a relay without tracing sends the trace that is stored, and an API without it stores none', async () => {
  const hook = await receiver()
  const storage = await storages.SQLite()
  const first = await network(storage, hook.url)
  await relayOf({ storage, encryptionKeys: first.encryptionKeys })
  await first.joins('Oil')
  const plain = createCommunity({ storage, encryptionKeys: first.encryptionKeys, allowHttp: true })
  await until(() => hook.received.length === 1, 'the first event comes')
  const writing = recordedSpans(/^transaction write/).filter((span) => traceOf(span) === sentTrace)
  expect(writing.map((span) => `00-${sentTrace}-${idOf(span)}-01`)).toContain(hook.received[0]?.headers['traceparent'])
  expect(recordedSpans(/^deliver/)).toEqual([])
  await plain.call('members.create', {
    network: first.network_id,
    body: { email: 'ink@example.org', first_name: 'Ink', last_name: 'Ash' },
  })
  await until(() => hook.received.length === 2, 'the second event comes')
  expect(hook.received[1]?.headers).not.toHaveProperty('traceparent')
})

test('an SDK that throws fails no request', async () => {
  const { joins } = await network(await storages.SQLite(), 'https://hooks.example.org')
  onTestFinished(() => void Object.assign(faults, { on: false }))
  faults.on = true
  expect((await joins('Oil')).status).toBe(201)
})

test('`tracing` that makes no spans is refused', async () => {
  const storage = memoryStorage()
  expect(() => createCommunity({ storage, tracing: {} as never })).toThrow('option `tracing` must have a method start')
  await expect(startRelay({ storage: temporaryDirectory(), tracing: {} as never })).rejects.toThrow(
    '`tracing` must have a method',
  )
  await expect(startRelay({ storage: temporaryDirectory(), telemetry: true } as never)).rejects.toThrow('openTelemetry()')
})
