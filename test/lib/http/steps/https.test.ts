import { expect, onTestFinished, test, vi } from 'vitest'
import { createTestCommunity } from '../../../support/community.ts'
import type { Json } from '../../../support/json.ts'

type Test = Awaited<ReturnType<typeof createTestCommunity>>

const call = async ({ community, token }: Test, url: string, headers: Record<string, string> = {}) => {
  const response = await community.fetch(new Request(url, { headers: { authorization: `Bearer ${token}`, ...headers } }))
  return { status: response.status, body: (await response.json()) as Json }
}
const members = '/admin/v1/networks/1/members'
const refused = {
  status: 403,
  body: { error: 'https_required', message: 'Only HTTPS is accepted. Call the same address with https.', status: 403 },
}

test('plain HTTP is refused before anything else is looked at', async () => {
  const community = await createTestCommunity()
  expect(await call(community, `http://api.test${members}`)).toEqual(refused)
  expect(await call(community, `http://api.test${members}`, { authorization: '' })).toEqual(refused)
  expect(await call(community, 'http://api.test/admin/v1/nothing')).toEqual(refused)
  expect(await call(community, 'http://api.test/admin/v1/spec.json')).toEqual(refused)
})

test('the first plain request shows the developer how to allow it, once for each community', async () => {
  const said: string[] = []
  const spy = vi.spyOn(console, 'warn').mockImplementation((text: string) => void said.push(text))
  onTestFinished(() => spy.mockRestore())
  const strict = await createTestCommunity()
  await call(strict, `https://api.test${members}`)
  expect(said).toEqual([])
  for (let times = 0; times < 3; times++) expect(await call(strict, `http://api.test${members}`)).toEqual(refused)
  expect(said).toEqual([expect.stringMatching(/plain HTTP was refused.*createCommunity `allowHttp: true`.*`trustProxy: true`/)])
  await call(await createTestCommunity({ allowHttp: true }), `http://api.test${members}`)
  expect(said).toHaveLength(1)
  await call(await createTestCommunity({ trustProxy: true }), `http://api.test${members}`)
  expect(said).toHaveLength(2)
})

test.each([
  [{ trustProxy: false }, { 'x-forwarded-proto': 'https' }, 'behind a proxy that terminates TLS, `trustProxy: true`'],
  [{ trustProxy: true }, {}, 'It has no header X-Forwarded-Proto: let the proxy set it to `https`'],
  [{ trustProxy: true }, { 'x-forwarded-proto': 'http' }, 'Its header X-Forwarded-Proto is "http": the client used http'],
  [{ trustProxy: 2 }, { 'x-forwarded-proto': 'https, http, http' }, 'X-Forwarded-Proto is "https, http, http"'],
] as const)('the hint of a community with %j names what is left to do for %j', async (options, headers, sentence) => {
  const said: string[] = []
  const spy = vi.spyOn(console, 'warn').mockImplementation((text: string) => void said.push(text))
  onTestFinished(() => spy.mockRestore())
  await call(await createTestCommunity(options), `http://api.test${members}`, headers)
  expect(said).toEqual([expect.stringContaining(sentence)])
  expect(said[0]?.includes('`trustProxy: true`')).toBe(!options.trustProxy)
})

test('links of the first request of a process are on localhost if it has no Host', async () => {
  vi.resetModules()
  const { publicAddress } = await import('../../../../lib/http/steps/https.ts')
  const incoming = { method: 'GET', path: members, search: '', secure: true, header: () => null, read: async () => undefined }
  const address = publicAddress(incoming, { trustProxy: false, publicUrl: undefined, basePath: '' })
  expect(address.origin).toBe('https://localhost')
})

test('a client cannot talk itself out of HTTPS with forwarded headers', async () => {
  const community = await createTestCommunity()
  for (const headers of [{ 'x-forwarded-proto': 'https' }, { 'x-forwarded-ssl': 'on' }, { forwarded: 'proto=https' }])
    expect(await call(community, `http://api.test${members}`, headers)).toEqual(refused)
})

test('behind a trusted proxy the forwarded protocol counts, the first of several', async () => {
  const community = await createTestCommunity({ trustProxy: true })
  const url = `http://inside.test${members}`
  expect((await call(community, url, { 'x-forwarded-proto': 'https' })).status).toBe(200)
  expect((await call(community, url, { 'x-forwarded-proto': 'HTTPS , http' })).status).toBe(200)
  expect(await call(community, url, { 'x-forwarded-proto': 'http, https' })).toEqual(refused)
  expect(await call(community, `https://inside.test${members}`, { 'x-forwarded-proto': 'http' })).toEqual(refused)
  expect(await call(community, url)).toEqual(refused)
})

test('`allowHttp` accepts both', async () => {
  const community = await createTestCommunity({ allowHttp: true })
  expect((await call(community, `http://api.test${members}`)).status).toBe(200)
  expect((await call(community, `https://api.test${members}`)).status).toBe(200)
})

const selfLink = async (community: Test, url: string, headers: Record<string, string> = {}) =>
  (await call(community, url, headers)).body.links.self

