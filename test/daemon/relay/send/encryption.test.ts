/** Endpoints whose tokens and signing secrets are encrypted: what a relay sends them, with and without the encryption key. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openOperatorStore } from '../../../../daemon/relay/open-store.ts'
import type { OperatorStore } from '../../../../daemon/relay/store/operator/operator-store.ts'
import { keyRing } from '../../../../lib/outbox/encryption.ts'
import { bench, endpoint, event, events, pass, type Received, receiver, status, until } from '../support.ts'

const [first, second] = [1, 2].map((fill) => Buffer.alloc(32, fill).toString('base64')) as [string, string]
const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const loopback = { allowHttp: true, allowPrivate: true }

/** An endpoint as a community with the first encryption key writes it. */
const sealed = (...given: Parameters<typeof endpoint>) => keyRing([first]).seal(endpoint(...given))

/** A bench whose next relay has the encryption keys that `options` names then. */
async function benchWith(...keys: readonly string[]) {
  const options: { encryptionKeys: readonly string[] } = { encryptionKeys: keys }
  return { options, all: await bench({}, options) }
}

async function asOperator<T>(outbox: string, ask: (store: OperatorStore) => Promise<T>): Promise<T> {
  const store = await openOperatorStore(outbox)
  try {
    return await ask(store)
  } finally {
    await store.close()
  }
}

const kinds = (notices: readonly { readonly kind: string }[]) => notices.map(({ kind }) => kind)
const bearers = (received: readonly Received[]) => received.map(({ headers }) => headers.authorization)

describe('with the encryption key', () => {
  test('a receiver gets the key and signatures, and the store holds the text of the outbox', async () => {
    const hook = await receiver()
    const { all } = await benchWith(first)
    const record = await sealed(hook.url, { key: 'new-key', secrets: [secret] })
    await all.append(record, event('a'))
    await until(() => all.attempts.length === 1, 'it is delivered')
    expect(bearers(hook.received)).toEqual(['Bearer new-key'])
    expect(hook.received[0]?.headers['webhook-signature']).toMatch(/^v1,/)
    const [stored] = await all.relay.store.endpoints()
    expect(stored?.endpoint).toMatchObject({ key: record.key, secrets: record.secrets })
    expect(all.notices).toEqual([])
  })

  test('a receiver that echoes the request puts no secret into the store of the relay, nor into its files', async () => {
    const hook = await receiver(({ headers }, response) => void response.writeHead(500).end(JSON.stringify(headers)))
    const { all } = await benchWith(first)
    const headers = [{ name: 'x-gateway', value: 'the-gateway-secret' }]
    await all.append(await sealed(hook.url, { key: 'the-secret-key', headers, requires: ['headers'] }), event('a'))
    await until(() => all.attempts.length === 1, 'it has failed')
    const operator = await openOperatorStore(all.directory)
    const [delivery] = await operator.deliveries({ limit: 1 })
    const kept = (await operator.attempts(Number(delivery?.id))).map(({ answer }) => answer).join()
    await operator.close()
    expect(kept).toContain('"x-gateway":"[hidden]"')
    expect(kept).not.toMatch(/the-gateway-secret|the-secret-key/)
    await all.relay.close(0)
    const home = join(all.directory, 'relay')
    // A shared store is in the database.
    const files = existsSync(home) ? readdirSync(home).map((name) => readFileSync(join(home, name))) : []
    expect(Buffer.concat(files).toString('latin1')).not.toMatch(/the-gateway-secret|the-secret-key/)
    expect(JSON.stringify([all.attempts, all.notices])).not.toMatch(/the-gateway-secret|the-secret-key/)
  })

  test('nothing is sent with a secret that cannot sign, and its deliveries wait for a better one', async () => {
    const hook = await receiver()
    const { all } = await benchWith(first)
    await all.append(await sealed(hook.url, { secrets: ['whsec_'] }), event('a'))
    await until(() => kinds(all.notices).includes('endpoint.unreadable'), 'it is said')
    expect(all.notices.at(-1)?.text).toContain('a signing secret of it cannot sign')
    await pass(200)
    expect([hook.received, all.attempts]).toEqual([[], []])
    await all.append(await sealed(hook.url, { secrets: [secret] }))
    await until(() => all.attempts.length === 1, 'it is delivered')
    expect(all.attempts).toMatchObject([{ attempt: 1, outcome: 'delivered' }])
  })

  test('a key that was replaced is tried as well', async () => {
    const hook = await receiver(
      ({ headers }, response) => void response.writeHead(headers.authorization === 'Bearer old-key' ? 204 : 401).end(),
    )
    const { all } = await benchWith(first)
    const old_keys = [{ value: 'old-key', until: new Date(Date.now() + 3_600_000).toISOString() }]
    await all.append(await sealed(hook.url, { key: 'new-key', old_keys }), event('a'))
    await until(() => all.attempts.length === 1, 'it is delivered')
    expect(bearers(hook.received)).toEqual(['Bearer new-key', 'Bearer old-key'])
  })

  test('an endpoint in plain text works next to one that is encrypted, before and after it is', async () => {
    const hook = await receiver()
    const { all } = await benchWith(first)
    await all.append(endpoint(hook.url, { key: 'k1' }), event('a'))
    await until(() => all.attempts.length === 1, 'the first is delivered')
    const record = await sealed(hook.url, { key: 'k2' })
    await all.append(record)
    await until(() => [...all.relay.scheduler.endpoints].some((run) => run.endpoint.key === record.key), 'it is heard of')
    await all.append(event('b'))
    await until(() => all.attempts.length === 2, 'the second is delivered')
    expect(bearers(hook.received)).toEqual(['Bearer k1', 'Bearer k2'])
  })

  test('the ring of encryption keys may grow in front, and the old text is read on', async () => {
    const hook = await receiver()
    const { all, options } = await benchWith(first)
    await all.append(await sealed(hook.url))
    options.encryptionKeys = [second, first]
    await all.restart()
    await all.append(event('a'))
    await until(() => all.attempts.length === 1, 'it is delivered')
    expect(bearers(hook.received)).toEqual(['Bearer the-key'])
  })
})

