/** Faults of the host, of its storage and of the relay: each is a page that shows what to do, and the process lives. */
import { expect, test } from 'vitest'
import { createPanel, type PanelOptions, type RelayAdmin } from '../../../lib/panel/index.ts'
import { StorageError } from '../../../lib/storage/contract.ts'
import { deliveryOf, relayOf } from './relay.ts'
import { admin, createTestPanel } from './support.ts'

const never = () => new Promise<never>(() => {})
const secret = 'secret of the database at 10.0.0.7'

test.each([
  [
    'throws',
    () => {
      throw new Error(secret)
    },
    500,
  ],
  ['rejects', () => Promise.reject(new Error(secret)), 500],
  ['rejects with nothing', () => Promise.reject(undefined), 500],
  ['hangs', never, 504],
  ['returns a text', () => 'ada', 500],
  ['returns a Response', () => new Response(secret), 500],
  ['returns a visitor without networks', () => ({ actor: 'ada', access: 'all' }), 500],
  ['returns undefined', () => undefined, 403],
])('an authorize that %s closes the panel', async (_, authorize, status) => {
  const { panel, faults } = await createTestPanel(admin, {
    authorize: authorize as never,
    ...(authorize === never ? { timeoutMs: 20 } : {}),
  })
  for (const init of [{}, { method: 'POST', headers: { 'sec-fetch-site': 'same-origin' } }]) {
    const response = await panel(new Request('https://panel.test/admin/panel/1/keys', init))
    const text = await response?.text()
    expect(response?.status).toBe(status)
    expect(text).not.toContain(secret)
    expect(text).toContain('<h1>')
    expect(response?.headers.get('cache-control')).toBe('no-store')
    expect(response?.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  }
  expect(faults).toHaveLength(status === 403 ? 0 : 2)
})

test.each([
  ['unavailable', () => Promise.reject(new StorageError('unavailable', secret)), 503],
  ['of an unknown outcome', () => Promise.reject(new StorageError('unknown', secret)), 503],
  ['broken', () => Promise.reject(new Error(secret)), 500],
  ['silent', never, 504],
])('a storage that is %s is a page without internals, and the host hears of it', async (_, find, status) => {
  const { community, faults } = await createTestPanel()
  const networks = { ...community.networks, find }
  const bound = find === never ? { timeoutMs: 20 } : {}
  const options: PanelOptions = { authorize: () => admin, onError: (error) => faults.push(error), ...bound }
  const panel = createPanel({ ...community, networks }, options)
  const response = await panel(new Request('https://panel.test/admin/panel/1/keys'))
  const text = await response?.text()
  expect(response?.status).toBe(status)
  expect(text).not.toContain('secret')
  expect(text).toContain('Reload the page in a moment')
  expect(text).toMatch(/under request [\w-]{36}/)
  expect(faults).toHaveLength(1)
})

test('a question whose preview meets a busy storage still has its form', async () => {
  const { community } = await createTestPanel()
  const { key } = await community.keys.create({ network: '1', name: 'Leaked', scopes: ['*'] })
  const preview = () => Promise.reject(new StorageError('unavailable', secret))
  const panel = createPanel({ ...community, preview }, { authorize: () => admin, onError: () => {} })
  const response = await panel(new Request(`https://panel.test/admin/panel/1/keys/${key.id}/revoke`))
  const text = await response?.text()
  expect(response?.status).toBe(200)
  expect(text).toContain('There is no preview now')
  expect(text).toMatch(/<button[^>]*>Revoke the key</)
  expect(text).not.toContain(secret)
})

test('a form that meets a fault gets a page with the advice to look before it is sent again', async () => {
  const { community } = await createTestPanel()
  const keys = { ...community.keys, create: () => Promise.reject(new StorageError('unknown', secret)) }
  const by: typeof community.by = (actor) => ({ ...community.by(actor), keys })
  const panel = createPanel({ ...community, by }, { authorize: () => admin, onError: () => {} })
  const headers = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' }
  const init = { method: 'POST', headers, body: 'name=a&access=*' }
  const response = await panel(new Request('https://panel.test/admin/panel/1/keys', init))
  expect([response?.status, await response?.text()]).toEqual([503, expect.stringContaining('look whether its change is there')])
})

test.each([
  [
    'throws',
    () => {
      throw new Error(secret)
    },
    502,
  ],
  ['rejects', () => Promise.reject(new Error(secret)), 502],
  ['hangs', never, 504],
])('with a relay that %s every page without it works, and the others name the relay', async (_, call, status) => {
  const names = [...Object.keys(relayOf()), ...Object.keys(relayOf().admin)]
  const relay = Object.fromEntries(names.map((name) => [name, call])) as unknown as RelayAdmin
  const { get, post, community, faults } = await createTestPanel(admin, { relay, timeoutMs: 1000 })
  const { id } = await community.endpoints.upsert({ network: '1', url: 'https://hooks.example.org/a', token: true })
  const working = ['1/overview', '1/webhooks', `1/webhooks/${id}`, '1/deliveries'].map(get)
  const needing = ['1/deliveries/5', '1/deliveries/resend?all=1', '1/deliveries/resends/r1'].map(get)
  const changes = ['1/deliveries/5/resend', '1/deliveries/resends/r1/stop'].map((path) => post(path))
  const tested = post(`1/webhooks/${id}/test`)
  for (const page of [...(await Promise.all(working)), await tested])
    expect([page.status, page.text.includes('The relay does not respond')]).toEqual([200, true])
  for (const page of await Promise.all([...needing, ...changes])) expect(page.status).toBe(status)
  expect(faults).toHaveLength(10)
})

test('a relay that responds with nonsense is a fault of one page, and no other page has it', async () => {
  const relay = {
    ...relayOf({ 1: [deliveryOf('d1')] }).admin,
    get: async () => ({ id: 'd1' }) as never,
    list: async () => undefined as never,
  }
  const { get, faults } = await createTestPanel(admin, { relay })
  for (const path of ['1/deliveries', '1/deliveries/d1']) {
    const { status, text } = await get(path)
    expect([path, status, text.includes('TypeError')]).toEqual([path, 500, false])
  }
  expect((await get('1/keys')).status).toBe(200)
  expect(faults).toHaveLength(2)
})

test('an onError that throws spoils no page', async () => {
  const { panel } = await createTestPanel(admin, {
    authorize: () => Promise.reject(new Error('a fault of a test')),
    onError() {
      throw new Error('a fault of onError, of a test')
    },
  })
  expect((await panel(new Request('https://panel.test/admin/panel/1/keys')))?.status).toBe(500)
})

test('a download that cannot be read to its end ends early, and the host is notified of it once', async () => {
  const { community, faults } = await createTestPanel()
  let pages = 0
  const list: typeof community.audit.list = async (query) => {
    if (++pages > 1) throw new StorageError('unavailable', secret)
    return { ...(await community.audit.list(query)), next: '7' }
  }
  const options: PanelOptions = { authorize: () => admin, onError: (error) => faults.push(error) }
  const panel = createPanel({ ...community, audit: { ...community.audit, list } }, options)
  const response = await panel(new Request('https://panel.test/admin/panel/1/audit/export'))
  expect(response?.status).toBe(200)
  await expect(response?.text()).rejects.toThrow()
  expect(faults).toHaveLength(1)
  // A visitor who leaves after the first part is no fault.
  pages = 0
  const left = await panel(new Request('https://panel.test/admin/panel/1/audit/export'))
  await left?.body?.cancel()
  expect(faults).toHaveLength(1)
})

test.each([
  ['the audit', 'audit/export'],
  ['members', 'members/export'],
])('a fault within the download of %s breaks it off, and onError gets it', async (what, path) => {
  const { community } = await createTestPanel()
  for (let n = 0; n < 101; n++) {
    const body = { email: `m${n}@example.org`, first_name: 'M', last_name: 'Test' }
    const { id } = await community.call('members.create', { network: '1', body })
    await community.members.changeRole('1', id, 'moderator')
  }
  let reads = 0
  /** Fails from the second page on. */
  const onceOnly =
    <Given extends unknown[], T>(read: (...given: Given) => Promise<T>) =>
    (...given: Given) =>
      reads++ === 0 ? read(...given) : Promise.reject(new Error(secret))
  const broken = {
    ...community,
    audit: { ...community.audit, list: onceOnly(community.audit.list) },
    exportPage: onceOnly(community.exportPage),
  }
  const faults: unknown[] = []
  const onError = (_: unknown, { task }: { readonly task?: string }) => faults.push(task)
  const panel = createPanel(broken, { authorize: () => admin, onError })
  const response = await panel(new Request(`https://panel.test/admin/panel/1/${path}`))
  expect(response?.status).toBe(200)
  await expect(response?.text()).rejects.toThrow()
  expect(faults).toEqual([`panel: the export of ${what}`])
})

test('a reader who leaves a download while a part is read is no fault', async () => {
  const { community } = await createTestPanel()
  const faults: unknown[] = []
  const held = Promise.withResolvers<void>()
  const requested = Promise.withResolvers<void>()
  let reads = 0
  const list: typeof community.audit.list = async () => {
    if (reads++ > 0) {
      requested.resolve()
      await held.promise
    }
    return { ...(await community.audit.list({ network: '1' })), next: 'more' }
  }
  const slow = { ...community, audit: { ...community.audit, list } }
  const panel = createPanel(slow, { authorize: () => admin, onError: (error) => faults.push(error) })
  const response = await panel(new Request('https://panel.test/admin/panel/1/audit/export'))
  const reader = response?.body?.getReader()
  await reader?.read()
  const second = reader?.read()
  await requested.promise
  const left = reader?.cancel()
  held.resolve()
  await Promise.all([second, left])
  // The part that was being read arrives after that.
  await new Promise((done) => void setImmediate(done))
  expect(faults).toEqual([])
})
