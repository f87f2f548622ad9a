/** What a proxy says about one endpoint is about that endpoint: no one else waits for it. */
import { describe, expect, test } from 'vitest'
import { connectProxy, type Misbehaviour } from '../../../support/connect-proxy.ts'
import { bench, endpoint, event, events, receiver, status, until } from '../support.ts'

const denied: Misbehaviour = { says: 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n' }

/** A receiver that closes each connection: each event needs another one of the proxy. */
const closing = () => receiver(status(204, { connection: 'close' }))

const failures: readonly (readonly [string, Misbehaviour])[] = [
  ['with 407', denied],
  ['with 403', { says: 'HTTP/1.1 403 Forbidden\r\n\r\n' }],
  ['with 502', { says: 'HTTP/1.1 502 Bad Gateway\r\n\r\n' }],
  ['with garbage', { says: 'SSH-2.0-OpenSSH\r\n' }],
  ['with an answer without an end', { says: `HTTP/1.1 200 OK\r\nX-Filler: ${'a'.repeat(20_000)}` }],
  ['by closing the connection', 'closes'],
  ['by saying nothing', 'silent'],
]

describe('a proxy that fails for one endpoint', () => {
  test.each(failures)('%s stops no other', async (_, behave) => {
    const hook = await closing()
    const proxy = await connectProxy()
    // Only silence has to be waited for. On a busy machine a connection takes its time.
    const all = await bench({ proxy: proxy.url, timeout: behave === 'silent' ? 5 : 60, retrySchedule: [0, 0.1, 0.1] })
    await all.append(endpoint(hook.url), event('first'))
    await until(() => hook.received.length === 1, 'the proxy works')
    const others = Array.from({ length: 5 }, (_, place) => `${10 + place}`)
    for (const [place, id] of others.entries()) {
      proxy.toPort.set(20_000 + place, behave)
      await all.append(endpoint(`http://127.0.0.1:${20_000 + place}/`, { id, network_id: id }), event(id, { network_id: id }))
    }
    const down: boolean[] = []
    for (const each of events('e', 20)) {
      await all.append(each)
      await until(() => hook.received.some(({ id }) => id === each.event_id), 'it is delivered')
      down.push([...all.relay.scheduler.endpoints].some(({ waitsForProxy }) => waitsForProxy))
    }
    const failed = () => all.attempts.filter(({ endpoint_id }) => endpoint_id !== '7')
    await until(() => new Set(failed().map(({ endpoint_id }) => endpoint_id)).size === 5, 'each of them fails')
    expect(down).toEqual(Array(20).fill(false))
    const ofWorking = () => all.attempts.filter(({ endpoint_id }) => endpoint_id === '7')
    await until(() => ofWorking().filter(({ state }) => state === 'delivered').length === 21, 'its results are recorded')
    expect(ofWorking().map(({ outcome }) => outcome)).not.toContain('proxy_failed')
  })
  test.each(failures)('%s, and connects to others, uses up the attempts of that endpoint', async (_, behave) => {
    const hook = await closing()
    const proxy = await connectProxy()
    const all = await bench({
      proxy: proxy.url,
      timeout: behave === 'silent' ? 2 : 60,
      retrySchedule: [0, 0.1],
      breakerThreshold: 1,
    })
    proxy.toPort.set(20_000, behave)
    const refused = endpoint('http://127.0.0.1:20000/', { id: '8', network_id: '2' })
    await all.append(endpoint(hook.url), event('first'))
    await until(() => hook.received.length === 1, 'the proxy works')
    await all.append(refused, event('refused', { network_id: '2' }))
    const ofRefused = () => all.attempts.filter(({ endpoint_id }) => endpoint_id === '8')
    let sent = 1
    await until(async () => {
      // Between any two of its failures the proxy connects to the other one.
      if (sent === hook.received.length) await all.append(event(`e${sent++}`))
      return ofRefused().at(-1)?.state === 'dead'
    }, 'its event is dead')
    const [first, ...rest] = ofRefused()
    expect(first).toMatchObject({ outcome: 'proxy_failed', attempt: 1, state: 'pending' })
    const counted = rest.filter(({ outcome }) => outcome !== 'proxy_failed')
    expect(counted.map(({ outcome, attempt, state }) => [outcome, attempt, state])).toEqual([
      [behave === 'silent' ? 'timeout' : 'unreachable', 1, 'pending'],
      [behave === 'silent' ? 'timeout' : 'unreachable', 2, 'dead'],
    ])
    expect(
      [...all.relay.scheduler.endpoints].find(({ endpoint }) => endpoint.id === '8')?.health.current.failingSince,
    ).not.toBeNull()
    expect(all.notices.map(({ kind }) => kind)).toContain('endpoint.opened')
    expect(all.notices.map(({ endpoint_id }) => endpoint_id)).not.toContain(null)
    const ofWorking = all.attempts.filter(({ endpoint_id }) => endpoint_id === '7')
    expect(ofWorking.map(({ outcome }) => outcome)).not.toContain('proxy_failed')
  })
})

describe('a proxy that refuses everybody', () => {
  test('is announced once an hour, and holds no endpoint that it connects to after all', async () => {
    const hooks = [await closing(), await closing()]
    const proxy = await connectProxy()
    const all = await bench({ proxy: proxy.url, retrySchedule: [0] })
    await all.append(endpoint(hooks[0]?.url ?? ''), endpoint(hooks[1]?.url ?? '', { id: '8' }), event('a'))
    await until(() => hooks.every(({ received }) => received.length === 1), 'the proxy works')
    for (const [place, id] of ['b', 'c', 'd'].entries()) {
      proxy.behave = denied
      await all.append(event(id))
      await until(() => all.relay.proxyWorks === false, 'both were refused')
      expect([...all.relay.scheduler.endpoints].some(({ waitsForProxy }) => waitsForProxy)).toBe(false)
      proxy.behave = undefined
      await until(() => hooks.every(({ received }) => received.length === place + 2), 'everything is delivered')
      await until(() => all.notices.some(({ kind }) => kind === 'proxy.recovered'), 'it is told')
      expect(all.relay.proxyWorks).toBe(true)
    }
    expect(all.attempts.every(({ attempt, state, breaker }) => attempt === 1 && state !== 'dead' && breaker === 'closed')).toBe(
      true,
    )
    const general = all.notices.filter(({ endpoint_id }) => endpoint_id === null)
    expect(general.map(({ kind }) => kind)).toEqual(['proxy.failed', 'proxy.recovered'])
  })
})
