import { expect, onTestFinished, test } from 'vitest'
import { toNodeListener } from '../../../../adapters/http/node.ts'
import { testCommunity } from '../../../../adapters/testing/index.ts'
import { withFaults } from '../../../../daemon/server/faults/listener.ts'
import { planOf } from '../../../../daemon/server/faults/plan.ts'
import { listen } from '../../../../daemon/server/http/listen.ts'
import { createClient } from '../../../../lib/client/index.ts'
import { systemTiming } from '../../../../lib/client/timing.ts'
import { begun } from '../../../support/begun.ts'

/** A server of a community with these faults, and a client that waits for nothing. */
async function served(fault: readonly string[], seed = '7', maxRetries = 0) {
  const { community, token, client: direct } = await testCommunity({ allowHttp: true })
  const plan = planOf({ fault, seed })
  if (!plan) throw new Error('there is no plan')
  const server = await listen(withFaults(plan, toNodeListener(community)), { port: 0, host: '127.0.0.1' })
  onTestFinished(() => server.close(0))
  const retries: string[] = []
  const client = createClient({
    baseUrl: server.url,
    network: 1,
    token,
    maxRetries,
    onRetry: ({ error }) => void retries.push(error.name),
    // Retries wait for nothing, and time-outs stay.
    timing: { ...systemTiming, after: (ms, run) => systemTiming.after(ms <= 100 || ms >= 60_000 ? ms : 0, run) },
  })
  const get = (path: string, init: RequestInit = {}) =>
    fetch(`${server.url}/admin/v1/networks/1${path}`, { headers: { authorization: `Bearer ${token}` }, ...init })
  return { client, direct, get, retries }
}

test.each([
  [
    '429',
    { 'retry-after': '1', 'content-type': 'application/json; charset=utf-8' },
    { error: 'rate limit exceeded', status: 429 },
  ],
  ['500', { 'retry-after': null, 'content-type': 'application/json; charset=utf-8' }, { error: 'Internal server error' }],
  ['503', { 'retry-after': '1', 'content-type': 'application/json; charset=utf-8' }, { error: expect.stringContaining('busy') }],
])('a fault %s responds as the API would', async (kind, headers, body) => {
  const { get, direct } = await served([`${kind}:1`])
  const response = await get('/tags', { method: 'POST', body: '{"title":"Oil"}' })
  const seen = Object.fromEntries(Object.keys(headers).map((name) => [name, response.headers.get(name)]))
  expect({ status: response.status, fault: response.headers.get('folkmoot-fault'), seen }).toEqual({
    status: Number(kind),
    fault: kind,
    seen: headers,
  })
  expect(await response.json()).toMatchObject(body)
  expect(await direct.tags.list().toArray({ limit: 9 })).toEqual([])
})

test.each(['502', '504'])('a fault %s is the page of a proxy, and a HEAD has no body', async (kind) => {
  const { get } = await served([`${kind}:1`])
  const response = await get('/me')
  expect([response.status, response.headers.get('content-type')]).toEqual([Number(kind), 'text/html'])
  expect(await response.text()).toContain(`<h1>${kind} `)
  expect(await (await get('/me', { method: 'HEAD' })).text()).toBe('')
})

test('drop closes the connection before the operation', async () => {
  const { client, direct } = await served(['drop:1'])
  await expect(client.tags.create({ title: 'Oil' })).rejects.toMatchObject({ name: 'ConnectionError' })
  expect(await direct.tags.list().toArray({ limit: 9 })).toEqual([])
})

test('drop-after closes it when the operation is done, and a repeat with the same key does not do it again', async () => {
  const { client, direct, retries } = await served(['drop-after:0.6'], '3', 9)
  for (let turn = 0; turn < 10; turn++) await client.tags.create({ title: `Oil ${turn}` })
  expect(retries.length).toBeGreaterThan(3)
  expect((await direct.tags.list().toArray({ limit: 99 })).map(({ title }) => title)).toEqual(
    Array.from({ length: 10 }, (_, turn) => `Oil ${turn}`),
  )
})

test('stall never responds, and the operation is not done', async () => {
  const { client, direct } = await served(['stall:1'])
  await expect(client.tags.create({ title: 'Oil' }, { timeout: 100 })).rejects.toMatchObject({ name: 'TimeoutError' })
  expect(await direct.tags.list().toArray({ limit: 9 })).toEqual([])
})

test('the n-th request of equal seeds gets the same fault', async () => {
  const statuses = async (seed: string) => {
    const { get } = await served(['429:0.3', '500:0.3'], seed)
    const seen: number[] = []
    for (let turn = 0; turn < 20; turn++) seen.push((await get('/me')).status)
    return seen
  }
  const [first, again, other] = [await statuses('7'), await statuses('7'), await statuses('8')]
  expect(again).toEqual(first)
  expect(other).not.toEqual(first)
  expect(new Set(first)).toEqual(new Set([200, 429, 500]))
})

test('serve names its faults at the start, and its health has none', async () => {
  const flags = ['--fault', '503:1', '--latency', '1-2', '--seed', '7']
  const server = begun('serve', '--demo', '--allow-http', '--json', '--port', '0', '--storage', 'memory:', ...flags)
  const { url, faults } = JSON.parse(await server.firstLine())
  expect(faults).toEqual({ faults: [{ kind: '503', probability: 1 }], latency: { from: 1, to: 2 }, seed: '7' })
  const statuses = await Promise.all(
    ['/livez', '/readyz', '/admin/v1/spec.json'].map(async (path) => (await fetch(url + path)).status),
  )
  expect(statuses).toEqual([200, 200, 503])
  expect(server.out.stderr).toContain('Faults are on: 503 for 100 %, 1 to 2 ms latency; seed 7.')
})
