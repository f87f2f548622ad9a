/** The panel while its database goes away, and when it is back. */
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../../adapters/storage/postgres.ts'
import { createCommunity } from '../../../lib/index.ts'
import { createPanel } from '../../../lib/panel/index.ts'
import { postgresAddress, uniqueName } from '../../support/postgres.ts'
import { proxyTo } from '../../support/proxy.ts'
import { admin } from './support.ts'

test('a lost connection to the database is a page that shows what to do, and the panel works when it is back', async () => {
  const proxy = await proxyTo(await postgresAddress())
  const storage = await postgresStorage({ url: `${proxy.url}?schema=${uniqueName('panel_lost')}` })
  const community = createCommunity({ storage })
  onTestFinished(() => community.close())
  const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' }
  await community.networks.create({ id: '1', subdomain: 'paint-pals', title: 'Paint Pals', owner })
  const faults: unknown[] = []
  const panel = createPanel(community, { authorize: () => admin, onError: (error) => faults.push(error) })
  const headers = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' }
  const ask = async (init: RequestInit = {}) => {
    const response = await panel(new Request('https://panel.test/admin/panel/1/keys', init))
    return { status: response?.status, text: (await response?.text()) ?? '' }
  }
  const form = { method: 'POST', headers, body: 'name=a&access=*' }
  proxy.cut()
  const [page, change] = [await ask(), await ask(form)]
  expect([page.status, page.text.includes('Reload the page in a moment')]).toEqual([503, true])
  expect([change.status, change.text.includes('look whether its change is there')]).toEqual([503, true])
  expect(`${page.text}${change.text}`).not.toMatch(/ECONN|127\.0\.0\.1|postgres/)
  expect(faults).toHaveLength(2)
  proxy.mend()
  expect((await ask()).status).toBe(200)
  expect((await ask(form)).status).toBe(201)
})
