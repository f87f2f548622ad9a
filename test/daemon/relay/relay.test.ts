import { createHmac } from 'node:crypto'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openOperatorStore } from '../../../daemon/relay/open-store.ts'
import { bench, endpoint, event, events, pass, receiver, status, until } from './support.ts'

describe('a delivery', () => {
  test('carries exactly the documented headers and the stored bytes', async () => {
    const hook = await receiver()
    const { append } = await bench()
    const body = '{"event_id":"a","b":1,"a":"Grüße \\u2028 – 😀","n":12345678901234567890}'
    await append(endpoint(`${hook.url}/in?token=1`), event('a', { body }))
    await until(() => hook.received.length === 1, 'it is delivered')
    const [got] = hook.received
    expect(got?.body).toBe(body)
    expect([got?.method, got?.path]).toEqual(['POST', '/hook/in?token=1'])
    expect(got?.headers).toEqual({
      host: `127.0.0.1:${hook.port}`,
      connection: 'keep-alive',
      'content-type': 'application/json',
      accept: 'application/json',
      authorization: 'Bearer the-key',
      'user-agent': 'folkmoot-relay',
      'content-length': String(Buffer.byteLength(body)),
    })
  })

  test('is signed with every live secret, so that one can be rotated', async () => {
    const hook = await receiver()
    const { append } = await bench()
    const keys = [Buffer.alloc(24, 1), Buffer.alloc(24, 2)]
    await append(endpoint(hook.url, { secrets: keys.map((key) => `whsec_${key.toString('base64')}`) }), event('a'))
    await until(() => hook.received.length === 1, 'it is delivered')
    const { headers = {}, body = '' } = hook.received[0] ?? {}
    const timestamp = String(headers['webhook-timestamp'])
    expect(headers['webhook-id']).toBe('a')
    expect(Math.abs(Date.now() / 1000 - Number(timestamp))).toBeLessThan(60)
    expect(headers['webhook-signature']).toBe(
      keys.map((key) => `v1,${createHmac('sha256', key).update(`a.${timestamp}.${body}`).digest('base64')}`).join(' '),
    )
  })

  test.each([200, 201, 204, 206, 299])('is acknowledged by %i', async (code) => {
    const hook = await receiver(status(code))
    const { append, attempts } = await bench()
    await append(endpoint(hook.url), event('a'))
    await until(() => attempts.length === 1, 'the attempt is over')
    expect(attempts).toMatchObject([
      { state: 'delivered', status: code, attempt: 1, event_id: 'a', endpoint_id: '7', next_at: null },
    ])
  })

  test.each([301, 302, 303, 307, 308, 304, 400, 401, 404, 408, 413, 422, 425, 429, 500, 502, 503, 504, 599])(
    'is tried again after %i, and no redirect is followed',
    async (code) => {
      const other = await receiver()
      const hook = await receiver(status(code, { location: other.url }))
      const { append, attempts } = await bench({ retrySchedule: [0, 60] })
      await append(endpoint(hook.url), event('a'))
      await until(() => attempts.length === 1, 'the attempt is over')
      expect(attempts).toMatchObject([{ state: 'pending', status: code }])
      expect(other.received).toEqual([])
    },
  )

  test('fails twice, then succeeds, and keeps to the schedule', async () => {
    const hook = await receiver()
    let requests = 0
    hook.respond = (_, response) => response.writeHead(++requests < 3 ? 500 : 204).end()
    const { append, attempts } = await bench({ retrySchedule: [0, 0.2, 0.4, 100] })
    await append(endpoint(hook.url), event('a'))
    await until(() => attempts.length === 3, 'three attempts are over')
    expect(attempts.map(({ state, attempt }) => [state, attempt])).toEqual([
      ['pending', 1],
      ['pending', 2],
      ['delivered', 3],
    ])
    const [one = 0, two = 0, three = 0] = hook.received.map(({ at }) => at)
    expect(two - one).toBeGreaterThan(150)
    expect(three - two).toBeGreaterThan(300)
    expect(new Set(hook.received.map(({ body }) => body)).size).toBe(1)
  })

  test('is dead when no attempt is left, and that is said', async () => {
    const hook = await receiver(status(500))
    const { append, attempts, notices } = await bench({ retrySchedule: [0, 0.05, 0.05] })
    await append(endpoint(hook.url), event('a'))
    await until(() => attempts.some(({ state }) => state === 'dead'), 'it is dead')
    await pass(200)
    expect(attempts.map(({ attempt, state }) => [attempt, state])).toEqual([
      [1, 'pending'],
      [2, 'pending'],
      [3, 'dead'],
    ])
    expect(notices).toMatchObject([{ kind: 'delivery.dead', event_id: 'a', endpoint_id: '7' }])
  })

  test('waits for as long as the receiver asks', async () => {
    const hook = await receiver(status(503, { 'retry-after': '30' }))
    const { append, attempts } = await bench()
    await append(endpoint(hook.url), event('a'))
    await until(() => attempts.length === 1, 'the attempt is over')
    expect(Date.parse(attempts[0]?.next_at ?? '') - Date.now()).toBeGreaterThan(20_000)
    // The whole endpoint is left alone meanwhile.
    await append(event('b'))
    await pass(500)
    expect(hook.received).toHaveLength(1)
  })

  test.each([
    ['never responds', () => undefined],
    [
      'sends headers and then nothing',
      (_: unknown, response: { writeHead(code: number): { write(text: string): void } }) =>
        void response.writeHead(500).write('x'),
    ],
    [
      'drips its response byte by byte',
      (_: unknown, response: import('node:http').ServerResponse) => {
        response.writeHead(500)
        const dripping = setInterval(() => response.write('x'), 50)
        response.on('close', () => clearInterval(dripping))
      },
    ],
  ])('to a receiver that %s fails with a time-out', async (_, respond) => {
    const hook = await receiver(respond as Parameters<typeof receiver>[0])
    const { append, attempts } = await bench({ timeout: 0.4, retrySchedule: [0, 60] })
    await append(endpoint(hook.url), event('a'))
    await until(() => attempts.length === 1, 'the attempt is over')
    expect(attempts).toMatchObject([{ outcome: 'timeout', state: 'pending' }])
  })

  test('needs no more of a response than its first 64 KiB', async () => {
    const hook = await receiver((_, response) => {
      response.writeHead(200)
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(16_384))) {}
      }
      response.on('drain', more)
      more()
    })
    const { append, attempts } = await bench()
    await append(endpoint(hook.url), event('a'))
    await until(() => attempts.length === 1, 'the attempt is over')
    expect(attempts).toMatchObject([{ state: 'delivered', status: 200 }])
  })

  test('of an event that comes twice is made once', async () => {
    const hook = await receiver()
    const { append, attempts } = await bench()
    await append(endpoint(hook.url), event('a'), event('a', { body: '{"other":1}' }), event('b'))
    await append(event('a'))
    await until(() => attempts.length === 2, 'both are delivered')
    await pass(300)
    expect(hook.received.map(({ id }) => id).sort()).toEqual(['a', 'b'])
  })

  test('is not stopped by a listener that throws', async () => {
    const hook = await receiver()
    const { append } = await bench(
      {},
      {
        onAttempt: () => {
          throw new Error('a bug of the embedder')
        },
      },
    )
    await append(endpoint(hook.url), event('a'), event('b'))
    await until(() => hook.received.length === 2, 'both are delivered')
  })
})

