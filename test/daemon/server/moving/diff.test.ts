/** `folkmoot diff`: two servers that respond identically, and two that do not. */
import { expect, test } from 'vitest'
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { compareServers } from '../../../../daemon/server/moving/diff/compare-servers.ts'
import { reach, requestRecord, sideOf } from '../../../../daemon/server/moving/diff/compared-server.ts'
import { compare } from '../../../../daemon/server/moving/diff/differences.ts'
import { listRoutes, recordRoutes } from '../../../../daemon/server/moving/diff/reads.ts'
import { createCommunity } from '../../../../lib/index.ts'
import { operations } from '../../../../lib/operations.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import { testPorts } from '../../../support/ports.ts'
import { jumpingTiming, pullFrom, type Responder, type Source, seededSource, timeout } from './support.ts'

const side = (name: string, { community, token }: Source, respond: Responder = (request) => community.fetch(request)) => {
  const base = `https://${name}.test`
  return sideOf({ name, base, options: { baseUrl: base, network: '1', token, fetch: respond, timing: jumpingTiming(), timeout } })
}

/** A server over a storage, with a key of a member. */
async function served(storage: Storage, member_id: string, clock: { now(): number }): Promise<Source> {
  const community = createCommunity({ storage, clock, ports: testPorts().ports })
  const { token } = await community.keys.create({ network: '1', name: 'diff', scopes: ['*'], member_id })
  return { community, token }
}

/** The responses of the source, changed. */
const changed =
  ({ community }: Source, change: (text: string, path: string) => string): Responder =>
  async (request) => {
    const response = await community.fetch(request)
    const path = new URL(request.url).pathname.replace('/admin/v1/networks/1', '')
    return new Response(change(await response.text(), path), { status: response.status, headers: response.headers })
  }

const compared = (a: ReturnType<typeof side>, b: ReturnType<typeof side>, more: { sample?: number; ignore?: string[] } = {}) =>
  compareServers({ a, b, sample: 10, ignore: [], ...more })

test('every GET of the API responds identically after a pull, with every id and filter', async () => {
  const source = await seededSource()
  const target = memoryStorage()
  await pullFrom(source, target)
  const copy = await served(target, source.owner.id, source.clock)
  const asked = new Set<string>()
  let requests = 0
  const counting: Responder = (request) => {
    requests++
    return copy.community.fetch(request)
  }
  const result = await compareServers({
    ...{ a: side('a', source), b: side('b', copy, counting), sample: Number.POSITIVE_INFINITY, ignore: [] },
    onProgress: (operation) => void asked.add(operation),
  })
  expect(result.differences).toEqual([])
  const gets = operations.filter(({ method }) => method === 'GET').map(({ id }) => id)
  expect([...asked].sort()).toEqual(gets.sort())
  expect(listRoutes.length + recordRoutes.length + 1).toBe(gets.length)
  // Lists are read several at a time. The first request only reaches the server.
  expect(result.responses).toBe(requests - 1)
  expect(requests).toBeGreaterThan(150)
})

test('a value, a missing field, a type and a record that differ are told, each with its place', async () => {
  const source = await seededSource()
  const b = changed(source, (text, path) => {
    if (path === '/tags') return text.replace('"Cook"', '"Chef"').replace(/,"color":"#00AA55"/, '')
    if (path === '/collections') return text.replace('"id":"251"', '"id":251')
    if (path === '/spaces') return text.replace(/\{"id":"204"[^}]*\},?/, '').replace(',]', ']')
    return text
  })
  const { differences } = await compared(side('a', source), side('b', source, b))
  const lists = differences.filter(({ path }) => ['/tags', '/collections', '/spaces'].includes(path))
  expect(lists).toEqual([
    { path: '/collections', field: 'items[251].id', a: '251', b: 251 },
    { path: '/spaces', field: 'items[204]', a: 'a record', b: undefined },
    { path: '/tags', field: 'items[301].color', a: '#00AA55', b: undefined },
    { path: '/tags', field: 'items[302].title', a: 'Cook', b: 'Chef' },
  ])
})

test('another status, another envelope and another order are differences', async () => {
  const source = await seededSource()
  const b: Responder = async (request) => {
    const path = new URL(request.url).pathname.replace('/admin/v1/networks/1', '')
    const response = await source.community.fetch(request)
    if (path === '/badges' || path === '/plans') {
      const { items, links }: { items: unknown[]; links: object } = JSON.parse(await response.text())
      return Response.json(path === '/badges' ? items : { items: items.toReversed(), links })
    }
    return path === '/members/101/' ? Response.json({ error: 'gone' }, { status: 404 }) : response
  }
  const { differences } = await compared(side('a', source), side('b', source, b))
  expect(differences).toEqual([
    expect.objectContaining({ path: '/badges', field: 'envelope', b: 'a list alone' }),
    { path: '/plans', field: 'items, place 1', a: '801', b: '803' },
    { path: '/members/101/', field: 'status', a: 200, b: 404 },
  ])
})

