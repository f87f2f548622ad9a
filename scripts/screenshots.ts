/**
 * Makes the pictures of the panel for `docs/images/`. It needs Chromium, as the tests of
 * `test/browser` do: `npx node scripts/screenshots.ts`.
 */
import { mkdirSync } from 'node:fs'
import { executablePath, isInstalled, launch } from '../test/browser/browser.ts'
import { startSite } from '../test/browser/site.ts'
import { relayOf } from '../test/lib/panel/relay.ts'

if (!isInstalled) throw new Error(`there is no ${executablePath}: install Chromium`)

const now = Date.now()
const relay = relayOf({}, now)
const site = await startSite(() => ({ actor: 'ada@example.org', networks: [1], access: 'all' }), {
  relay,
  brand: { name: 'Network settings', accent: '#b5481d' },
})
for (const [name, scopes] of [
  ['Mail sync', ['members:read', 'tags:read']],
  ['Course import', ['spaces:write', 'posts:write']],
  ['Old script', ['*']],
] as const)
  await site.community.keys.create({ network: '1', name, scopes })
const old = (await site.community.keys.list('1')).at(-1)
if (old) await site.community.keys.revoke('1', old.id)
for (const [name, activity, hours] of [
  [
    'billing',
    'delivering',
    [
      [30, 0],
      [40, 2],
      [35, 0],
      [50, 6],
      [42, 0],
      [61, 1],
    ],
  ],
  [
    'crm',
    'circuit open',
    [
      [20, 0],
      [24, 0],
      [21, 3],
      [4, 20],
      [0, 24],
      [0, 12],
    ],
  ],
] as const) {
  const endpoint = { network: '1', url: `https://${name}.example.org/webhooks`, token: true } as const
  const { id } = await site.community.endpoints.upsert(endpoint)
  const pending = activity === 'delivering' ? 0 : 36
  relay.endpoints.push({
    endpoint_id: id,
    activity,
    pending,
    oldest_pending_at: pending > 0 ? new Date(now - 3_000_000).toISOString() : null,
    hours: hours.map(([delivered, failed]) => [delivered, failed]),
  })
}

mkdirSync('docs/images', { recursive: true })
const browser = await launch()
for (const [name, colorScheme] of [
  ['keys', 'light'],
  ['webhooks', 'light'],
  ['webhooks', 'dark'],
] as const) {
  const viewport = { width: 1000, height: 430 }
  const context = await browser.newContext({ colorScheme, viewport, timezoneId: 'UTC', locale: 'en-GB' })
  const page = await context.newPage()
  await page.goto(`${site.panel}/1/${name}`)
  await page.screenshot({ path: `docs/images/panel-${name}-1000-${colorScheme}.png` })
  await context.close()
}
await browser.close()
await site.close()