describe('endpoints', () => {
  test('get the events of their network and audience that they requested', async () => {
    const [all, some, host, other] = await Promise.all([receiver(), receiver(), receiver(), receiver()])
    const { append, attempts } = await bench()
    await append(
      endpoint(all.url, { id: '1' }),
      endpoint(some.url, { id: '2', events: ['TagCreatedHook'] }),
      endpoint(host.url, { id: '3', audience: 'host' }),
      endpoint(other.url, { id: '4', network_id: '2' }),
      event('post'),
      event('tag', { event_type: 'TagCreatedHook' }),
      event('mail', { audience: 'host' }),
      event('elsewhere', { network_id: '2' }),
    )
    await until(() => attempts.length === 5, 'five deliveries are made')
    await pass(200)
    expect([all, some, host, other].map((hook) => hook.received.map(({ id }) => id).sort())).toEqual([
      ['post', 'tag'],
      ['tag'],
      ['mail'],
      ['elsewhere'],
    ])
  })

  test('get nothing that stood in the outbox before them', async () => {
    const hook = await receiver()
    const { append } = await bench()
    await append(event('before'), endpoint(hook.url), event('after'))
    await until(() => hook.received.length > 0, 'one is delivered')
    await pass(200)
    expect(hook.received.map(({ id }) => id)).toEqual(['after'])
  })

  test('that are disabled get their events once they are enabled', async () => {
    const hook = await receiver()
    const { append } = await bench()
    await append(endpoint(hook.url, { enabled: false }), event('a'), event('b'))
    await pass(400)
    expect(hook.received).toEqual([])
    await append(endpoint(hook.url))
    await until(() => hook.received.length === 2, 'both are delivered')
  })

  test('with a new address and key get what waits there', async () => {
    const [old, fresh] = await Promise.all([receiver(status(500)), receiver()])
    // However late the new address comes, there is an attempt left for it.
    const { append, attempts } = await bench({ retrySchedule: [0, ...Array.from({ length: 30 }, () => 0.3)] })
    await append(endpoint(old.url), event('a'))
    await until(() => attempts.length === 1, 'the first attempt is over')
    await append(endpoint(fresh.url, { key: 'another-key' }))
    await until(() => fresh.received.length === 1, 'it is delivered')
    expect(fresh.received[0]?.headers.authorization).toBe('Bearer another-key')
  })

  test('get unknown event types unchanged, unless they requested others', async () => {
    const [all, some] = await Promise.all([receiver(), receiver()])
    const { append } = await bench()
    await append(
      endpoint(all.url, { id: '1' }),
      endpoint(some.url, { id: '2', events: ['PostCreatedHook'] }),
      event('new', { event_type: 'InventedLaterHook', body: '{"event_id":"new","event_type":"InventedLaterHook","later":[1]}' }),
      event('odd', { event_type: 'x' }),
      event('known'),
    )
    await until(() => all.received.length === 3 && some.received.length === 1, 'they are delivered')
    expect(all.received[0]?.body).toBe('{"event_id":"new","event_type":"InventedLaterHook","later":[1]}')
    expect(some.received.map(({ id }) => id)).toEqual(['known'])
  })

  test('whose key is changed while an attempt is in flight get the next attempt with the new one', async () => {
    const responses: (() => void)[] = []
    const hook = await receiver((_, response) => void responses.push(() => response.writeHead(401).end()))
    const { append, relay, attempts } = await bench({ timeout: 60 })
    await append(endpoint(hook.url, { key: 'old-key' }), event('a'))
    await until(() => responses.length === 1, 'it is in flight')
    await append(endpoint(hook.url, { key: 'new-key' }))
    await until(() => relay.scheduler.endpoint(1)?.endpoint.key === 'new-key', 'the key is known')
    hook.respond = status(204)
    for (const respond of responses) respond()
    await until(() => attempts.some(({ state }) => state === 'delivered'), 'it is delivered')
    expect(hook.received.map(({ headers }) => headers.authorization)).toEqual(['Bearer old-key', 'Bearer new-key'])
  })

  test.each([
    ['410', status(410)],
    ['503 with a pause of a day', status(503, { 'retry-after': '86400' })],
  ])('with a new address are sent to it, though the old one responds %s late', async (_, late) => {
    const held: (() => void)[] = []
    const old = await receiver((request, response) => void held.push(() => late(request, response)))
    const fresh = await receiver()
    const { append, relay, attempts, notices } = await bench({ retrySchedule: [0, 0.01], timeout: 60 })
    await append(endpoint(old.url), event('a'))
    await until(() => held.length === 1, 'it is in flight')
    await append(endpoint(fresh.url))
    await until(() => relay.scheduler.endpoint(1)?.endpoint.url === fresh.url, 'the new address is known')
    for (const respond of held) respond()
    await until(() => attempts.length === 1, 'the old address has responded')
    await append(event('b'))
    await until(() => fresh.received.some(({ id }) => id === 'b'), 'the new address gets what is new')
    expect(notices.filter(({ kind }) => kind === 'endpoint.disabled')).toEqual([])
    expect(relay.scheduler.endpoint(1)?.state.kind).toBe('active')
  })

  test('that an operator enabled stay enabled, though a 410 from before is recorded first', async () => {
    const held: (() => void)[] = []
    const hook = await receiver((request, response) => void held.push(() => status(410)(request, response)))
    const { append, attempts, directory, notices } = await bench({ retrySchedule: [0, 0.01], timeout: 60 })
    await append(endpoint(hook.url), event('a'))
    await until(() => held.length === 1, 'it is in flight')
    const operator = await openOperatorStore(directory)
    onTestFinished(() => operator.close())
    hook.respond = status(204)
    // The relay looks for that only now and then.
    for (const { ref } of await operator.knownEndpoints()) await operator.enable(ref)
    for (const respond of held) respond()
    await until(() => attempts.some(({ state }) => state === 'delivered'), 'it is delivered')
    expect(await operator.endpoints()).toMatchObject([{ state: 'active', disabled: null }])
    expect(notices.filter(({ kind }) => kind === 'endpoint.disabled')).toEqual([])
    expect((await operator.notices(10)).filter(({ kind }) => kind === 'endpoint.disabled')).toEqual([])
  })

  test('that are removed get nothing more, and what was dropped is said', async () => {
    const hook = await receiver(status(500))
    const { append, attempts, notices, remove } = await bench({ retrySchedule: [0, 1, 1] })
    await append(endpoint(hook.url), event('a'), event('b'))
    await until(() => attempts.length === 2, 'both have failed once')
    await remove('7')
    await until(() => notices.length > 0, 'it is removed')
    await pass(1500)
    expect(hook.received).toHaveLength(2)
    expect(notices).toMatchObject([{ kind: 'endpoint.removed', endpoint_id: '7', text: expect.stringContaining('2 waiting') }])
  })

  test('that are removed are said in words that fit the number', async () => {
    const hook = await receiver(status(500))
    const { append, attempts, notices, remove } = await bench({ retrySchedule: [0, 3600] })
    await append(endpoint(hook.url), event('a'))
    await until(() => attempts.length === 1, 'it has failed once')
    await remove('7')
    await until(() => notices.length > 0, 'it is removed')
    expect(notices).toMatchObject([{ text: 'the endpoint was removed; 1 waiting delivery was dropped' }])
  })

  test('that respond with 410 are disabled, and keep their events until they are enabled again', async () => {
    const hook = await receiver(status(410))
    const { append, attempts, notices } = await bench({ retrySchedule: [0] })
    await append(endpoint(hook.url), event('a'))
    await until(() => attempts.length === 1, 'the first attempt is over')
    await append(event('b'))
    await pass(400)
    expect(hook.received).toHaveLength(1)
    expect(notices).toMatchObject([{ kind: 'endpoint.disabled', endpoint_id: '7' }])
    hook.respond = status(204)
    await append(endpoint(hook.url))
    await until(() => hook.received.length === 3, 'both are delivered')
    expect(hook.received.map(({ id }) => id).sort()).toEqual(['a', 'a', 'b'])
  })

  test('in fifo order get the oldest first, one at a time, and the others wait for it', async () => {
    const hook = await receiver()
    let failures = 3
    hook.respond = ({ id }, response) =>
      void setTimeout(() => response.writeHead(id === 'e1' && failures-- > 0 ? 500 : 204).end(), 3)
    const { append } = await bench({ retrySchedule: [0, 0.05, 0.05, 0.05, 0.05] })
    await append(endpoint(hook.url, { order: 'fifo' }), ...events('e', 6))
    await until(() => hook.received.length === 9, 'all are delivered')
    expect(hook.received.map(({ id }) => id)).toEqual(['e0', 'e1', 'e1', 'e1', 'e1', 'e2', 'e3', 'e4', 'e5'])
    expect(hook.peak()).toBe(1)
  })

  test('with a rate get no more than that', async () => {
    const hook = await receiver()
    const { append } = await bench()
    await append(endpoint(hook.url, { rate_per_second: 20 }), ...events('e', 8))
    await until(() => hook.received.length === 8, 'all are delivered')
    const times = hook.received.map(({ at }) => at)
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(250)
  })

  test('get at most so many in parallel', async () => {
    const hook = await receiver((_, response) => void setTimeout(() => response.writeHead(204).end(), 20))
    const { append } = await bench({ maxInFlightPerEndpoint: 3 })
    await append(endpoint(hook.url), ...events('e', 30))
    await until(() => hook.received.length === 30, 'all are delivered')
    expect(hook.peak()).toBe(3)
  })

  test('that the guard refuses are sent nothing, and their circuit stays closed', async () => {
    const hook = await receiver()
    const { append, attempts } = await bench({ allowPrivate: false, retrySchedule: [0, 0, 0, 0, 0, 0, 60] })
    await append(endpoint(hook.url), event('a'))
    await until(() => attempts.length === 6, 'six attempts are over')
    expect(new Set(attempts.map(({ outcome, breaker }) => `${outcome} ${breaker}`))).toEqual(new Set(['blocked closed']))
    expect(hook.received).toEqual([])
  })
})

