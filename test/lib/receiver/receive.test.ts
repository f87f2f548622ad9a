import { expect, test } from 'vitest'
import {
  isWebhookError,
  memoryStore,
  type ReceivedEvent,
  type ReceiveOptions,
  receive,
  respond,
  WebhookError,
} from '../../../lib/receiver/index.ts'
import { atNoon, body, deliveryOf, event, headersOf, noon, secret, token, url } from './support.ts'

const options: ReceiveOptions = { token, secrets: secret, now: atNoon }

/** The outcome of a request: its error, or `received`. */
const outcome = async (request: Parameters<typeof receive>[0], changes: Partial<ReceiveOptions> = {}) =>
  receive(request, { ...options, ...changes }).then(
    () => 'received',
    (error: unknown) => (isWebhookError(error) ? `${error.status} ${error.code}` : String(error)),
  )

test('a genuine delivery gives its event, typed, and its bytes', async () => {
  const delivery = await receive(await deliveryOf(), options)
  expect({ event: delivery.event, duplicate: delivery.duplicate }).toEqual({ event, duplicate: false })
  expect(new TextDecoder().decode(delivery.raw)).toBe(body)
})

test.each([
  ['role,first_name', ['role', 'first_name']],
  ['role, first_name', ['role', 'first_name']],
  ['', undefined],
  [undefined, undefined],
])('an event has the names of its changed fields, of the header %j', async (header, changed) => {
  const delivery = await receive(await deliveryOf({ 'folkmoot-changed': header }), options)
  expect(delivery.event).toEqual(changed ? { ...event, changed } : event)
  expect(new TextDecoder().decode(delivery.raw)).toBe(body)
})

test('the type of an event decides the type of its payload', () => {
  const titleOf = (received: ReceivedEvent): string | null => {
    switch (received.event_type) {
      case 'PostCreatedHook':
        return received.payload.title
      case 'MemberJoinedHook':
        return received.payload.member.first_name
      case 'WelcomeEmailRequestedHook':
        return received.payload.email
      case 'TestHook':
        return received.payload.message
      // @ts-expect-error: this is the type of no event
      case 'PostCreated':
        return null
      default:
        return null
    }
  }
  // @ts-expect-error: a payload has every field of its schema
  expect(titleOf({ ...event, event_type: 'PostCreatedHook' })).toBe('Hello – 漢字')
})

test.each(['TestHook', 'SomethingOfTheFutureHook'])('an event of the type %s is received like any other', async (event_type) => {
  const text = JSON.stringify({ ...event, event_type, payload: {} })
  expect((await receive(await deliveryOf({}, text), options)).event).toMatchObject({ event_type })
})

test.each([
  ['without a token', { authorization: undefined }, '401 token_missing'],
  ['with another scheme', { authorization: `Basic ${token}` }, '401 token_missing'],
  ['with another token', { authorization: 'Bearer my-webhook-tokez' }, '401 token_wrong'],
  ['with the start of the token', { authorization: 'Bearer my-webhook' }, '401 token_wrong'],
  ['with the scheme in lower case', { authorization: `bearer ${token}` }, 'received'],
  ['without a signature', { 'webhook-signature': undefined }, '401 signature_missing'],
  ['without an id', { 'webhook-id': undefined }, '401 signature_missing'],
  ['without a time', { 'webhook-timestamp': undefined }, '401 signature_missing'],
  ['with a time that is no number', { 'webhook-timestamp': '1e9' }, '400 timestamp_invalid'],
  ['with a negative time', { 'webhook-timestamp': '-5' }, '400 timestamp_invalid'],
  ['with another id than the signed one', { 'webhook-id': 'another' }, '401 signature_wrong'],
  ['with another time than the signed one', { 'webhook-timestamp': String(noon / 1000 - 1) }, '401 signature_wrong'],
  ['with a signature of another version', { 'webhook-signature': 'v2,AAAA' }, '401 signature_wrong'],
  ['with a signature that is no base64', { 'webhook-signature': 'v1,***' }, '401 signature_wrong'],
  ['with an empty signature', { 'webhook-signature': 'v1,' }, '401 signature_wrong'],
  ['with a bare word', { 'webhook-signature': 'v1' }, '401 signature_wrong'],
  ['with another length than it has', { 'content-length': '99999999999' }, '413 body_too_large'],
])('a delivery %s', async (_, changes, expected) => {
  expect(await outcome(await deliveryOf(changes))).toBe(expected)
})

