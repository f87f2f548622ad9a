/**
 * Takes a picture of every page of the panel at 1280 and 360 pixels, in light and in dark, for people to look at. It needs Chromium:
 * `npx node scripts/panel-pictures.ts [DIRECTORY] [PART OF A PATH]`. Without a directory they go into a new temporary one.
 * `npx node scripts/panel-pictures.ts docs/images` takes those that the documentation shows.
 */
import { mkdirSync, mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { panelMiddleware } from '../adapters/http/node.ts'
import { createPanel, type Visitor } from '../lib/panel/index.ts'
import { navigation } from '../lib/panel/pages/index.ts'
import { executablePath, isInstalled, launch } from '../test/browser/browser.ts'
import { deliveryOf, relayOf } from '../test/lib/panel/relay.ts'
import { createSeededCommunity, seeded } from '../test/support/seed.ts'

if (!isInstalled) throw new Error(`there is no ${executablePath}: install Chromium`)
const [directory = mkdtempSync(join(tmpdir(), 'folkmoot-pictures-')), part = ''] = process.argv.slice(2)

const { community, clock } = await createSeededCommunity()
const now = clock.now()
const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString()
const network = '1'
const { network: empty } = await community.networks.create({
  ...{ id: '2', subdomain: 'quiet', title: 'Quiet Corner' },
  owner: { email: 'owner@example.org', first_name: 'Bob', last_name: 'Host' },
})
const acting = community.by({ actor: 'ada@example.org', address: '192.0.2.77' })

for (const [name, scopes] of [
  ['Mail sync', ['members:read', 'tags:read']],
  ['Course import with a name that is rather long', ['spaces:write', 'posts:write', 'courseworks:read', 'events:write']],
  ['Old script', ['*']],
] as const)
  await acting.keys.create({ network, name, scopes, expires_at: new Date(now + 9e9).toISOString() })
const [newest] = await community.keys.list(network)
if (newest) await acting.keys.revoke(network, newest.id)

const relay = relayOf({}, now)
const endpoints: string[] = []
for (const [name, url, activity, rate, dead, more] of [
  ['Billing', 'https://billing.example.org/webhooks', 'delivering', 1, 0, {}],
  [null, 'https://crm.example.org/a/path/that/goes/on/and/on/for/ever/webhooks', 'circuit open', 0.4, 3, {}],
  ['Newsletter', 'https://news.example.org/hooks', 'paused', 0.9, 0, { enabled: false, events: ['MemberJoinedHook'] }],
  ['Search of the whole community, every post and comment', 'https://search.example.org/in', 'unreadable', 0, 12, {}],
  ['Archive', 'http://127.0.0.1:4000/', 'probing', 0.5, 0, { order: 'fifo', rate_per_second: 5 }],
] as const) {
  const { id } = await acting.endpoints.upsert({ network, name, url, token: true, secrets: true, ...more })
  endpoints.push(id)
  const hours = Array.from({ length: 24 }, (_, hour): [number, number] => [
    Math.round((20 + ((hour * 7) % 31)) * rate),
    hour % 5 === 0 || rate < 0.5 ? Math.round(12 * (1 - rate)) : 0,
  ])
  relay.endpoints.push({
    ...{ endpoint_id: id, activity, dead, pending: rate < 1 ? 36 : 0, hours: rate === 0 ? [] : hours },
    ...(rate < 1 ? { oldest_pending_at: ago(170), last_error: 'HTTP 503', next_probe_at: ago(-4), failing_since: ago(190) } : {}),
    ...(rate > 0 ? { last_success_at: ago(12) } : {}),
    ...(activity === 'unreadable' ? { reason: 'Its key is encrypted with a key that the relay does not have: 2026-10.' } : {}),
  })
}
await acting.endpoints.update(network, endpoints[0] ?? '', {
  filter: { path: '/space_id', equals: '201' },
  allow_addresses: ['192.0.2.0/24'],
})
const [first = '', second = ''] = endpoints
const types = ['PostCreated', 'MemberJoined', 'CommentCreated', 'MemberCourseProgressCompleted', 'RsvpCreated']
const answer = '{"error":"The queue is full. Try again later."}'
const failing = { number: 1, milliseconds: 31, status: 503, outcome: 'status', answer, answer_headers: null, reason: null }
const made = Array.from({ length: 60 }, (_, place) => {
  const state = place % 7 === 3 ? 'dead' : place % 9 === 1 ? 'pending' : place % 23 === 20 ? 'skipped' : 'delivered'
  const isBad = state === 'dead' || state === 'pending'
  return deliveryOf(`d${place}`, {
    ...{ event_id: `${String(place).padStart(8, '0')}-4e7c-4a0e-9d51-2f64a1b0c3d${place % 10}`, state },
    ...{ event_type: `${types[place % types.length]}Hook`, endpoint_id: endpoints[place % endpoints.length] ?? first },
    ...{ last_attempt_at: ago(place * 13), event_timestamp: ago(place * 13 + 1), attempts: isBad ? 6 : 1 },
    ...(isBad ? { last_outcome: place % 2 ? 'timeout' : 'status', last_status: place % 2 ? null : 503 } : {}),
    ...(state === 'pending' ? { next_attempt_at: ago(-7) } : {}),
    history: isBad
      ? [1, 2, 3].map((number) => ({ ...failing, number, at: ago(place * 13 + 20 - number) }))
      : [{ ...failing, at: ago(place * 13), status: 204, outcome: 'delivered', answer: null }],
    body: JSON.stringify({
      event_type: 'PostCreatedHook',
      payload: { id: '401', title: 'Hello', creator: { email: 'a@b.example' } },
    }),
  })
})
relay.list = async ({ limit = 50, state, network_id }) => {
  const items = network_id === empty.id ? [] : made.filter((each) => state === undefined || each.state === state)
  return { items: items.slice(0, limit), next: items.length > limit ? '50' : null }
}
relay.get = async ({ id }) => made.find((each) => each.id === id)
relay.count = async () => ({ count: 8, exact: true })
relay.activity = async ({ network_id }) => ({
  minutes: Array.from({ length: network_id === empty.id ? 0 : 150 }, (_, place) => ({
    ...{ at: ago(150 - place), delivered: (place * 13) % 47, failed: place % 17 === 0 ? 9 : 0 },
    circuit_changes: place === 90 ? 1 : 0,
  })),
  ...{ oldest_pending_at: network_id === empty.id ? null : ago(170), pending: { count: 180, exact: true } },
})
const { id: resend } = await relay.resend({ network_id: network, per_second: 10, actor: 'ada@example.org' })

await acting.members.changeRole(network, seeded.member, 'moderator')
await acting.members.ban(network, seeded.limited, { reason: 'Sells watches in every space, after two warnings.' })
const { id: report } = await community.notify.abuseReport({
  ...{ network, member_id: seeded.member, targetable_type: 'Post', targetable_id: seeded.post, report_type: 'spam' },
  reason: 'Sells shoes.',
})

const admin: Visitor = { actor: 'ada@example.org', networks: 'all', access: 'all' }
const scalar = async () => new Uint8Array()
const panel = createPanel(community, {
  ...{ relay, clock, scalar, signOut: 'out', basePath: '', maskedFields: ['email'] },
  // The address says who comes.
  authorize: ({ url }) => (url.includes('by=nobody') ? null : { ...admin, access: url.includes('by=reader') ? 'read' : 'all' }),
})
const middleware = panelMiddleware(panel)
const server = createServer((request, response) => middleware(request, response, () => response.end()))
await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
const address = server.address()
const origin = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`

const of = (start: string, pages: readonly string[]) => pages.map((page) => `1/${start}${page}`)
const paths = [
  ...['', '?by=nobody', '9/overview', '1/nothing', '1/webhooks?by=reader'],
  ...navigation.flatMap(({ path }) => [`1/${path}`, `2/${path}`]),
  '1/read-only',
  ...of('keys', ['/new', '?status=revoked', '/new!', `/${newest?.id}/revoke`]),
  ...of('webhooks', ['/new', '/channel', '/new!', '/new+', '/events', '/events/PostCreated']),
  ...of(`webhooks/${first}`, ['', '/edit', '/rotate', '/remove', '/test*']),
  ...of('webhooks/', [second, endpoints[2] ?? '', endpoints[3] ?? '']),
  ...of('deliveries', ['?state=dead', '?state=wrong&since=x', '/d3', '/d0?body=1', '/d1', '/resend?all=1', `/resends/${resend}`]),
  ...of('reference', ['/tags.create', '/members.create', '/members.list', '/assets.create', '/events.create']),
  ...of('members', [
    '?state=banned',
    '?role=host&sort=-name',
    '/import',
    '/bulk',
    '/bulk?id=101&id=102',
    '/new',
    '/new!',
    '/invite',
  ]),
  ...of(`members/${seeded.member}`, ['', '/ban', '/remove', '/role?role=moderator', '/erase']),
  ...of(`members/${seeded.limited}`, ['', '/unban']),
  ...of('labels', [
    '?kind=badge',
    '?kind=tag&unused=1',
    `/tag/${seeded.tag}/edit`,
    `/tag/${seeded.tag}/merge`,
    `/tag/${seeded.tag}/delete`,
  ]),
  ...of(`reports/${report}`, ['/dismiss', '/delete_content', '/ban_author']),
  ...of('audit', ['?action=nothing&from=x', '?subject=endpoint:1']),
].filter((path) => path.includes(part))

mkdirSync(directory, { recursive: true })
const browser = await launch()
const forDocs = resolve(directory) === fileURLToPath(new URL('../docs/images', import.meta.url))
const documented = forDocs ? (['keys light', 'webhooks light', 'webhooks dark'] as const) : []
for (const each of documented) {
  const [path, colorScheme] = each.split(' ') as ['keys' | 'webhooks', 'light' | 'dark']
  const context = await browser.newContext({ colorScheme, viewport: { width: 1180, height: 600 }, locale: 'en-GB' })
  const page = await context.newPage()
  await page.goto(`${origin}/1/${path}`)
  await page.screenshot({ path: join(directory, `panel-${path}-${colorScheme}.png`) })
  await context.close()
}
const looks = [
  [1280, 'light'],
  [1280, 'dark'],
  [360, 'light'],
  [360, 'dark'],
] as const
for (const [width, colorScheme] of forDocs ? [] : looks) {
  const options = { colorScheme, viewport: { width, height: 800 }, timezoneId: 'Europe/Berlin', locale: 'en-GB' } as const
  const context = await browser.newContext({ ...options, reducedMotion: 'reduce' })
  const page = await context.newPage()
  for (const path of paths) {
    // `!`: an empty form is sent; `*`: the form of this action is; `+`: everything is unfolded.
    await page.goto(`${origin}/${path.replace(/[!+]$/, '').replace(/\/[^/]*\*$/, '')}`)
    if (path.endsWith('!')) await sent('form[method=post]')
    if (path.endsWith('*')) await sent(`form[action$=${/([^/]*)\*$/.exec(path)?.[1]}]`)
    if (path.endsWith('+'))
      await page.evaluate(
        `for (const each of document.querySelectorAll('details,fieldset [type=radio][value=chosen]')) each.open = each.checked = true`,
      )
    const name = path.replaceAll(/[^\w.]+/g, '-') || 'networks'
    await page.screenshot({ path: join(directory, `${name}-${width}-${colorScheme}.png`), fullPage: true })
  }
  async function sent(form: string) {
    await page.evaluate(`document.querySelector('#main ${form}').noValidate = true`)
    await Promise.all([page.waitForResponse(/./), page.locator(`#main ${form} button`).last().click()])
    await page.locator('#main').waitFor()
  }
  await context.close()
}
await browser.close()
server.closeAllConnections()
server.close()
await community.close()
process.stdout.write(`${forDocs ? documented.length : paths.length * looks.length} pictures are in ${directory}\n`)
