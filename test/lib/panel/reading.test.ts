/** The pages that only show: overview, API reference. */
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { deliveryOf, relayOf } from './relay.ts'
import { admin, createTestPanel } from './support.ts'

test('the overview draws minutes, failures and circuit changes, and names endpoints in trouble', async () => {
  const relay = relayOf()
  relay.endpoints.push({ endpoint_id: '7', activity: 'disabled', reason: 'it answered 410' }, { endpoint_id: '8' })
  const { get } = await createTestPanel(admin, { relay, clock: { now: () => Date.parse('2026-11-20T10:00:30Z') } })
  const { status, text } = await get('1/overview')
  expect(status).toBe(200)
  expect(text).toContain('aria-label="The last 3 hours: 60 delivered, 5 failed, 1 put on hold or resumed"')
  expect(text).toContain('10:00 UTC: 60 delivered, 5 failed, 1 put on hold or resumed')
  expect(text.match(/<g>/g)).toHaveLength(180)
  expect(text).toContain('500,000+')
  expect(text).toContain('Disabled (it answered 410)')
  expect(text).toContain('1 of 2 endpoints gets no events now')
  expect(text).toContain('500,000+')
  expect(text).toContain('65 at most')
  expect(text).not.toContain('endpoint 8')
  expect(text).not.toContain('style=')
})

test('the overview draws the requests of each hour, and the use of each key', async () => {
  const { get, sendAs, token } = await createTestPanel(admin, { clock: { now: () => Date.parse('2026-11-20T10:00:30Z') } })
  await sendAs(token)('tags.list')
  await sendAs(token)('tags.show', { params: { id: 404 } })
  const { status, text } = await get('1/overview')
  expect(status).toBe(200)
  expect(text).toContain('aria-label="The last 24 hours: 2 requests, 1 refused, 0 failed"')
  expect(text).toContain('10:00 UTC: 2 requests, 1 refused')
  expect(text).toContain('This process has counted since')
  expect(text).not.toContain('style=')
})

test('the panel opens on the overview: who is there, and what needs somebody', async () => {
  const relay = relayOf()
  relay.endpoints.push({ endpoint_id: '7', dead: 1 })
  const { get, community, owner } = await createTestPanel(admin, { relay })
  expect((await get('1')).headers.get('location')).toBe('./1/overview')
  const figures = (text: string) =>
    Object.fromEntries(
      [...text.matchAll(/<div class="soft">([^<]*)<\/div><div class="big">(?:<a[^>]*>)?(\d+)/g)].map(([, name = '', count]) => [
        name,
        count,
      ]),
    )
  const before = (await get('1/overview')).text
  expect(before).not.toContain('open abuse report')
  expect(figures(before)).toMatchObject({ Members: '1', Joined: '1', Left: '0', Posts: '0', Comments: '0' })
  const network = '1'
  const body = { email: 'grace@example.org', first_name: 'Grace', last_name: 'Hopper' }
  const { id } = await community.call('members.create', { network, body })
  await community.members.remove('1', id)
  const space = await community.call('spaces.create', { network, body: { name: 'Garden' } })
  await community.call('posts.create', { network, body: { space_id: space.id, title: 'Roses', description: 'x' } })
  await community.notify.plan({ network, name: 'Gold & <b>more</b>', pricing_type: 'subscription' })
  const report = { targetable_type: 'User', targetable_id: id, report_type: 'spam' } as const
  await community.notify.abuseReport({ network, member_id: owner.id, ...report })
  const after = (await get('1/overview')).text
  expect(figures(after)).toMatchObject({ Members: '1', Joined: '2', Left: '1', Posts: '1' })
  expect(after).toContain('<a href="../1/reports">1 open abuse report</a>')
  expect(after).toContain('1 delivery failed for good</a>')
  expect(after).toContain('<bdi>Gold &amp; &lt;b&gt;more&lt;/b&gt;</bdi></a></th><td data-label="Members">0</td>')
})