test('links use the origin of the caller', async () => {
  const community = await createTestCommunity({ allowHttp: true })
  expect(await selfLink(community, `https://api.test:8443${members}`)).toBe(`https://api.test:8443${members}`)
  expect(await selfLink(community, `http://localhost:4000${members}`)).toBe(`http://localhost:4000${members}`)
})

test('forwarded hosts count only behind a trusted proxy', async () => {
  const headers = { 'x-forwarded-host': 'public.example.org', 'x-forwarded-proto': 'https' }
  const url = `https://inside.test${members}`
  expect(await selfLink(await createTestCommunity(), url, headers)).toBe(url)
  const behind = await createTestCommunity({ trustProxy: true })
  expect(await selfLink(behind, url, headers)).toBe(`https://public.example.org${members}`)
  expect(await selfLink(behind, url, { ...headers, 'x-forwarded-host': 'a.example.org, b.example.org' })).toBe(
    `https://a.example.org${members}`,
  )
})

test.each(['host', 'x-forwarded-host'])('a %s that is no host name is refused, and never gets into a link', async (name) => {
  const community = await createTestCommunity({ trustProxy: true })
  const url = `https://api.test${members}`
  const ask = (host: string, of = community) => call(of, url, { [name]: host })
  const refusal = {
    status: 400,
    body: { error: expect.stringMatching(/^(X-Forwarded-)?Host must be a host name or an address, and a port if it has one$/) },
  }
  const texts = ['evil.test/path', 'evil.test"><script>', 'a b', 'user@evil.test', ':443', 'evil.test:port', '%31']
  for (const host of [...texts, 'api.test:65536', '256.1.1.1', '1.2.3.4.5', '[:::]', '[1.2.3.4]'])
    expect(await ask(host), host).toMatchObject(refusal)
  for (const [host, origin] of [
    ['API.example.org', 'api.example.org'],
    ['api.example.org:', 'api.example.org'],
    ['[::1]:8443', '[::1]:8443'],
    ['my_service:4000', 'my_service:4000'],
  ] as const)
    expect((await ask(host)).body.links.self).toBe(`https://${origin}${members}`)
  const named = await createTestCommunity({ trustProxy: true, publicUrl: 'https://community.example.org' })
  expect((await ask('a b', named)).body.links.self).toBe(`https://community.example.org${members}`)
})

test('`publicUrl` is the origin of every link, whatever the caller used', async () => {
  const community = await createTestCommunity({ publicUrl: 'https://community.example.org', trustProxy: true })
  const headers = { 'x-forwarded-host': 'other.example.org' }
  expect(await selfLink(community, `https://api.test${members}`, headers)).toBe(`https://community.example.org${members}`)
})

test('behind a number of proxies, the value counts that the outermost of them has added', async () => {
  const url = `http://inside.test${members}`
  const one = await createTestCommunity({ trustProxy: 1 })
  expect((await call(one, url, { 'x-forwarded-proto': 'https' })).status).toBe(200)
  expect(await call(one, url, { 'x-forwarded-proto': 'https, http' })).toEqual(refused)
  const two = await createTestCommunity({ trustProxy: 2 })
  expect((await call(two, url, { 'x-forwarded-proto': 'https, http' })).status).toBe(200)
  expect(await call(two, url, { 'x-forwarded-proto': 'https, http, http' })).toEqual(refused)
  const headers = { 'x-forwarded-proto': 'https, https', 'x-forwarded-host': 'evil.example, public.example.org' }
  expect(await selfLink(one, url, headers)).toBe(`https://public.example.org${members}`)
})

test('`publicUrl` with a path replaces a path that a proxy or a host has cut off, or the base path', async () => {
  const publicUrl = 'https://community.example.org/public'
  const cut = await createTestCommunity({ publicUrl })
  expect(await selfLink(cut, `https://api.test${members}`)).toBe(`${publicUrl}${members}`)
  const mounted = await createTestCommunity({ publicUrl, basePath: '/inside' })
  expect(await selfLink(mounted, `https://api.test/inside${members}`)).toBe(`${publicUrl}${members}`)
  for (const { community } of [cut, mounted]) {
    expect(community.openapi()).toMatchObject({ servers: [{ url: publicUrl }] })
    const list = await community.call('members.list', { network: 'demo' })
    expect(list.links.self).toBe(`${publicUrl}${members}`)
  }
})

test('a forwarded prefix counts only behind a trusted proxy, and only when it is a path', async () => {
  const url = `https://inside.test${members}`
  const behind = await createTestCommunity({ trustProxy: true })
  const self = (prefix: string, community = behind) => selfLink(community, url, { 'x-forwarded-prefix': prefix })
  expect(await self('/community')).toBe(`https://inside.test/community${members}`)
  expect(await self('/community/')).toBe(`https://inside.test/community${members}`)
  expect(await self('/community', await createTestCommunity())).toBe(url)
  for (const prefix of ['community', '//evil.test', '/"><script>', '/a b', '/', `/${'x'.repeat(2000)}`])
    expect(await self(prefix)).toBe(url)
  const mounted = await createTestCommunity({ trustProxy: true, basePath: '/inside' })
  expect(await selfLink(mounted, `https://inside.test/inside${members}`, { 'x-forwarded-prefix': '/public' })).toBe(
    `https://inside.test/public${members}`,
  )
})
