/** The panel in a real browser: one browser and one site for all tests. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Visitor } from '../../lib/panel/index.ts'
import { navigation } from '../../lib/panel/pages/index.ts'
import { deliveryOf, relayOf } from '../lib/panel/relay.ts'
import { shared } from '../support/shared.ts'
import { type Browser, type ContextOptions, connect, errorsOf, isInstalled, type Page } from './browser.ts'
import { isScalarThere, scalar } from './scalar.ts'
import { startSite } from './site.ts'

const axe = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')
const hostile = `"><script>document.title='owned'</script><img src=x onerror="document.title='owned'">`

describe.skipIf(!isInstalled)('the panel in Chromium', () => {
  const admin: Visitor = { actor: 'ada@example.org', networks: 'all', access: 'all' }
  const failed = deliveryOf('f1', {
    ...{ state: 'dead', last_outcome: 'status', last_status: 500, body: JSON.stringify({ payload: { title: hostile } }) },
    history: [
      {
        number: 1,
        at: '2026-11-20T09:00:00.000Z',
        milliseconds: 31,
        status: 500,
        outcome: 'status',
        answer: hostile,
        answer_headers: null,
        reason: null,
      },
    ],
  })
  const relay = relayOf({ 1: [failed, deliveryOf('d2')], 2: [deliveryOf('other')] })
  let site: Awaited<ReturnType<typeof startSite>>
  let browser: Browser
  beforeAll(async () => {
    site = await startSite(() => admin, { relay, scalar })
    browser = await connect(await shared('browser'))
  })
  afterAll(async () => {
    await browser.close()
    await site.close()
  })

  /** A fresh page, whose policy violations and script errors fail the test. */
  async function visit(path: string, work: (page: Page) => Promise<void>, options: ContextOptions = {}): Promise<void> {
    const context = await browser.newContext(options)
    try {
      const page = await context.newPage()
      const errors = errorsOf(page)
      await page.goto(`${site.panel}/${path}`)
      await work(page)
      expect(errors).toEqual([])
    } finally {
      await context.close()
    }
  }
  const me = async (token: string): Promise<number> =>
    (await fetch(`${site.origin}/admin/v1/networks/1/me`, { headers: { authorization: `Bearer ${token}` } })).status

  test('a key is created, used, and revoked', async () => {
    await visit('1/keys', async (page) => {
      await page.getByRole('link', { name: 'Create a key' }).first().click()
      await page.getByLabel('Name').fill('By mouse')
      await page.getByLabel('Read everything').check()
      await page.getByRole('button', { name: 'Create the key' }).click()
      await page.getByText('is shown this once').waitFor()
      const token = String(await page.evaluate(`document.getElementById('token').value`))
      expect(await me(token)).toBe(200)
      await page.getByRole('link', { name: 'Done' }).click()
      await page.getByRole('link', { name: 'Revoke By mouse' }).click()
      const confirm = page.getByRole('button', { name: 'Revoke the key' })
      await confirm.waitFor()
      expect(await page.locator('dialog').count()).toBe(1)
      await confirm.click()
      await page.getByText('The key is revoked.').waitFor()
      expect(await me(token)).toBe(401)
    })
  })

  test('an endpoint with two chosen events is added, tested and paused', async () => {
    await visit('1/webhooks/new', async (page) => {
      await page.getByLabel('Address', { exact: true }).fill('https://hooks.example.org/browser')
      await page.getByLabel('The events chosen below').check()
      await page.getByLabel('Search events').fill('post created')
      expect(await page.locator('[data-item]:visible').count()).toBe(1)
      await page.getByLabel('PostCreated', { exact: true }).check()
      await page.getByLabel('Search events').fill('')
      await page.getByLabel('MemberJoined', { exact: true }).check()
      await page.getByRole('button', { name: 'Add the endpoint' }).click()
      await page.getByText('Copy them now.').waitFor()
      await page.getByRole('link', { name: 'To the endpoint' }).click()
      await page.getByRole('button', { name: 'Send a test event' }).click()
      await page.getByText('The endpoint accepted the event.').waitFor()
      await page.getByRole('link', { name: 'Back to the endpoint' }).click()
      await page.getByRole('button', { name: 'Pause' }).click()
      await page.getByText('The endpoint is paused.').waitFor()
    })
    expect(await site.community.endpoints.list('1')).toMatchObject([
      { url: 'https://hooks.example.org/browser', events: ['PostCreatedHook', 'MemberJoinedHook'], enabled: false },
    ])
  })

  test('a file of members is uploaded, mapped, previewed and imported at 360 pixels, and axe finds nothing on the way', async () => {
    const options = { bypassCSP: true, reducedMotion: 'reduce', viewport: { width: 360, height: 800 } } as const
    const text = `e-mail;First name;${hostile.replaceAll('"', "'")}\ngrace@upload.test;Grace;1\n${'nobody'.repeat(20)};"${hostile.replaceAll('"', '""')}";2\n`
    await visit(
      '2/members',
      async (page) => {
        const seen = async () => {
          await page.evaluate(axe)
          const violations = await page.evaluate(`axe.run().then(({ violations }) => violations.map(({ id }) => id))`)
          expect([violations, await page.evaluate('document.documentElement.scrollWidth'), await page.title()]).toEqual([
            ...[[], 360],
            expect.stringContaining('Import'),
          ])
        }
        await page.getByRole('link', { name: 'Import' }).click()
        const file = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(text) }
        await page.getByLabel('File').setInputFiles(file)
        await page.getByRole('button', { name: 'Next: the columns' }).click()
        await page.getByLabel('Name of the import').fill('Spring')
        await seen()
        await page.getByRole('button', { name: 'Preview' }).click()
        await page.getByText('nothing was changed').waitFor()
        await seen()
        await page.getByRole('button', { name: 'Import 2 rows' }).click()
        await page.getByText('New members: 1.').waitFor()
        await seen()
        await page.getByRole('link', { name: 'Show its members' }).click()
        await page.getByRole('link', { name: 'Grace' }).first().waitFor()
      },
      options,
    )
  })

  test('a file of members is imported without JavaScript', async () => {
    await visit(
      '2/members/import',
      async (page) => {
        const buffer = Buffer.from('email,name\r\nben@upload.test,"Ben\nBlue"\r\n')
        await page.getByLabel('File').setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer })
        for (const button of ['Next: the columns', 'Preview', 'Import 1 row'])
          await page.getByRole('button', { name: button }).click()
        await page.getByText('New members: 1.').waitFor()
      },
      { javaScriptEnabled: false },
    )
  })

  test('one long name without blanks pushes no column off the screen', async () => {
    const long = 'x'.repeat(120)
    const { key } = await site.community.keys.create({ network: '2', name: long, scopes: ['*'] })
    const made = await site.community.endpoints.upsert({
      network: '2',
      url: 'https://hooks.example.org/l',
      name: long,
      token: true,
    })
    for (const path of ['2/keys', '2/overview', '2/audit', '2/webhooks', '2/deliveries'])
      await visit(
        path,
        async (page) => {
          const over = await page.evaluate(
            `[...document.querySelectorAll('.scroll')].map((table) => table.scrollWidth - table.clientWidth)`,
          )
          expect([path, over]).toEqual([path, (over as number[]).map(() => 0)])
        },
        { viewport: { width: 1280, height: 900 } },
      )
    await site.community.keys.revoke('2', key.id)
    await site.community.endpoints.remove('2', made.id)
  })

  test('filters take and show times of the viewer, and the address has them in UTC', async () => {
    await visit(
      '1/deliveries?since=2026-11-20T10:00',
      async (page) => {
        const since = () => page.evaluate(`document.getElementById('since').value`)
        expect(await since()).toBe('2026-11-20T11:00')
        expect(await page.locator('[data-utc]:visible').count()).toBe(3)
        await page.locator('#since').fill('2026-11-20T09:30')
        await page.getByRole('button', { name: 'Apply' }).click()
        await expect.poll(() => page.url()).toContain('since=2026-11-20T08%3A30')
        await page.getByRole('link', { name: 'PostCreated' }).first().waitFor()
        expect(await since()).toBe('2026-11-20T09:30')
      },
      { timezoneId: 'Europe/Berlin' },
    )
  })

  test('a failed delivery is opened and resent, and hostile responses and bodies are text', async () => {
    await visit('1/deliveries?state=dead', async (page) => {
      await page.getByRole('link', { name: 'PostCreated' }).first().click()
      await page.getByText('characters').click()
      expect(await page.locator('pre').textContent()).toBe(hostile)
      await page.getByRole('link', { name: 'Show the body' }).click()
      expect(await page.locator('.json').textContent()).toContain('<script>')
      expect(await page.title()).not.toBe('owned')
      await page.getByRole('button', { name: 'Resend' }).click()
      await page.getByText('The delivery is queued again.').waitFor()
    })
    expect(relay.resends.map(({ network_id, ids }) => [network_id, ids])).toEqual([['1', ['f1']]])
  })

  test('Scalar shows the operations and sends requests, and none leaves the origin', async ({ skip }) => {
    skip(!isScalarThere, '`npx node test/browser/scalar.ts` downloads Scalar')
    const context = await browser.newContext()
    const page = await context.newPage()
    const asked: string[] = []
    const refused: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) refused.push(message.text())
    })
    await page.goto(`${site.panel}/1/reference`)
    await page.getByRole('link', { name: 'Try operations in the browser' }).click()
    await page.getByRole('button', { name: 'Test Request' }).first().waitFor()
    await page.evaluate(axe)
    // Two buttons of Scalar that copy have no name.
    const found = `axe.run({ rules: { 'button-name': { enabled: false } } }).then(({ violations }) => violations.map(({ id }) => id))`
    expect(await page.evaluate(found)).toEqual([])
    await page.getByRole('button', { name: 'Test Request' }).first().click()
    const [answer] = await Promise.all([
      page.waitForResponse(/\/admin\/v1\/networks\/paint-pals\//),
      page.getByRole('button', { name: 'Send' }).first().click(),
    ])
    expect(answer.status()).toBe(401)
    const elsewhere = asked.filter((url) => !url.startsWith(site.origin) && !/^(?:data|blob):/.test(url))
    expect({ elsewhere, refused }).toEqual({ elsewhere: [], refused: [] })
    await context.close()
  })

  test('a form of another site is refused', async () => {
    const before = await site.community.keys.list('1')
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.route('http://evil.test/', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<form method="post" action="${site.panel}/1/keys"><input name="name" value="forged"><input name="access" value="*"><button>go</button></form>`,
      }),
    )
    await page.goto('http://evil.test/')
    const [answer] = await Promise.all([page.waitForResponse(/\/1\/keys$/), page.getByRole('button').click()])
    expect(answer.status()).toBe(403)
    expect(await site.community.keys.list('1')).toEqual(before)
    await context.close()
  })

  test('times are in the zone of the viewer, with the ISO form in datetime', async () => {
    await visit(
      '1/deliveries/f1',
      async (page) => {
        const time = page.locator('time').first()
        expect(await time.getAttribute('datetime')).toBe('2026-11-20T09:00:00.000Z')
        expect(await time.textContent()).toContain('18:00:00')
      },
      { timezoneId: 'Asia/Tokyo', locale: 'en-GB' },
    )
  })

  const paths = [
    ...['', ...navigation.map(({ path }) => `1/${path}`)],
    ...['1/keys/new', '1/webhooks/new', '1/webhooks/channel', '1/webhooks/events/PostCreated', '1/read-only'],
  ]
  // Without the page of Scalar: its marks are not ours.
  const more = [
    '1/keys?status=revoked',
    '1/keys?status=active',
    '1/webhooks/events',
    '1/deliveries?state=dead',
    '1/deliveries/f1?body=1',
    '1/deliveries/resend?all=1',
    '1/reference/tags.create',
    '1/members?state=removed&q=nobody',
    '1/members?role=host&sort=-name&created_after=2020-01-01T00:00',
    '1/members?space_id=77',
    '1/members/import',
    '1/members/bulk',
    '1/members/new',
    '1/members/invite',
  ]

  /** The pages of one endpoint, one key and one banned member. */
  async function ownPages(): Promise<readonly string[]> {
    const endpoint = await site.community.endpoints.upsert({ network: '1', url: 'https://axe.test/hook', token: true })
    // A line of the audit with many details.
    const changes = {
      name: 'Receiver '.repeat(12),
      order: 'subject',
      rate_per_second: 5,
      allow_addresses: ['192.0.2.0/24'],
    } as const
    await site.community.endpoints.update('1', endpoint.id, changes)
    const { key } = await site.community.keys.create({ network: '1', name: hostile, scopes: ['*'] })
    const network = '1'
    const body = {
      email: `${'long'.repeat(15)}@${crypto.randomUUID()}.example`,
      first_name: 'نور'.repeat(30),
      last_name: hostile,
    }
    const { id } = await site.community.call('members.create', { network, body })
    const space = await site.community.call('spaces.create', { network, body: { name: 'Garden' } })
    const ban = { params: { space_id: space.id, user_id: id }, body: { ban_reason: 'Watches'.repeat(40) } }
    await site.community.call('space_members.ban', { network, ...ban })
    const banned = ['', '/unban', '/erase'].map((page) => `1/members/${id}${page}`)
    const [host] = (await site.community.members.list('1', { q: 'host1@example.org' })).items
    const other = await site.community.call('members.create', {
      network,
      body: { ...body, email: `a@${crypto.randomUUID()}.example` },
    })
    await site.community.call('space_members.create', { network, params: { space_id: space.id }, query: { user_id: other.id } })
    const post = { space_id: space.id, title: 'Long'.repeat(60), description: `<p>${'Word'.repeat(300)}</p>` }
    const { id: targetable_id } = await site.community.call('posts.create', { network, as: other.id, body: post })
    const reported = {
      network,
      member_id: other.id,
      targetable_type: 'Post',
      targetable_id,
      report_type: 'spam',
      reason: hostile,
    } as const
    const report = await site.community.notify.abuseReport(reported)
    const tag = await site.community.call('tags.create', {
      network,
      body: { title: 'Tag'.repeat(30) + crypto.randomUUID(), color: '#00AA00' },
    })
    const into = await site.community.call('tags.create', { network, body: { title: crypto.randomUUID() } })
    const ofTag = ['edit', 'merge', `merge?into=${into.id}`, 'delete'].map((page) => `1/labels/tag/${tag.id}/${page}`)
    const ofReport = ['dismiss', 'delete_content', 'ban_author'].map((verb) => `1/reports/${report.id}/${verb}`)
    const acts = ['', '/remove', '/ban', '/role?role=moderator'].map((page) => `1/members/${other.id}${page}`)
    const ofMember = [...banned, ...acts, `1/members/${host?.id}`]
    const ofEndpoint = ['', '/edit', '/rotate', '/remove'].map((page) => `1/webhooks/${endpoint.id}${page}`)
    return [
      ...ofEndpoint,
      ...ofMember,
      '1/reports',
      ...ofReport,
      '1/labels?kind=tag&unused=1',
      ...ofTag,
      '1/members?state=banned',
      `1/keys/${key.id}/revoke`,
    ]
  }

  test('axe finds nothing on any page, at 360 pixels, in light and in dark', async () => {
    // axe is put into the page, which the policy would forbid. With motion the colours would change slowly.
    const options = { bypassCSP: true, reducedMotion: 'reduce', viewport: { width: 360, height: 800 } } as const
    const context = await browser.newContext(options)
    // Chromium compiles it once for all pages.
    await context.addInitScript({ content: axe })
    const page = await context.newPage()
    const violations = (rules: string) =>
      page.evaluate(
        `axe.run({ resultTypes: ['violations'], ${rules} }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html).join())`,
      )
    const found: unknown[] = []
    for (const path of [...paths, ...more, ...(await ownPages())]) {
      await page.emulateMedia({ colorScheme: 'light' })
      const response = await page.goto(`${site.panel}/${path}`)
      if (response?.status() !== 200) found.push(`${path} responds with ${response?.status()}`)
      const inLight = await violations('')
      if (inLight !== '') found.push(`${path}: ${inLight}`)
      await page.emulateMedia({ colorScheme: 'dark' })
      // The dark pages are the light ones in other colours.
      const inDark = await violations(`runOnly: ['color-contrast']`)
      if (inDark !== '') found.push(`${path} in dark: ${inDark}`)
    }
    await context.close()
    expect(found).toEqual([])
  })

  /** Words of tables that stand on two lines, except long ones such as addresses and digests. */
  const brokenWords = `(() => {
    const broken = []
    for (const cell of document.querySelectorAll('td, th')) {
      const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
      for (let node = walker.nextNode(); node; node = walker.nextNode())
        for (const { 0: word, index } of node.data.matchAll(/\\S+/g)) {
          const range = document.createRange()
          range.setStart(node, index)
          range.setEnd(node, index + word.length)
          const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
          if (word.length <= 24 && lines.size > 1 && !/[@/:-]/.test(word)) broken.push(word)
        }
    }
    return broken.join()
  })()`

  test('no page is wider than its window, and no table wider than its place up to the width of a tablet', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    const found: string[] = []
    for (const path of [...paths, ...more, ...(await ownPages())]) {
      await page.goto(`${site.panel}/${path}`)
      for (const width of [320, 360, 560, 700, 850, 1000, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        const needed = await page.evaluate('document.documentElement.scrollWidth')
        if (needed !== width) found.push(`${path} has ${needed} pixels in ${width}`)
        const cut = `[...document.querySelectorAll('.scroll')].filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.scrollWidth + ' of ' + each.clientWidth).join()`
        const tables = width <= 992 ? await page.evaluate(cut) : ''
        if (tables !== '') found.push(`${path} hides a part of ${tables} in ${width}`)
        const broken = width === 1280 ? await page.evaluate(brokenWords) : ''
        if (broken !== '') found.push(`${path} breaks inside of ${broken} in ${width}`)
      }
    }
    await context.close()
    expect(found).toEqual([])
  })
})
