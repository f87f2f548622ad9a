/** Headers of an endpoint, as its receiver gets them. */
import { expect, test } from 'vitest'
import { keyRing } from '../../../../lib/outbox/encryption.ts'
import { bench, endpoint, event, receiver, status, until } from '../support.ts'

const encryptionKey = Buffer.alloc(32, 1).toString('base64')
const headers = [
  { name: 'X-Api-Key', value: 'gateway-secret' },
  { name: 'x-tenant', value: '7' },
]

test.each([
  ['in plain text', []],
  ['encrypted', [encryptionKey]],
])('every delivery has the headers of its endpoint, %s in the outbox', async (_, encryptionKeys) => {
  const hook = await receiver()
  const all = await bench({}, { encryptionKeys })
  const record = await keyRing(encryptionKeys).seal(endpoint(hook.url, { headers, requires: ['headers'] }))
  expect(JSON.stringify(record).includes('gateway-secret')).toBe(encryptionKeys.length === 0)
  await all.append(record, event('one'))
  await until(() => hook.received.length === 1, 'it is delivered')
  expect(hook.received[0]?.headers).toMatchObject({
    'x-api-key': 'gateway-secret',
    'x-tenant': '7',
    authorization: 'Bearer the-key',
  })
  expect(JSON.stringify([all.notices, all.attempts])).not.toContain('gateway-secret')
  await all.append(endpoint(hook.url), event('two'))
  await until(() => hook.received.length === 2, 'the next one is delivered')
  expect(hook.received[1]?.headers).not.toHaveProperty('x-api-key')
})

const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

test.each([
  ['its trace', { trace }, trace],
  ['no trace where it has none', {}, undefined],
  ['no trace where its text is another', { trace: `${trace}\r\nx-more: yes` }, undefined],
  ['no trace where its ids are zero', { trace: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` }, undefined],
  ['no trace where it is no text', { trace: 7 as unknown as string }, undefined],
])('a delivery has of its event %s', async (_, change, expected) => {
  const hook = await receiver()
  const all = await bench()
  await all.append(endpoint(hook.url), event('one', change))
  await until(() => hook.received.length === 1, 'it is delivered')
  expect(hook.received[0]?.headers['traceparent']).toBe(expected)
  expect([hook.received[0]?.headers['x-more'], all.notices]).toEqual([undefined, []])
})

test('a delivery names the fields that its event has changed, at every attempt', async () => {
  let attempt = 0
  const hook = await receiver((...args) => status(attempt++ === 0 ? 500 : 204)(...args))
  const all = await bench({ retrySchedule: [0, 0] })
  await all.append(endpoint(hook.url), event('one', { changed: ['role', 'first_name'] }))
  await until(() => hook.received.length === 2, 'it is delivered at the second attempt')
  expect(hook.received.map(({ headers }) => headers['folkmoot-changed'])).toEqual(['role,first_name', 'role,first_name'])
  await all.append(event('two'))
  await until(() => hook.received.length === 3, 'the next one is delivered')
  expect(hook.received[2]?.headers).not.toHaveProperty('folkmoot-changed')
})

test('an endpoint without a key gets the Authorization of its headers, or none', async () => {
  const hook = await receiver()
  const all = await bench()
  const basic = [{ name: 'Authorization', value: 'Basic YTpi' }]
  await all.append(endpoint(hook.url, { key: '', headers: basic, requires: ['headers', 'no-key'] }), event('one'))
  await until(() => hook.received.length === 1, 'it is delivered')
  await all.append(endpoint(hook.url, { key: '', requires: ['no-key'] }), event('two'))
  await until(() => hook.received.length === 2, 'the next one is delivered')
  const [one, two] = hook.received
  expect(one?.headers.authorization).toBe('Basic YTpi')
  expect(two?.headers).not.toHaveProperty('authorization')
})

test.each(['authorization', 'Content-Type', 'webhook-id', 'Folkmoot-Changed', 'bad name', 'X-Tenant'])(
  'a record with the header %s is set aside: the relay never sends it',
  async (name) => {
    const hook = await receiver()
    const all = await bench()
    const bad = [...headers, { name, value: 'other' }]
    await all.append(endpoint(hook.url, { headers: bad }), endpoint(hook.url, { id: '8' }), event('one'))
    await until(() => hook.received.length === 1, 'the other endpoint gets the event')
    expect(all.notices).toMatchObject([{ kind: 'outbox.damaged', endpoint_id: '7', text: expect.stringContaining('`headers`') }])
  },
)
