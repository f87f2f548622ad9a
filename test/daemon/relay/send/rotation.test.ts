/** Tokens and signing secrets that were replaced: how long, and how, the old ones hold. */
import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { bench, endpoint, event, type Received, type Responder, receiver, status, until } from '../support.ts'

const secretOf = (fill: number): string => `whsec_${Buffer.alloc(24, fill).toString('base64')}`
const [fresh, old] = [secretOf(1), secretOf(2)]
const soon = new Date(Date.now() + 3_600_000).toISOString()
const past = new Date(Date.now() - 1000).toISOString()

const signatures = ({ headers, body }: Received, ...secrets: string[]): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
      const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
      return `v1,${createHmac('sha256', key).update(text).digest('base64')}`
    })
    .join(' ')

/** A receiver that accepts one key. */
const knows =
  (key: string, refusal = 401): Responder =>
  ({ headers }, response) =>
    void response.writeHead(headers.authorization === `Bearer ${key}` ? 204 : refusal).end()

const bearers = (received: readonly Received[]) =>
  received.map(({ headers }) => String(headers.authorization).slice('Bearer '.length))

describe('a signing secret that was replaced', () => {
  test('signs with the new one until its time, also after a restart', async () => {
    const hook = await receiver()
    const all = await bench()
    const old_secrets = [{ value: old, until: soon }]
    await all.append(endpoint(hook.url, { secrets: [fresh], old_secrets }), event('a'))
    await until(() => hook.received.length === 1, 'it is delivered')
    await all.restart()
    await all.append(event('b'))
    await until(() => hook.received.length === 2, 'the other one is delivered, too')
    for (const got of hook.received) expect(got.headers['webhook-signature']).toBe(signatures(got, fresh, old))
  })

  test('signs no more when its time is over', async () => {
    const hook = await receiver()
    const { append } = await bench()
    await append(endpoint(hook.url, { secrets: [fresh], old_secrets: [{ value: old, until: past }] }), event('a'))
    await until(() => hook.received.length === 1, 'it is delivered')
    for (const got of hook.received) expect(got.headers['webhook-signature']).toBe(signatures(got, fresh))
  })
})

describe('a key that was replaced', () => {
  test.each([401, 403])('is tried immediately when the new one is refused with %i, and both are one attempt', async (refusal) => {
    const hook = await receiver(knows('k1', refusal))
    const all = await bench()
    const old_keys = [{ value: 'k1', until: soon }]
    await all.append(endpoint(hook.url, { key: 'k2', secrets: [fresh], old_keys }), event('a'))
    await until(() => all.attempts.length === 1, 'the attempt is over')
    expect(all.attempts).toMatchObject([{ state: 'delivered', status: 204, attempt: 1 }])
    expect(bearers(hook.received)).toEqual(['k2', 'k1'])
    expect(hook.received.map(({ headers }) => headers['webhook-id'])).toEqual(['a', 'a'])
    hook.respond = knows('k2')
    await all.restart()
    await all.append(event('b'))
    await until(() => all.attempts.length === 2, 'the other attempt is over')
    expect(bearers(hook.received)).toEqual(['k2', 'k1', 'k2'])
  })

  test('is tried no more when its time is over', async () => {
    const hook = await receiver(knows('k1'))
    const { append, attempts } = await bench({ retrySchedule: [0, 60] })
    await append(endpoint(hook.url, { key: 'k2', old_keys: [{ value: 'k1', until: past }] }), event('a'))
    await until(() => attempts.length === 1, 'the attempt is over')
    expect(attempts).toMatchObject([{ state: 'pending', status: 401, attempt: 1 }])
    expect(bearers(hook.received)).toEqual(['k2'])
  })

  test('leaves the refusal of the new one standing when it is refused as well', async () => {
    const hook = await receiver(status(403))
    const { append, attempts } = await bench({ retrySchedule: [0, 60] })
    const old_keys = ['k2', 'k1'].map((value) => ({ value, until: soon }))
    await append(endpoint(hook.url, { key: 'k3', old_keys }), event('a'))
    await until(() => attempts.length === 1, 'the attempt is over')
    expect(attempts).toMatchObject([{ state: 'pending', status: 403, attempt: 1 }])
    expect(bearers(hook.received)).toEqual(['k3', 'k2', 'k1'])
  })

  test('is taken out of the store when its time is over, and not before', async () => {
    const { append, relay } = await bench()
    const kept = [{ value: 'k1', until: soon }]
    await append(endpoint('http://127.0.0.1:9/', { id: '7', old_keys: kept }))
    await append(endpoint('http://127.0.0.1:9/', { id: '8', old_keys: [{ value: 'k1', until: past }] }))
    await until(async () => (await relay.store.endpoints()).length === 2, 'both are known')
    await relay.maintenance.purge()
    const stored = (await relay.store.endpoints()).map(({ endpoint: { id, old_keys } }) => [id, old_keys])
    expect(stored.toSorted()).toEqual([
      ['7', kept],
      ['8', []],
    ])
  })

  test('is not tried for any other response', async () => {
    const hook = await receiver(status(500))
    const { append, attempts } = await bench({ retrySchedule: [0, 60] })
    await append(endpoint(hook.url, { key: 'k2', old_keys: [{ value: 'k1', until: soon }] }), event('a'))
    await until(() => attempts.length === 1, 'the attempt is over')
    expect(bearers(hook.received)).toEqual(['k2'])
  })

  test('has only the rest of the attempt’s time', async () => {
    const hook = await receiver(({ headers }, response) => {
      if (headers.authorization === 'Bearer k2') response.writeHead(401).end()
    })
    const { append, attempts } = await bench({ retrySchedule: [0, 60], timeout: 1 })
    await append(endpoint(hook.url, { key: 'k2', old_keys: [{ value: 'k1', until: soon }] }), event('a'))
    await until(() => attempts.length === 1, 'the attempt is over')
    expect(attempts).toMatchObject([{ state: 'pending', outcome: 'timeout', attempt: 1 }])
    expect(bearers(hook.received)).toEqual(['k2', 'k1'])
  })
})
