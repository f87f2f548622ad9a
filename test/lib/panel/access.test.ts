/** The access rule of every page, by its declaration. A new page is tried without a line here. */
import { expect, test } from 'vitest'
import { routes } from '../../../lib/panel/pages/index.ts'
import { panelActions, type Visitor } from '../../../lib/panel/request/access.ts'
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