test.each([
  ['that was changed', body.replace('Hello', 'Hallo'), '401 signature_wrong'],
  ['that is empty', '', '400 body_missing'],
])('a body %s', async (_, text, expected) => {
  expect(await outcome(new Request(url, { method: 'POST', headers: await headersOf(), body: text }))).toBe(expected)
})

test.each([
  ['that is no JSON', '{'],
  ['that is a list', '[]'],
  ['that is null', 'null'],
  ['without event_id', JSON.stringify({ ...event, event_id: undefined })],
  ['with a number as event_id', JSON.stringify({ ...event, event_id: 5 })],
  ['with an endless event_id', JSON.stringify({ ...event, event_id: 'a'.repeat(256) })],
  ['without event_type', JSON.stringify({ ...event, event_type: '' })],
  ['without payload', JSON.stringify({ ...event, payload: null })],
  ['that is very deep', '['.repeat(1_000_000)],
])('a genuine body %s is no event', async (_, text) => {
  const request = new Request(url, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: text })
  expect(await outcome(request, { secrets: false })).toBe('400 body_invalid')
})

test('a body that is no UTF-8 is no event', async () => {
  const bytes = new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])
  const request = new Request(url, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: bytes })
  expect(await outcome(request, { secrets: false })).toBe('400 body_invalid')
})

test('the message about a body that is no event names each field', async () => {
  const request = new Request(url, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: '{"event_id":"1"}' })
  await expect(receive(request, { token, secrets: false })).rejects.toThrow(
    'The body is not an event: event_type must be a text of 1 to 100 characters, event_timestamp must be a timestamp, payload must be an object.',
  )
})

test.each([
  [300, 'received'],
  [301, '400 timestamp_too_old'],
  [-300, 'received'],
  [-301, '400 timestamp_too_new'],
])('a signature of %d seconds ago', async (seconds, expected) => {
  expect(await outcome(await deliveryOf(), { now: () => noon + seconds * 1000 + 400 })).toBe(expected)
})

test('the tolerance may be another one', async () => {
  expect(await outcome(await deliveryOf(), { tolerance: 10, now: () => noon + 11_000 })).toBe('400 timestamp_too_old')
  expect(await outcome(await deliveryOf(), { tolerance: Infinity, now: () => 0 })).toBe('received')
})

test('the token is checked before the body is read, and before any method', async () => {
  const endless = new ReadableStream({ pull: () => new Promise(() => {}) })
  const init = { method: 'POST', headers: { authorization: 'Bearer wrong' }, body: endless, duplex: 'half' }
  expect(await outcome(new Request(url, init as RequestInit))).toBe('401 token_wrong')
  expect(await outcome(new Request(url))).toBe('405 method_not_allowed')
})

test('a body above the limit is not read to its end', async () => {
  let pulled = 0
  const endless = new ReadableStream({
    pull(controller) {
      pulled++
      controller.enqueue(new Uint8Array(1000))
    },
  })
  const init = { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: endless, duplex: 'half' }
  expect(await outcome(new Request(url, init as RequestInit), { maxBytes: 10_000 })).toBe('413 body_too_large')
  expect(pulled).toBeLessThan(15)
})

test('a body that breaks off is a 400, with the cause', async () => {
  const cause = new Error('reset')
  const broken = new ReadableStream({ start: (controller) => controller.error(cause) })
  const init = { method: 'POST', headers: { authorization: `Bearer ${token}` }, body: broken, duplex: 'half' }
  await expect(receive(new Request(url, init as RequestInit), options)).rejects.toMatchObject({
    code: 'body_incomplete',
    status: 400,
    cause,
  })
})

test('each of several keys is good, as while one is being replaced', async () => {
  expect(await outcome(await deliveryOf(), { token: ['new-token', token] })).toBe('received')
  expect(await outcome(await deliveryOf(), { token: ['new-token'] })).toBe('401 token_wrong')
})

test('a receiver of unsigned deliveries looks at no signature', async () => {
  expect(await outcome(await deliveryOf({ 'webhook-signature': 'v1,AAAA' }), { secrets: false })).toBe('received')
})

