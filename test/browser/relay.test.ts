/** The panel over a relay that sends, in a real browser: what a person clicks is what a receiver gets. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { relayAdmin } from '../../daemon/relay/admin/admin.ts'
import { embeddedBackend } from '../../daemon/relay/admin/backend.ts'
import { startRelay } from '../../daemon/relay/relay.ts'
import type { RelayAdmin } from '../../lib/panel/index.ts'
import { receiver, status, until } from '../daemon/relay/support.ts'
import { shared } from '../support/shared.ts'
import { type Browser, connect, isInstalled, type Page } from './browser.ts'
import { startSite } from './site.ts'

describe.skipIf(!isInstalled)('the panel over a relay, in Chromium', () => {
  const directory = mkdtempSync(join(tmpdir(), 'folkmoot-browser-'))
  const closing: (() => Promise<unknown>)[] = []
  let site: Awaited<ReturnType<typeof startSite>>
  let deliveries: RelayAdmin
  let browser: Browser

  beforeAll(async () => {
    const path = join(directory, 'db.sqlite')
    const outbox = `sqlite:${path}`
    const storage = await sqliteStorage({ path })
    // One attempt: a delivery that fails is dead at once.
    const relay = await startRelay({ outbox, settings: { allowHttp: true, allowPrivate: true, retrySchedule: [0] } })
    const admin = relayAdmin(outbox, embeddedBackend(relay))
    deliveries = admin
    site = await startSite(() => ({ actor: 'ada@example.org', networks: 'all', access: 'all' }), { relay: admin }, storage)
    browser = await connect(await shared('browser'))
    closing.push(
      () => browser.close(),
      () => site.close(),
      () => admin.close(),
      () => relay.close(0),
    )
  })
  afterAll(async () => {
    for (const close of closing) await close()
    rmSync(directory, { recursive: true, force: true })
  })

  async function visit(path: string, work: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext()
    try {
      const page = await context.newPage()
      await page.goto(`${site.panel}/${path}`)
      await work(page)
    } finally {
      await context.close()
    }
  }

  /** The states of all deliveries of a network, as the relay has them. */
  const states = async (network: string) =>
    (await deliveries.list({ network_id: network, limit: 100 })).items.map(({ state, attempts }) => `${state} ${attempts}`)

  /** A new space of a network. */
  const space = async (network: string) =>
    (await site.community.call('spaces.create', { network, body: { name: `Space ${crypto.randomUUID()}` } })).id

  test('an endpoint that chose two events gets those two and not the third, and the panel shows both', async () => {
    const hook = await receiver()
    await visit('1/webhooks/new', async (page) => {
      await page.getByLabel('Address', { exact: true }).fill(hook.url)
      await page.getByLabel('The events chosen below').check()
      await page.getByLabel('PostCreated', { exact: true }).check()
      await page.getByLabel('PostUpdated', { exact: true }).check()
      await page.getByRole('button', { name: 'Add the endpoint' }).click()
      await page.getByText('Copy them now.').waitFor()
    })
    const space_id = await space('1')
    const { id } = await site.community.call('posts.create', { network: '1', body: { space_id, title: 'First' } })
    await site.community.call('posts.update', { network: '1', params: { id }, body: { title: 'Second' } })
    await site.community.call('comments.create', { network: '1', params: { post_id: id }, body: { text: 'Third' } })
    await until(async () => (await states('1')).join() === 'delivered 1,delivered 1', 'both are delivered')
    const types = hook.received.map(({ body }) => JSON.parse(body).event_type)
    expect(types.toSorted()).toEqual(['PostCreatedHook', 'PostUpdatedHook'])
    await visit('1/deliveries', async (page) => {
      const rows = await page.locator('tbody th a').count()
      expect([rows, await page.getByRole('link', { name: 'CommentCreated' }).count()]).toEqual([2, 0])
    })
    for (const endpoint of await site.community.endpoints.list('1')) await site.community.endpoints.remove('1', endpoint.id)
  })

  test('all that match are resent in one network, and those of another network do not move', async () => {
    const hook = await receiver(status(500))
    for (const network of ['1', '2']) {
      const key = `key-of-${network}`
      await site.community.endpoints.upsert({ network, url: `${hook.url}?network=${network}`, token: key })
      const space_id = await space(network)
      for (const title of ['First', 'Second']) await site.community.call('posts.create', { network, body: { space_id, title } })
    }
    const dead = async (network: string) => (await states(network)).filter((state) => state === 'dead 1').length
    for (const network of ['1', '2']) await until(async () => (await dead(network)) === 2, `network ${network} has two dead ones`)
    const before = await states('2')
    hook.respond = status(204)
    await visit('1/deliveries?state=dead', async (page) => {
      await page.getByRole('link', { name: 'PostCreated' }).first().click()
      await page.getByRole('button', { name: 'Resend' }).click()
      await page.getByText('The delivery is queued again.').waitFor()
    })
    await until(async () => (await dead('1')) === 1, 'the delivery that was opened is delivered')
    await visit('1/deliveries?state=dead', async (page) => {
      await page.getByRole('link', { name: 'Resend all that match' }).click()
      await page.getByRole('button', { name: 'Resend 1 delivery' }).click()
      await page.getByText('of 1 are queued again').waitFor()
    })
    await until(async () => (await dead('1')) === 0, 'the other one is delivered')
    expect(await states('2')).toEqual(before)
  })
})
