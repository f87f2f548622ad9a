/** The relay over its control port, when something is wrong with that port. `test/daemon/relay/operate` has the rest. */
import { expect, test } from 'vitest'
import { type RelayControlOptions, relayAdminOverControl } from '../../../lib/panel/index.ts'
import { controlVersion } from '../../../lib/relay/calls.ts'

const url = 'http://127.0.0.1:9464'
const respondingWith = (body: unknown, status = 200) =>
  relayAdminOverControl({ url, token: 'k', fetch: async () => new Response(JSON.stringify(body), { status }) })

test('a relay that does not respond in time counts as away', async () => {
  const silent = (_: unknown, init?: RequestInit) =>
    new Promise<Response>((_, fail) => init?.signal?.addEventListener('abort', () => fail(init.signal?.reason)))
  const admin = relayAdminOverControl({ url, token: 'k', timeoutMs: 20, fetch: silent })
  await expect(admin.status({ network_id: '1' })).rejects.toMatchObject({ name: 'TimeoutError' })
  await expect(admin.test({ network_id: '1', endpoint_id: '7' })).rejects.toMatchObject({ name: 'TimeoutError' })
})

test('a response without the mark of a control of this version is refused, because another program may have the port', async () => {
  await expect(respondingWith({ running: 'yes' }).status({ network_id: '1' })).rejects.toThrow('responds in an unknown form')
  await expect(respondingWith({ items: [{ id: '1' }], next: null }).list({ network_id: '1', limit: 5 })).rejects.toThrow(
    'unknown form',
  )
  await expect(respondingWith({ error: 'there is nothing here' }, 404).count({ network_id: '1' })).rejects.toThrow(
    'has no /deliveries/count',
  )
  await expect(respondingWith({ error: 'busy' }, 503).count({ network_id: '1' })).rejects.toThrow('responds with 503')
})

test('a link with an id that cannot be one sends nothing to the relay', async () => {
  const admin = relayAdminOverControl({ url, token: 'k', fetch: () => Promise.reject(new Error('asked')) })
  expect(await admin.get({ network_id: '1', id: '../2/status' })).toBeUndefined()
  expect(await admin.progress({ network_id: '1', id: '../../livez' })).toBeUndefined()
  expect(await admin.stop({ network_id: '1', id: 'a b' })).toBeUndefined()
  expect(await admin.list({ network_id: '1', limit: 5, after: 'x' })).toEqual({ items: [], next: null })
})

test('the token is read again for each call, without the line end of its file', async () => {
  const given: string[] = []
  let token = 'first'
  const admin = relayAdminOverControl({
    url,
    token: async () => `${token}\n`,
    fetch: async (_, init) => {
      given.push(new Headers(init?.headers).get('authorization') ?? '')
      return new Response('{"count":0,"exact":true}', { headers: { 'folkmoot-control': controlVersion } })
    },
  })
  await admin.count({ network_id: '1' })
  token = 'second'
  await admin.count({ network_id: '1', state: 'dead' })
  expect(given).toEqual(['Bearer first', 'Bearer second'])
})

test.each<[Partial<RelayControlOptions>, string]>([
  [{ url: 'localhost' }, 'option `url` must be an address such as http://127.0.0.1:9464'],
  [{ url: 'http://127.0.0.1:9464/control' }, 'option `url` must be an address'],
  [{ token: '' }, 'option `token` must be the text of the token file'],
  [{ timeoutMs: 0 }, 'option `timeoutMs` must be milliseconds from 1 to 300000'],
])('an option that cannot be right is named: %j', (wrong, problem) => {
  expect(() => relayAdminOverControl({ url, token: 'k', ...wrong })).toThrow(problem)
})