test.each([
  [{ token: '' }, 'option `token` must be'],
  [{ token: undefined as unknown as string }, 'option `token` must be'],
  [{ token: undefined as unknown as string }, ', got undefined: is the variable set?'],
  [{ token: ['', 'token'] }, ', got "": is the variable set?'],
  [
    { token: undefined, secrets: undefined } as never,
    /option `token` must be .*, got undefined.*; option `secrets` is missing or undefined/,
  ],
  [{ token: null, secrets: [] } as never, /option `token` must be .*, got null.*; option `secrets` is an empty list/],
  [{ token: [] }, 'option `token` must be'],
  [{ token: 'Bearer my-webhook-token' }, 'without the word Bearer'],
  [{ secrets: [] }, 'option `secrets` is an empty list'],
  [{ secrets: [undefined as unknown as string] }, 'one of them is no text'],
  [{ secrets: 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }, 'a secret must be whsec_ and at least 24 bytes in base64'],
  [{ secrets: 'whsec_' }, 'a secret must be whsec_ and at least 24 bytes in base64'],
  [{ secrets: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS*' }, 'a secret must be whsec_'],
  [{ secrets: 'whpk_AAAA' }, 'a secret must be whpk_ and the 32 bytes'],
  [{ secrets: `whsk_${btoa('a'.repeat(32))}` }, 'a receiver takes whpk_'],
  [{ tolerance: -1 }, 'option `tolerance` must be'],
  [{ tolerance: Number.NaN }, 'option `tolerance` must be'],
  [{ maxBytes: 0 }, 'option `maxBytes` must be'],
  [{ now: 5 as unknown as () => number }, 'option `now` must be a function'],
  [{ secret }, 'option `secret` does not exist. Options: token, secrets, store, tolerance, maxBytes, now; did you mean secrets?'],
  [{ Tokens: token }, /option `Tokens` does not exist\. Options: .*; did you mean token\?$/],
  [{ signed: true }, 'option `signed` does not exist. Options'],
  [{ store: {} as unknown as Set<string> }, 'option `store` must have the functions `has` and `add`'],
])('options that cannot be used are a mistake of the program, and named: %j', async (changes, sentence) => {
  const refused = receive(await deliveryOf(), { ...options, ...changes })
  await expect(refused).rejects.toThrow(TypeError)
  await expect(refused).rejects.toThrow(sentence)
})

test('an event is a duplicate when its work was done, and no sooner', async () => {
  const store = memoryStore()
  const first = await receive(await deliveryOf(), { ...options, store })
  const again = await receive(await deliveryOf(), { ...options, store })
  expect([first.duplicate, again.duplicate]).toEqual([false, false])
  await first.done()
  expect((await receive(await deliveryOf(), { ...options, store })).duplicate).toBe(true)
})

test('a Set and a store that responds later are stores', async () => {
  const ids = new Set<string>()
  const later = { has: async (id: string) => ids.has(id), add: async (id: string) => void ids.add(id) }
  for (const store of [new Set<string>(), later]) {
    await (await receive(await deliveryOf(), { ...options, store })).done()
    expect((await receive(await deliveryOf(), { ...options, store })).duplicate).toBe(true)
  }
})

test('the memory forgets the oldest events above its bound', async () => {
  const store = memoryStore({ max: 2 })
  for (const id of ['a', 'b', 'b', 'c']) await store.add(id)
  expect(['a', 'b', 'c'].map((id) => store.has(id))).toEqual([false, true, true])
  expect(() => memoryStore({ max: 0 })).toThrow('option `max`')
})

test('respond does the work of an event once and sends a 204 each time', async () => {
  const store = memoryStore()
  const worked: string[] = []
  const response = async () =>
    respond(await deliveryOf(), { ...options, store }, (delivery) => worked.push(delivery.event.event_id))
  expect([(await response()).status, (await response()).status]).toEqual([204, 204])
  expect(worked).toEqual([event.event_id])
})

test('an event whose work fails is done by its next delivery', async () => {
  const store = memoryStore()
  const fails = async () => {
    throw new Error('database is away')
  }
  await expect(respond(await deliveryOf(), { ...options, store }, fails)).rejects.toThrow('database is away')
  const worked: string[] = []
  await respond(await deliveryOf(), { ...options, store }, (delivery) => worked.push(delivery.event.event_id))
  expect(worked).toEqual([event.event_id])
})

test('respond refuses a delivery with the status, the code and a sentence', async () => {
  const never = () => {
    throw new Error('never')
  }
  const refused = await respond(await deliveryOf({ authorization: 'Bearer wrong' }), options, never)
  expect([refused.status, await refused.json()]).toEqual([
    401,
    { error: 'The token is another one than the endpoint is registered with.', code: 'token_wrong' },
  ])
  const get = await respond(new Request(url), options, never)
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
})

test("a fault of the receiver's own is thrown, for its log", async () => {
  const request = await deliveryOf()
  await request.text()
  await expect(respond(request, options, () => undefined)).rejects.toThrow(WebhookError)
  expect(await outcome(request)).toBe('500 body_parsed')
})
