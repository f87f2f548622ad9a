/** Addresses that an endpoint allows, within those of the relay. */
import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { bench, endpoint, event, receiver, until } from '../support.ts'
import { attempt, listening, openEndpoint, senderWith } from './support.ts'

const both = async () => [
  { address: '::1', family: 6 },
  { address: '127.0.0.1', family: 4 },
]
const only = (...allow_addresses: string[]) => ({ allow_addresses, requires: ['allow_addresses'] })

describe('an attempt at an endpoint with a list', () => {
  test('connects to the addresses of a name that are in it, and to no others', async () => {
    const seen: (string | undefined)[] = []
    const server = createServer((request, response) => {
      seen.push(request.socket.localAddress)
      response.setHeader('connection', 'close').end()
    })
    const port = await listening(server, '127.0.0.1')
    await listening(
      createServer((request, response) => {
        seen.push(request.socket.localAddress)
        response.setHeader('connection', 'close').end()
      }),
      '::1',
      port,
    )
    const send = senderWith({ timeout: 5 }, both)
    const to = (allow_addresses: readonly string[]) => send(`http://name.example:${port}/`, { allow_addresses })
    expect(await to(['127.0.0.0/8'])).toMatchObject({ result: 'delivered' })
    expect(await to(['::1'])).toMatchObject({ result: 'delivered' })
    expect(await to(['198.51.100.7', '2001:db8::/32'])).toMatchObject({
      result: 'blocked',
      reason: 'no address of name.example is among the `allow_addresses` of the endpoint',
    })
    expect(seen).toEqual(['127.0.0.1', '::1'])
  })

  test('does not use the connection of an earlier list', async () => {
    const hook = await receiver()
    const send = senderWith({ timeout: 5 })
    const url = hook.url.replace('127.0.0.1', 'name.example')
    expect(await send(url)).toMatchObject({ result: 'delivered' })
    expect(await send(url, { allow_addresses: ['198.51.100.7'] })).toMatchObject({ result: 'blocked' })
    expect(await send(url, { allow_addresses: ['127.0.0.1'] })).toMatchObject({ result: 'delivered' })
  })

  test('never reaches more than the relay allows', async () => {
    const hook = await receiver()
    const strict = senderWith({ allowPrivate: false, timeout: 5 })
    const named = hook.url.replace('127.0.0.1', 'name.example')
    for (const url of [hook.url, named])
      expect(await strict(url, { allow_addresses: ['127.0.0.1', '0.0.0.0/0'] })).toMatchObject({
        result: 'blocked',
        reason: expect.stringContaining('public address'),
      })
    const allowing = senderWith({ allowPrivate: false, allowAddresses: ['127.0.0.0/8'], timeout: 5 })
    expect(await allowing(hook.url, { allow_addresses: ['127.0.0.1'] })).toMatchObject({ result: 'delivered' })
    expect(hook.received).toHaveLength(1)
  })

  test('refuses an address in the URL that is not in it', async () => {
    const hook = await receiver()
    expect(await senderWith()(hook.url, { allow_addresses: ['127.0.0.2'] })).toMatchObject({
      result: 'blocked',
      reason: '127.0.0.1 is not among the `allow_addresses` of the endpoint',
    })
    expect(await attempt(hook.url)).toMatchObject({ result: 'delivered' })
    expect(openEndpoint(hook.url).allow_addresses).toBeNull()
  })
})

test('an endpoint is sent to once its list has its address', async () => {
  const hook = await receiver()
  const all = await bench()
  await all.append(endpoint(hook.url, only('198.51.100.7')), event('one'))
  await until(() => all.attempts.length > 0, 'an attempt is made')
  expect(all.attempts[0]).toMatchObject({ outcome: 'blocked', breaker: 'closed', status: null })
  await all.append(endpoint(hook.url, only('198.51.100.7', '127.0.0.0/8')), event('two'))
  await until(() => hook.received.some(({ id }) => id === 'two'), 'the next event is delivered')
})

test.each([[[]], [['localhost']], [['10.0.0.0/33']], [['fe80::1%eth0']], [Array(101).fill('10.0.0.1')]])(
  'a record with the list %j is set aside',
  async (allow_addresses) => {
    const hook = await receiver()
    const all = await bench()
    await all.append(endpoint(hook.url, { allow_addresses }), endpoint(hook.url, { id: '8' }), event('one'))
    await until(() => hook.received.length === 1, 'the other endpoint gets the event')
    expect(all.notices).toMatchObject([
      { kind: 'outbox.damaged', endpoint_id: '7', text: expect.stringContaining('`allow_addresses`') },
    ])
  },
)
