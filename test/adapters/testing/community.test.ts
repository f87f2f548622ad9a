import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { communityMiddleware } from '../../../adapters/http/node.ts'
import { testCommunity } from '../../../adapters/testing/index.ts'
import { ApiError, type Options } from '../../../lib/index.ts'

/** Everything that chance decides, as a host and a client see it. */
async function traces(options: Parameters<typeof testCommunity>[0]) {
  const { client, community, events, request, token, network, newToken } = await testCommunity({
    ...options,
    hooks: {
      before: ({ id }) => {
        if (id === 'badges.create') throw new Error('broken')
      },
      onError: () => {},
    },
    ports: {
      assets: { put: async (_, { id }) => `https://files.test/${id}`, remove: async () => {} },
      fileTypes: { sniff: async () => ({ content_type: 'image/png', extension: 'png' }) },
    },
  })
  const member = await client.members.create({ email: 'grace@example.org', first_name: 'Grace', last_name: 'Oak' })
  const asset = await client.assets.create({ asset_style: 'post', asset_file: new File(['…'], 'wash.png') })
  const endpoint = await community.endpoints.upsert({ network: network.id, url: 'https://a.test', token: true, secrets: true })
  const fault = await (await request('/badges', { method: 'POST', json: { title: 'Gold', avatar_id: asset.id } })).json()
  return JSON.parse(JSON.stringify([token, await newToken('*:read'), member, asset, endpoint, fault, events()]))
}

test('equal seeds give equal ids, tokens, secrets, names of files, events and ids of faults', async () => {
  expect(await traces({ seed: 'a' })).toEqual(await traces({ seed: 'a' }))
})

test('another seed gives other ids, tokens, secrets, names of files, events and ids of faults', async () => {
  const [one, other] = [await traces({ seed: 1 }), await traces({ seed: 2 })]
  const same = one.filter((value: unknown, place: number) => JSON.stringify(value) === JSON.stringify(other[place]))
  expect({ seen: one.length, same }).toEqual({ seen: 7, same: [] })
})

test('the values of a seed stay from version to version, and look like others of their kind', async () => {
  const { token, client, events } = await testCommunity()
  expect(token).toMatch(/^fmt_[0-9A-Za-z]{49}$/)
  const { id } = await client.members.create({ email: 'grace@example.org', first_name: 'Grace', last_name: 'Oak' })
  const [{ event_id } = { event_id: '' }] = events()
  expect(event_id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
  expect({ id, event_id }).toMatchInlineSnapshot(`
    {
      "event_id": "019b76da-a800-7fdc-b4d5-94872adf08c0",
      "id": "129171456000025",
    }
  `)
})

test('the clock stands still until the test moves it', async () => {
  const { client, clock } = await testCommunity({ now: new Date('2026-05-01T00:00:00Z') })
  const tag = await client.tags.create({ title: 'Oil' })
  clock.advance(90_000)
  const later = await client.tags.update(tag.id, { title: 'Wax' })
  clock.set('2030-01-01T00:00:00Z')
  const muchLater = await client.tags.create({ title: 'Ink' })
  expect([tag.created_at, later.updated_at, muchLater.created_at]).toEqual([
    '2026-05-01T00:00:00.000Z',
    '2026-05-01T00:01:30.000Z',
    '2030-01-01T00:00:00.000Z',
  ])
})

test.each([Number.NaN, '20th of May', new Date(Number.NaN), -1, 253_402_300_800_000])(
  'the clock refuses the moment %j',
  async (moment) => {
    const { clock } = await testCommunity()
    const before = clock.now()
    expect(() => clock.set(moment)).toThrow('the moment must be milliseconds since 1970, an ISO 8601 text or a Date')
    await expect(testCommunity({ now: moment })).rejects.toThrow('option `now` must be milliseconds since 1970')
    expect(clock.now()).toBe(before)
  },
)

test('events are those since the last call, and the host has its own', async () => {
  const { client, events } = await testCommunity()
  expect(events()).toEqual([])
  await client.members.create({ email: 'grace@example.org', first_name: 'Grace', last_name: 'Oak' })
  const [seen, again, mail] = [events(), events(), events('host')]
  expect(seen.map(({ event_type }) => event_type)).toEqual(['MemberJoinedHook'])
  expect(again).toEqual([])
  expect(mail.map(({ event_type }) => event_type)).toEqual(['WelcomeEmailRequestedHook'])
})

test('a request goes below the network, with the token unless it has one', async () => {
  const { newToken, request } = await testCommunity()
  const reader = { authorization: `Bearer ${await newToken('tags:read')}` }
  const made = await request('/tags', { method: 'POST', json: { title: 'Oil' } })
  const refused = await request('/tags', { method: 'POST', json: { title: 'Wax' }, headers: reader })
  const whole = await request('/admin/v1/networks/paint-pals/tags', { headers: reader })
  const spec = await request('/webhooks/v1/spec.json')
  expect([made.status, refused.status, whole.status, spec.status]).toEqual([201, 403, 200, 200])
  expect(await whole.json()).toMatchObject({ items: [{ title: 'Oil' }] })
})

test('a request below a base path reaches the community too', async () => {
  const { client, request } = await testCommunity({ basePath: '/community' })
  expect((await request('/me')).status).toBe(200)
  expect((await client.tags.list().toArray({ limit: 10 })).length).toBe(0)
})

test('wrong requests and scopes are refused with the remedy', async () => {
  const { newToken, request } = await testCommunity()
  await expect(request('members')).rejects.toThrow('the path must begin with a slash, as in /members, got members')
  await expect(request('/tags', { method: 'POST', json: {}, body: '{}' })).rejects.toThrow('give `json` or `body`, not both')
  await expect(newToken('members:sing')).rejects.toThrow(ApiError)
})

test('options of the community apply, and wrong ones are named', async () => {
  const { client } = await testCommunity({ ids: 'number' })
  expect(typeof (await client.me.show()).id).toBe('number')
  await expect(testCommunity({ seed: Number.NaN })).rejects.toThrow('option `seed` must be a number or a text')
  await expect(testCommunity({ ids: 'text' } as unknown as Options)).rejects.toThrow('option `ids` must be')
  await expect(testCommunity({ seeds: 7, ids: 'text' } as unknown as Options)).rejects.toThrow(
    /^testCommunity: option `seeds` does not exist; .*seed.*; option `ids` must be/,
  )
  await expect(testCommunity(null as unknown as Options)).rejects.toThrow('the options must be an object')
  await expect(testCommunity({ clock: { now: () => 0 } } as unknown as Options)).rejects.toThrow('option `clock` is its own')
})

test('a server of the test responds over plain HTTP, unless `allowHttp` is false', async () => {
  const statuses = []
  for (const options of [{}, { allowHttp: false }]) {
    const { community, network, token } = await testCommunity(options)
    const ours = communityMiddleware(community)
    const server = createServer((request, response) => ours(request, response, () => response.end())).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/admin/v1/networks/${network.id}/me`
    statuses.push((await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status)
    server.close()
  }
  expect(statuses).toEqual([200, 403])
})

test('calls end while a test runner fakes the date and time-outs, as the page about tests names them', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { client, events } = await testCommunity()
  await client.members.create({ email: 'grace@example.org', first_name: 'Grace', last_name: 'Oak' })
  expect(events()).toHaveLength(1)
})