test('addresses of the servers themselves are no difference, and ignored fields and paths are left out', async () => {
  const source = await seededSource()
  const onOwnHost = (name: string) =>
    changed(source, (text) => text.replaceAll('https://cdn.example.org', `https://${name}.test`))
  const a = side('a', source, onOwnHost('a'))
  expect((await compared(a, side('b', source, onOwnHost('b')))).differences).toEqual([])
  const other = changed(source, (text) => text.replaceAll('"Hopper"', '"Harper"').replaceAll('Grace Hopper', 'Grace Harper'))
  const ignoring = await compared(side('a', source), side('b', source, other), {
    ignore: ['last_name', 'creator.name', '/purchases'],
  })
  expect(ignoring.differences).toEqual([])
  expect((await compared(side('a', source), side('b', source, other))).total).toBeGreaterThan(10)
})

test('a name of hundreds of thousands of brackets takes no time', () => {
  const fields: string[] = []
  const name = '['.repeat(300_000)
  const began = performance.now()
  compare({ [name]: 1 }, { [name]: 2 }, '', { bases: [], ignored: new Set() }, (field) => void fields.push(field))
  expect(performance.now() - began).toBeLessThan(5_000)
  expect(fields).toEqual([name])
})

test('a sample asks less, and a record more at one server is not taken for two differences', async () => {
  const source = await seededSource()
  const whole = await compared(side('a', source), side('b', source))
  const other = await seededSource()
  const target = memoryStorage()
  await pullFrom(source, target)
  const copy = await served(target, source.owner.id, source.clock)
  const few = await compared(side('a', source), side('b', copy), { sample: 2 })
  expect([few.total, few.responses < whole.responses]).toEqual([0, true])
  expect(other.token).not.toBe(source.token)
  const more = changed(source, (text, path) => (path === '/tags' ? text.replace('"items":[', '"items":[{"id":"5"},') : text))
  const { differences } = await compared(side('a', source), side('b', source, more), { sample: 3 })
  expect(differences.filter(({ path }) => path === '/tags')).toEqual([
    { path: '/tags', field: 'items[5]', a: undefined, b: 'a record' },
  ])
})

test('a server that ends on the way, a gateway without it, and a page in place of the API are no differences', async () => {
  const source = await seededSource()
  const all = side('a', source)
  for (const status of [undefined, 401, 429, 502, 503, 504]) {
    let requests = 0
    const ends: Responder = (request) => {
      if (++requests < 30) return source.community.fetch(request)
      if (status === undefined) throw new TypeError('fetch failed')
      return new Response('<html></html>', { status })
    }
    for (const sides of [[all, side('b', source, ends)] as const, [side('b', source, ends), all] as const]) {
      requests = 0
      await expect(compared(...sides)).rejects.toThrow(status === undefined ? /connection failed/ : new RegExp(String(status)))
    }
  }
  const page: Responder = () => new Response('<html></html>', { headers: { 'content-type': 'text/html' } })
  await expect(compared(side('a', source, page), side('b', source, page))).rejects.toThrow(/a is not there/)
  const elsewhere: Responder = () => Response.json({ error: 'Network not found' }, { status: 404 })
  await expect(compared(side('a', source, elsewhere), side('b', source, elsewhere))).rejects.toThrow(/status 404/)
})

test('requests that both tokens may not make are counted, and not as compared responses', async () => {
  const source = await seededSource()
  const few = { ...source, token: await source.newToken(['tags:read']) }
  const some = await compared(side('a', few), side('b', few))
  expect([some.total, some.responses > 0, some.refused > 20]).toEqual([0, true, true])
  const none = { ...source, token: await source.newToken(['tags:write']) }
  const nothing = await compared(side('a', none), side('b', none))
  expect([nothing.total, nothing.responses]).toEqual([0, 0])
  // A token that lacks a scope on one side only is a difference.
  expect((await compared(side('a', source), side('b', few))).total).toBeGreaterThan(20)
})

test('a server that does not respond, or refuses the token, ends the comparison', async () => {
  const source = await seededSource()
  const dead: Responder = () => {
    throw new TypeError('fetch failed')
  }
  await expect(compared(side('a', source), side('b', source, dead))).rejects.toThrow(/connection failed/)
  const stranger = { ...source, token: 'fmt_wrong' }
  await expect(compared(side('a', source), side('b', stranger))).rejects.toThrow(/401/)
  const [me] = recordRoutes.filter(({ id }) => id === 'me.show')
  if (!me) throw new Error('there is a request for the token’s own member')
  const asked = requestRecord(side('b', stranger), { route: me, params: {}, query: {} }, new AbortController().signal)
  await expect(asked).rejects.toThrow(/401/)
})

test('fields with names of any alphabet around the records are compared', async () => {
  const source = await seededSource()
  const renamed = changed(source, (text, path) => (path === '/tags' ? text.replace('{"items"', '{"日本":1,"items"') : text))
  const { differences } = await compared(side('a', source, renamed), side('b', source))
  expect(JSON.stringify(differences)).toContain('日本')
})

test('a response beyond the limit of the client is named as that, and not read to its end', async () => {
  const source = await seededSource()
  let sent = 0
  const endless: Responder = async () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          sent += 1
          controller.enqueue(new Uint8Array(1024 * 1024).fill(32))
        },
      }),
      { headers: { 'content-type': 'application/json' } },
    )
  await expect(reach(side('a', source, endless))).rejects.toThrow(/larger than 67108864 bytes/)
  expect(sent).toBeLessThan(100)
})