describe.each([
  ['without an encryption key', []],
  ['with another encryption key', [second]],
])('%s', (_, wrong) => {
  test('nothing is sent to the endpoint, its deliveries wait untouched, and everything else flows', async () => {
    const [hook, other] = await Promise.all([receiver(), receiver()])
    const { all } = await benchWith(...wrong)
    await all.append(await sealed(hook.url), endpoint(other.url, { id: '8', key: 'plain' }), ...events('e', 3))
    await until(() => all.attempts.length === 3, 'the other endpoint gets its events')
    await until(() => kinds(all.notices).includes('endpoint.unreadable'), 'people are told')
    expect(hook.received).toEqual([])
    expect(all.notices).toEqual([
      {
        kind: 'endpoint.unreadable',
        network_id: '1',
        endpoint_id: '7',
        event_id: null,
        text: expect.stringMatching(
          /^nothing is sent, and its deliveries wait: the token of endpoint 7 .*--encryption-key-file$/,
        ),
      },
    ])
    const [found, waiting] = await asOperator(all.directory, async (store) => [
      (await store.endpoints()).map(({ endpoint_id, unreadable, pending, next_attempt_at, state, dead }) => {
        return { endpoint_id, unreadable: unreadable !== null, pending, next_attempt_at, state, dead }
      }),
      await store.deliveries({ endpoint_id: '7', limit: 10 }),
    ])
    const shown = { state: 'active', dead: 0 }
    expect(found.toSorted((a, b) => a.endpoint_id.localeCompare(b.endpoint_id))).toEqual([
      { ...shown, endpoint_id: '7', unreadable: true, pending: 3, next_attempt_at: null },
      { ...shown, endpoint_id: '8', unreadable: false, pending: 0, next_attempt_at: null },
    ])
    expect(waiting.map(({ state, attempts }) => [state, attempts])).toEqual(Array(3).fill(['pending', 0]))

    all.relay.reconfigure({ ...loopback }, [first])
    await until(() => all.attempts.length === 6, 'they are sent with the key')
    expect(new Set(bearers(hook.received))).toEqual(new Set(['Bearer the-key']))
    expect(all.attempts.map(({ attempt }) => attempt)).toEqual(Array(6).fill(1))
    expect(kinds(all.notices)).toEqual(['endpoint.unreadable', 'endpoint.readable'])
    const [told, state] = await asOperator(all.directory, async (store) => [await store.notices(10), await store.endpoints()])
    expect(kinds(told)).toEqual(['endpoint.readable', 'endpoint.unreadable'])
    expect(state.map(({ unreadable }) => unreadable)).toEqual([null, null])
  })

  test('it stays so over a restart, which logs it again and records it once', async () => {
    const hook = await receiver()
    const { all, options } = await benchWith(first)
    await all.append(await sealed(hook.url, { order: 'fifo' }), event('a'))
    await until(() => all.attempts.length === 1, 'the first is delivered')
    options.encryptionKeys = wrong
    for (const times of [1, 2]) {
      await all.restart()
      await until(() => all.notices.length === times, 'it is logged')
    }
    await all.append(event('b'), event('c'))
    await until(async () => (await all.relay.store.counts()).pending === 2, 'they are ingested')
    const told = await asOperator(all.directory, (store) => store.notices(10))
    expect(kinds(told)).toEqual(['endpoint.unreadable'])
    expect(hook.received.map(({ id }) => id)).toEqual(['a'])
    options.encryptionKeys = [first]
    await all.restart()
    await until(() => hook.received.length === 3, 'the others are delivered')
    expect(hook.received.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
  })

  test('the endpoint continues as soon as it is registered with a key that can be read', async () => {
    const hook = await receiver()
    const { all } = await benchWith(...wrong)
    await all.append(await sealed(hook.url), event('a'))
    await until(() => kinds(all.notices).includes('endpoint.unreadable'), 'people are told')
    await all.append(await keyRing(wrong).seal(endpoint(hook.url, { key: 'fresh' })))
    await until(() => hook.received.length === 1, 'what waited is delivered')
    expect(bearers(hook.received)).toEqual(['Bearer fresh'])
  })
})

test('a retry that is due after the key was taken away waits, and uses up no attempt', async () => {
  const hook = await receiver(status(500))
  const { all } = await benchWith(first)
  await all.append(await sealed(hook.url), event('a'))
  await until(() => all.attempts.length === 1, 'the first attempt has failed')
  all.relay.reconfigure({ ...loopback, retrySchedule: [0, 0.1, 0.1, 0.1, 0.1, 0.1] }, [second])
  await until(() => kinds(all.notices).includes('endpoint.unreadable'), 'people are told')
  await until(() => all.relay.scheduler.inFlight === 0, 'nothing is in flight')
  const before = all.attempts.length
  await pass(300)
  expect(hook.received.length).toBe(before)
  hook.respond = status(204)
  all.relay.reconfigure({ ...loopback }, [first])
  await until(() => all.attempts.some(({ state }) => state === 'delivered'), 'it is delivered')
  expect(all.attempts.at(-1)?.attempt).toBe(before + 1)
})

test('credentials that claim a form that is not known are never sent', async () => {
  const [hook, other] = await Promise.all([receiver(), receiver()])
  const { all } = await benchWith(first)
  await all.append(endpoint(hook.url, { key: 'encrypted:9:abc' }), endpoint(other.url, { id: '8' }), event('a'))
  await until(() => other.received.length === 1, 'the other endpoint gets it')
  await until(() => kinds(all.notices).includes('endpoint.unreadable'), 'people are told')
  expect(hook.received).toEqual([])
})

test('a malformed encryption key is refused when the relay starts, and at a change, which changes nothing', async () => {
  await expect(benchWith(first, 'hunter2')).rejects.toThrow(/^encryption key 2 of 2 must be 32 bytes in base64/)
  const { all } = await benchWith(first)
  expect(() => all.relay.reconfigure({ ...loopback, timeout: 3 }, ['hunter2'])).toThrow(/^encryption key 1 of 1 must be/)
  expect(all.relay.settings.timeout).not.toBe(3)
})