describe('the relay', () => {
  test('continues where an earlier one stopped', async () => {
    const hook = await receiver(status(500))
    const all = await bench({ retrySchedule: [0, 0.3, 0.3] })
    await all.append(endpoint(hook.url), event('a'))
    await until(() => all.attempts.length === 1, 'the first attempt is over')
    hook.respond = status(204)
    await all.restart()
    await until(() => hook.received.length === 2, 'the second attempt is made')
    await until(() => all.attempts.length === 2, 'the second attempt is over')
    expect(all.attempts[1]).toMatchObject({ attempt: 2, state: 'delivered' })
  })

  test('takes new settings for what begins from then on, and keeps the old ones when they are wrong', async () => {
    const hook = await receiver()
    const { append, relay, attempts } = await bench({
      allowPrivate: false,
      retrySchedule: [0, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2],
    })
    await append(endpoint(hook.url), event('a'))
    await until(() => attempts.length === 1, 'the first attempt is over')
    expect(() => relay.reconfigure({ ...relay.settings, timeout: -1 })).toThrow(/timeout/)
    expect(relay.settings.timeout).toBe(10)
    relay.reconfigure({ ...relay.settings, allowPrivate: true })
    await until(() => hook.received.length === 1, 'it is delivered')
  })

  test('sends nothing over a connection that new settings refuse', async () => {
    const hook = await receiver()
    const named = hook.url.replace('127.0.0.1', 'receiver.example')
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    const { append, relay, attempts } = await bench(
      { allowPrivate: false, allowAddresses: ['127.0.0.0/8'], retrySchedule: [0, 0.1, 60] },
      { resolve },
    )
    await append(endpoint(named), event('a'))
    await until(() => attempts.length === 1, 'the first is over')
    expect(attempts[0]).toMatchObject({ outcome: 'delivered' })
    relay.reconfigure({ ...relay.settings, allowAddresses: ['10.0.0.0/8'] })
    await append(event('b'))
    await until(() => attempts.length === 2, 'the second is over')
    expect(attempts[1]).toMatchObject({ outcome: 'blocked' })
    expect(hook.received).toHaveLength(1)
  })

  test('aborts what does not end in time when it is closed, which uses up no attempt', async () => {
    const hook = await receiver(() => undefined)
    const all = await bench()
    await all.append(endpoint(hook.url), event('a'))
    await until(() => hook.received.length === 1, 'it is in flight')
    hook.respond = status(204)
    await all.restart()
    await until(() => all.attempts.length === 1, 'it is delivered')
    expect(all.attempts).toMatchObject([{ attempt: 1, state: 'delivered' }])
  })
})