test('the reference has a page for every operation', async () => {
  const { get, community } = await createTestPanel()
  const { text } = await get('1/reference')
  const ids = [...text.matchAll(/reference\/([\w.]+)"/g)].map(([, id]) => id ?? '')
  expect(ids.length).toBeGreaterThan(community.operations.length - 1)
  for (const id of ids) expect([id, (await get(`1/reference/${id}`)).status]).toEqual([id, 200])
  expect((await get('1/reference/none.such')).status).toBe(404)
  expect((await get('1/reference/assets.create')).text).toContain('asset_style')
  const create = (await get('1/reference/tags.create')).text
  for (const part of ['POST', 'tags:write', '&quot;title&quot;', '422']) expect(create).toContain(part)
})

test('what no relay tries again stands first, on the overview and on the page of its endpoint', async () => {
  const relay = relayOf()
  const { get, community } = await createTestPanel(admin, { relay, clock: { now: () => Date.parse('2026-11-20T10:00:30Z') } })
  const { id } = await community.endpoints.upsert({ network: '1', url: 'https://hooks.example.org/a', token: true })
  relay.endpoints.push({ endpoint_id: id, dead: 3, last_success_at: '2026-11-20T09:59:00Z', hours: [[9, 1]] })
  const overview = (await get('1/overview')).text
  expect(overview).toMatch(
    /<div class="grid">\s*<div class="card"><div class="soft">Failed for good<\/div><div class="big">3<\/div>.*deliveries\?state=dead/,
  )
  const shown = (await get(`1/webhooks/${id}`)).text
  expect(shown).toMatch(
    /data-part="failed"><div class="note bad" role="alert"><p><a href="[^"]*">3 deliveries failed for good<\/a>/,
  )
  expect(shown.indexOf('failed for good')).toBeLessThan(shown.indexOf('data-part="health"'))
  expect(shown).toContain('Resend failed (3)')
  expect(shown).toContain('none since the last delivery')
  const list = (await get('1/webhooks')).text
  expect(list).toContain('<td data-label="Failed for good">3</td>')
  for (const text of [shown, list]) {
    expect(text).toContain('<span class="badge bad">Some failed for good</span>')
    expect(text).not.toContain('>Delivering<')
  }
  expect(overview.indexOf('3 deliveries failed for good')).toBeLessThan(overview.indexOf('<h2>'))
})

/** The cells of the tables of fields on the site, for each operation, without the marks of Markdown. */
const cellsOnSite = new Map(
  globSync('docs/operations/*.md').flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n## ')
      .slice(1)
      .map((section) => {
        const rows = [...section.matchAll(/^\| (`.*) \|$/gm)].map(([, cells = '']) => cells.replaceAll('`', '').split(' | '))
        return [section.slice(0, section.indexOf('\n')), rows] as const
      }),
  ),
)
const textOf = (marked: string) =>
  marked
    .replace(/<[^>]+>/g, '')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&')

test('the reference has the tables of fields that the site has, with code set as code', async () => {
  const { get } = await createTestPanel()
  const different: unknown[] = []
  let count = 0
  for (const [id, expected] of cellsOnSite) {
    const { text } = await get(`1/reference/${id}`)
    if (textOf(text).includes('`')) different.push([id, 'has backticks'])
    const rows = [...text.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row = '']) =>
      [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => textOf(cell).trim()),
    )
    for (const row of expected) {
      count += 1
      if (!rows.some((each) => each.join(' | ') === row.map((cell) => cell.trim()).join(' | '))) different.push([id, row])
    }
  }
  expect(different).toEqual([])
  expect([cellsOnSite.size > 100, count > 200]).toEqual([true, true])
  expect((await get('1/reference/members.create')).text).toContain('It sends <code>MemberJoinedHook</code> for')
  for (const page of ['1/webhooks/events', '1/webhooks/events/MemberCourseProgressUpdated'])
    expect((await get(page)).text).toContain('<code>progress_percent</code>')
})

test('times have one form on every page', async () => {
  const at = '2026-11-20T09:00:01.000Z'
  const attempt = {
    number: 1,
    at,
    milliseconds: 31,
    status: 500,
    outcome: 'status',
    answer: null,
    answer_headers: null,
    reason: null,
  }
  const relay = relayOf({ 1: [deliveryOf('d1', { history: [attempt] })] })
  const { get, post } = await createTestPanel(admin, { relay })
  await post('1/keys', { name: 'Sync', access: '*' })
  const pages = ['overview', 'members', 'keys', 'audit', 'deliveries', 'deliveries/d1']
  const seen = await Promise.all(pages.map(async (path) => (await get(`1/${path}`)).text))
  const times = seen.flatMap((text) => [...text.matchAll(/<time datetime="[^"]*">([^<]*)/g)].map(([, shown = '']) => shown))
  expect(times.length).toBeGreaterThan(8)
  expect(times.filter((shown) => !/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/.test(shown))).toEqual([])
})
