/** Every page of the panel in Chromium, for a network whose people write markup, and words that never end. */
import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import type { Visitor } from '../../lib/panel/index.ts'
import { routes } from '../../lib/panel/pages/index.ts'
import { scoped } from '../../lib/storage/scoped.ts'
import type { Row, Table } from '../../lib/storage/table.ts'
import { tables } from '../../lib/storage/tables.ts'
import { deliveryOf, relayOf } from '../lib/panel/relay.ts'
import { seed, seeded } from '../support/seed.ts'
import { shared } from '../support/shared.ts'
import { type Browser, connect, errorsOf, isInstalled } from './browser.ts'
import { startSite } from './site.ts'

const markup = `"><script>document.title='owned'</script><img src=x onerror="document.title='owned'">'\`\${1}&lt;\u202eabc`
const texts = { markup, long: 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerk'.repeat(3) }
const links = ['avatar', 'link', 'url']
const written = [
  ...['first_name', 'last_name', 'title', 'name', 'description', 'summary', 'bio', 'location', 'text', 'reason'],
  ...['report_type', 'ambassador_level', 'time_zone', 'placeholder', ...links],
]

/** Puts a text into everything that a person has written, past the rules of the interface. */
function rewritten(row: Row, text: string): object {
  const names = written.filter((name) => typeof row[name as keyof Row] === 'string')
  return Object.fromEntries(names.map((name) => [name, links.includes(name) ? `javascript:alert(1)//${text}` : text]))
}

/** A network of hostile people, whom a hostile admin of a hostile product looks at. */
async function hostileSite(text: string) {
  const storage = memoryStorage()
  const visitor: Visitor = { actor: text, networks: 'all', access: 'all' }
  const now = Date.now()
  const [endpoint_id, delivery] = ['7', text.slice(0, 150)]
  const attempt = { number: 1, at: '2026-11-20T09:00:00.000Z', milliseconds: 31, status: 500, outcome: text, reason: text }
  const history = [{ ...attempt, answer: text, answer_headers: text }]
  const body = JSON.stringify({ [text]: text, url: 'javascript:alert(1)' })
  const relay = relayOf(
    { 1: [deliveryOf(delivery, { history, body, event_id: text, event_type: text, last_outcome: text })] },
    now,
  )
  const site = await startSite(() => visitor, { relay, signOut: 'out', brand: { name: text.slice(0, 60) } }, storage)
  const { community } = site
  const [owner] = (await community.members.list('1')).items
  await storage.transaction(async (tx) => {
    const own = scoped(tx, '1')
    await seed(own, owner?.id ?? '', now)
    const many = (tables as readonly Table<Row>[]).filter(({ name }) => !/network|endpoint|audit|once/.test(name))
    for (const table of many)
      for (const row of await own.find(table, { where: {} })) {
        const changes = rewritten(row, text)
        if (Object.keys(changes).length > 0) await own.update(table, row.id, changes)
      }
  })
  const network = '1'
  const acting = community.by({ actor: text.slice(0, 200), address: text.slice(0, 100) })
  await acting.keys.create({ network, name: text, scopes: ['*'] })
  const given = { name: text, url: `https://a.example.org/${encodeURIComponent(text)}`, filter: { path: '/title', equals: text } }
  const endpoint = await acting.endpoints.upsert({ network, ...given, token: true, secrets: true })
  Object.assign(relay.endpoints, [
    {
      endpoint_id: endpoint.id,
      name: text,
      dead: 3,
      pending: 2,
      last_error: text,
      reason: text,
      circuit: 'open',
      hours: [[3, 2]],
    },
  ])
  await acting.members.ban(network, seeded.limited, { reason: text })
  await community.call('member_tags.create', { network, params: { member_id: '102' }, body: { tag_id: seeded.tag } })
  const report = {
    network,
    member_id: '102',
    targetable_type: 'User',
    targetable_id: seeded.member,
    report_type: 'spam',
  } as const
  const { id } = await community.notify.abuseReport({ ...report, reason: text })
  await relay.resend({ network_id: network, per_second: 10, actor: text })
  const [key] = await community.keys.list(network)
  const ids: Readonly<Record<string, string | undefined>> = {
    ...{ members: seeded.member, keys: key?.id, webhooks: endpoint.id, deliveries: delivery, resends: 'r1', reports: id },
    ...{ tag: seeded.tag, badge: seeded.badge, reference: 'members.create', [endpoint_id]: endpoint.id },
  }
  return { ...site, ids }
}

/** The pages of all routes, each with the id of a record that is there. Some need a query or another record, and downloads are none. */
function pagesOf(ids: Readonly<Record<string, string | undefined>>): readonly string[] {
  const paths = routes.flatMap(({ method, path }) => {
    if (method !== 'GET' || /export$|\/role$|^deliveries\/:id\/try$|reference\/(?:try|openapi)/.test(path)) return []
    if (path.includes(':kind')) return ['tag', 'badge'].map((kind) => path.replace(':kind', kind))
    return [path]
  })
  return paths.map((path) =>
    path
      .split('/')
      .map((part, at, parts) => {
        if (part === ':name') return 'PostCreated'
        return part === ':id' ? encodeURIComponent(ids[parts[at - 1] ?? ''] ?? '1') : part
      })
      .join('/'),
  )
}

const more = [
  'members?q=x&sort=name',
  `members/${seeded.limited}`,
  `members/${seeded.limited}/unban`,
  'members/101/role?role=host',
]
const merged = `labels/tag/${seeded.tag}/merge?into=${seeded.spareTag}`

describe.skipIf(!isInstalled)('the panel of a hostile network in Chromium', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await connect(await shared('browser'))
  })
  afterAll(() => browser.close())

  test.each(Object.entries(texts))('no page runs or widens by what people write: %s', { timeout: 300_000 }, async (_, text) => {
    const site = await hostileSite(text)
    const context = await browser.newContext({ viewport: { width: 360, height: 800 }, colorScheme: 'dark' })
    try {
      const page = await context.newPage()
      const errors = errorsOf(page)
      page.on('request', (request) => {
        if (!request.url().startsWith(site.origin) && !request.url().startsWith('data:')) errors.push(request.url())
      })
      const seen: unknown[] = []
      for (const path of [
        ...pagesOf(site.ids),
        ...more,
        merged,
        `deliveries/${encodeURIComponent(site.ids['deliveries'] ?? '')}?body=1`,
      ]) {
        const status = (await page.goto(`${site.panel}/1/${path}`))?.status()
        const found = await page.evaluate(`(() => {
          for (const each of document.querySelectorAll('details')) each.open = true
          const links = [...document.querySelectorAll('[href],[src],[action]')].flatMap((each) => ['href', 'src', 'action'].map((name) => each.getAttribute(name) ?? ''))
          return [links.filter((link) => /^\\s*(?:javascript|vbscript|data:text)/i.test(link)), document.scripts.length, document.images.length,
            document.documentElement.scrollWidth, document.title.startsWith('owned')]
        })()`)
        seen.push([path, status, found])
      }
      expect(seen.length).toBeGreaterThan(45)
      expect(seen.filter((each) => !/,200,,1,0,360,false$/.test(String(each)))).toEqual([])
      expect(errors).toEqual([])
    } finally {
      await context.close()
      await site.close()
    }
  })

  test('a search after the end of a session leads to the sign-in of another origin', async () => {
    const login = createServer((_, response) => response.end('Sign in here'))
    await new Promise<void>((resolve) => login.listen(0, '127.0.0.1', resolve))
    const address = login.address()
    const port = typeof address === 'object' && address ? address.port : 0
    let visitor: Visitor | null = { actor: 'ada@example.org', networks: 'all', access: 'all' }
    const site = await startSite(() => visitor, { signIn: `http://localhost:${port}/in` })
    const context = await browser.newContext()
    try {
      const page = await context.newPage()
      await page.goto(`${site.panel}/1/members`)
      visitor = null
      await page.getByLabel('Name, address or id').fill('grace')
      await page.getByRole('button', { name: 'Search' }).click()
      await page.getByText('Sign in here').waitFor()
      expect(new URL(page.url()).searchParams.get('return_to')).toContain('/1/members?q=grace')
    } finally {
      await context.close()
      await site.close()
      await new Promise((resolve) => login.close(resolve))
    }
  })
})
