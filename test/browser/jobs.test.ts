/**
 * The seven jobs of an admin, from the first page of the panel on, in Chromium. The page counts the clicks of the mouse; what is typed is
 * free.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'
import { relayAdmin } from '../../daemon/relay/admin/admin.ts'
import { embeddedBackend } from '../../daemon/relay/admin/backend.ts'
import { startRelay } from '../../daemon/relay/relay.ts'
import type { RelayAdmin } from '../../lib/panel/index.ts'
import { until } from '../daemon/relay/support.ts'
import { shared } from '../support/shared.ts'
import { type Browser, connect, isInstalled, type Page } from './browser.ts'
import { startSite } from './site.ts'

const counting = `addEventListener('pointerdown', () => sessionStorage.setItem('clicks', 1 + Number(sessionStorage.getItem('clicks'))), true)`
const network = '1'

describe.skipIf(!isInstalled)('from the first page of the panel', () => {
  const directory = mkdtempSync(join(tmpdir(), 'folkmoot-jobs-'))
  const closing: (() => Promise<unknown>)[] = []
  let site: Awaited<ReturnType<typeof startSite>>
  let deliveries: RelayAdmin
  let browser: Browser
  /** The status of the receiver. */
  let status = 422

  beforeAll(async () => {
    const path = join(directory, 'db.sqlite')
    const storage = await sqliteStorage({ path })
    // One attempt: a delivery that fails is dead at once.
    const relay = await startRelay({
      outbox: `sqlite:${path}`,
      settings: { allowHttp: true, allowPrivate: true, retrySchedule: [0], breakerThreshold: 100 },
    })
    deliveries = relayAdmin(`sqlite:${path}`, embeddedBackend(relay))
    const admin = relayAdmin(`sqlite:${path}`, embeddedBackend(relay))
    site = await startSite(() => ({ actor: 'ada@example.org', networks: [network], access: 'all' }), { relay: admin }, storage)
    browser = await connect(await shared('browser'))
    closing.push(
      () => browser.close(),
      () => site.close(),
      () => admin.close(),
      () => relay.close(0),
    )
    const hook = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(status).end(status === 422 ? 'no such field: title' : undefined))
    })
    await new Promise<void>((resolve) => void hook.listen(0, '127.0.0.1', () => resolve()))
    closing.push(async () => void hook.close())
    const address = hook.address()
    const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/hook`
    await site.community.endpoints.upsert({ network, url, token: true, name: 'Search index' })
    const { id: space_id } = await site.community.call('spaces.create', { network, body: { name: 'Garden' } })
    await site.community.call('posts.create', { network, body: { space_id, title: 'Roses' } })
    await until(async () => (await dead()) > 0, 'a delivery has failed for good')
  })
  afterAll(async () => {
    for (const close of closing) await close()
    rmSync(directory, { recursive: true, force: true })
  })

  const dead = async () => (await deliveries.count({ network_id: network, state: 'dead' })).count

  /** Does a job from the first page on, and returns the clicks that it took. */
  async function clicksOf(work: (page: Page) => Promise<void>): Promise<number> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    try {
      await context.addInitScript({ content: counting })
      const page = await context.newPage()
      await page.goto(`${site.panel}/`)
      await work(page)
      return Number(await page.evaluate(`sessionStorage.getItem('clicks')`))
    } finally {
      await context.close()
    }
  }
  const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click()
  const follow = (page: Page, name: string | RegExp) => page.getByRole('link', { name }).first().click()
  const typed = async (page: Page, label: string, text: string, end: string[] = []) => {
    await page.getByLabel(label, { exact: true }).fill(text)
    for (const key of end) await page.keyboard.press(key)
  }

  test('a key is created in 3 clicks', async () => {
    const clicks = await clicksOf(async (page) => {
      await follow(page, 'Create a key')
      await typed(page, 'Name', 'Newsletter')
      await page.getByLabel('Read everything').check()
      await press(page, 'Create the key')
      await page.getByText('It is shown this once').waitFor()
    })
    expect(clicks).toBe(3)
  })

  test('an endpoint is added in 2 clicks', async () => {
    const clicks = await clicksOf(async (page) => {
      await follow(page, 'Add an endpoint')
      await typed(page, 'Address', 'https://hooks.example.org/jobs')
      await press(page, 'Add the endpoint')
      await page.getByText('Copy them now.').waitFor()
    })
    expect(clicks).toBe(2)
    const [, added] = await site.community.endpoints.list(network)
    await site.community.endpoints.remove(network, added?.id ?? '')
  })

  test('a test is sent in 2 clicks', async () => {
    const clicks = await clicksOf(async (page) => {
      await follow(page, 'Search index')
      await press(page, 'Send a test event')
      await page.getByText('The endpoint did not accept the event.').waitFor()
    })
    expect(clicks).toBe(2)
  })

  test('why a delivery failed is read after 2 clicks', async () => {
    const clicks = await clicksOf(async (page) => {
      await follow(page, /failed for good/)
      await follow(page, 'PostCreated')
      await page.getByText('no such field: title').waitFor()
    })
    expect(clicks).toBe(2)
  })

  test('how long an endpoint took over the day is read after 1 click', async () => {
    const clicks = await clicksOf(async (page) => {
      await follow(page, 'Search index')
      await page.locator('svg[aria-label*="p50"][aria-label*="p95"][aria-label*="slowest"]').waitFor()
    })
    expect(clicks).toBe(1)
  })

  test('what failed since yesterday is resent in 3 clicks', async () => {
    const failed = await dead()
    status = 204
    const clicks = await clicksOf(async (page) => {
      await follow(page, /failed for good/)
      await follow(page, 'what failed since yesterday')
      await press(page, /^Resend \d+ deliver/)
      await page.getByText(`of ${failed} are queued again`).waitFor()
    })
    expect([clicks, failed > 0]).toEqual([3, true])
    await until(async () => (await dead()) === 0, 'all of them are delivered')
  })

  test('a member is banned, unbanned and erased, each in 3 clicks', async () => {
    const body = { email: 'grace@example.org', first_name: 'Grace', last_name: 'Oak' }
    const { id } = await site.community.call('members.create', { network, body })
    const stateOf = async () => {
      const [found] = (await site.community.members.list(network, { q: id })).items
      return [found?.is_banned, found?.erased_at != null]
    }
    const acts = [
      ['Ban', 'Ban', 'The member is banned.', [true, false]],
      ['Lift the ban', 'Lift the ban', 'The ban is lifted.', [false, false]],
      ['Erase', 'Erase for good', 'The person is erased.', [false, true]],
    ] as const
    for (const [link, button, news, state] of acts) {
      const clicks = await clicksOf(async (page) => {
        await typed(page, 'Name, address or id of a member', id, ['Enter'])
        await page.locator(`tbody a[href$="members/${id}"]`).click()
        await page.getByText('Timeline').waitFor()
        await follow(page, new RegExp(`^${link}`))
        await page.locator('dialog button').first().click()
        await page.getByText(news).waitFor()
        expect(await page.getByRole('button', { name: button }).count()).toBe(0)
      })
      expect([link, clicks, await stateOf()]).toEqual([link, 3, state])
    }
  })
})
