/** The access rule of every page, by its declaration. A new page is tried without a line here. */
import { expect, test } from 'vitest'
import { routes } from '../../../lib/panel/pages/index.ts'
import { panelActions, type Visitor } from '../../../lib/panel/request/access.ts'
import { deliveryOf, relayOf } from './relay.ts'
import { createTestPanel } from './support.ts'

const pages = routes.map(({ method, path, action }) => [method, path, action] as const)
const addressOf = (network: string, path: string) => `${network}/${path.replace(/:\w+/g, '1')}`
const visitorOf = (given: Partial<Visitor>): Visitor => ({ actor: 'ben@example.org', networks: 'all', access: [], ...given })
const isAllowed = (status: number) => status !== 403

test('pages are tried, each once', () => {
  expect(pages.length).toBeGreaterThan(20)
  expect(new Set(pages.map(([method, path]) => `${method} ${path}`)).size).toBe(pages.length)
})

test.each(pages)('%s %s is for those whom its rule names (%s), in their own networks', async (method, path, action) => {
  const statusFor = async (visitor: Visitor | null, network = '1') => {
    const { get, post } = await createTestPanel(visitor)
    const address = addressOf(network, path)
    return (await (method === 'GET' ? get(address) : post(address))).status
  }
  const others = panelActions.filter((each) => each !== action)
  expect({
    nobody: await statusFor(null),
    elsewhere: await statusFor(visitorOf({ networks: ['2'], access: 'all' })),
    reader: isAllowed(await statusFor(visitorOf({ access: 'read' }))),
    withEveryOther: isAllowed(await statusFor(visitorOf({ access: others }))),
    withIt: isAllowed(await statusFor(visitorOf({ access: action === 'visit' ? [] : [action] }))),
  }).toEqual({
    ...{ nobody: 403, elsewhere: 404 },
    ...{ reader: action === 'visit', withEveryOther: action === 'visit', withIt: true },
  })
})

const ofRecords = pages.filter(([, path]) => /:(?:id|kind)/.test(path) && !path.startsWith('reference/'))

test.each(ofRecords)('%s %s finds no record of another network, and changes none', async (method, path) => {
  const { get, post, community, owner } = await createTestPanel(visitorOf({ access: 'all' }), {
    relay: relayOf({ 1: [deliveryOf('d1', { state: 'dead' })] }),
  })
  const network = '1'
  const tag = await community.call('tags.create', { network, body: { title: 'Founder' } })
  const endpoint = await community.endpoints.upsert({ network, url: 'https://hooks.example.org/a', token: true })
  const [key] = await community.keys.list(network)
  const about = { targetable_type: 'User', targetable_id: owner.id, report_type: 'spam' } as const
  const report = await community.notify.abuseReport({ network, member_id: owner.id, ...about })
  const ids: Readonly<Record<string, string | undefined>> = {
    ...{ members: owner.id, keys: key?.id, webhooks: endpoint.id, deliveries: 'd1', resends: 'r1', reports: report.id },
    ':kind': String(tag.id),
  }
  const parts = path.split('/').map((part, at, all) => (part === ':id' ? (ids[all[at - 1] ?? ''] ?? '') : part))
  const address = `2/${parts.join('/').replace(':kind', 'tag')}?role=host&into=${tag.id}`
  const state = async () => [
    ...[await community.members.get(network, owner.id), await community.keys.list(network)],
    ...[await community.endpoints.list(network), await community.tags.list(network), await community.reports.list(network)],
  ]
  const before = await state()
  const { status, headers, text } = await (method === 'GET' ? get(address) : post(address, { event_type: '', title: 'Mine' }))
  // A report that is closed or not there leads to the list.
  expect(status === 404 || (status === 303 && headers.get('location')?.endsWith('2/reports'))).toBe(true)
  expect(text).not.toMatch(/Founder|host@example\.org/)
  expect(await state()).toEqual(before)
})
