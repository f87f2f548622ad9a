/**
 * `npm run docs:try`, after `npm run docs:build`: looks at the built site. Every link between its pages leads to a page and a section.
 * In Chromium every page fits 360 and 1,280 pixels and is not too high, and every table 1,280. Dark and light differ, the search
 * finds what it should, tabs switch, and the playground plays.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, extname, join, posix } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { previews } from '../lib/http/previews.ts'
import { operations as registry } from '../lib/operations.ts'
import { isInstalled, launch, type Page } from '../test/browser/browser.ts'

const built = fileURLToPath(new URL('../docs/site/.vitepress/dist/', import.meta.url))
if (!existsSync(join(built, 'index.html'))) {
  process.stderr.write('there is no built site: run `npm run docs:build` first\n')
  process.exit(2)
}

const files = readdirSync(built, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'))
const pages = files.filter((name) => name.endsWith('.html') && name !== '404.html')
const textOf = new Map(pages.map((page) => [page, readFileSync(join(built, page), 'utf8')]))
const idsOf = new Map(
  [...textOf].map(([page, text]) => [page, new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))]),
)
const faults: string[] = []

/** The page and the section that a link leads to. */
function targetOf(page: string, href: string): readonly [file: string, section: string] {
  const [path = '', section = ''] = href.split('#')
  const file = path === '' ? page : path.startsWith('/') ? path.slice(1) : posix.join(dirname(page), path)
  return [file === '' || file.endsWith('/') ? `${file}index.html` : file, decodeURIComponent(section)]
}

for (const [page, text] of textOf)
  for (const [, href = ''] of text.matchAll(/<a\b[^>]* href="([^"]+)"/g)) {
    if (/^[a-z]+:/.test(href)) continue
    const [file, section] = targetOf(page, href.replaceAll('&amp;', '&'))
    if (!files.includes(file)) faults.push(`${page} links to ${href}, which is not there`)
    else if (section !== '' && idsOf.has(file) && !idsOf.get(file)?.has(section))
      faults.push(`${page} links to ${href}: no such section`)
  }
for (const [page, text] of textOf) {
  const [, name] = />([\w/-]+\.md)<\/a>/.exec(text) ?? []
  if (name) faults.push(`${page} names the file ${name} in place of a page`)
}
for (const page of pages) if (!files.includes(page.replace(/html$/, 'md'))) faults.push(`${page} is not there as Markdown`)
const index = readFileSync(join(built, 'llms.txt'), 'utf8')
for (const page of pages)
  if (!index.includes(`(/${page.replace(/html$/, 'md')}): `)) faults.push(`llms.txt does not list ${page} with a sentence`)

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
}

/** How far the page is wider than the window, in pixels, with the element that sticks out most. */
const overflow = `(() => {
  const wide = document.documentElement.scrollWidth - innerWidth
  if (wide <= 0) return ''
  const all = [...document.querySelectorAll('main *')].map((each) => [each.getBoundingClientRect().right, each.tagName + '.' + each.className])
  return wide + ' px, ' + all.sort(([a], [b]) => b - a)[0]
})()`

/** The first table that is wider than its place. On a narrow screen a table scrolls. */
const cutTable = `(() => {
  const table = [...document.querySelectorAll('main table')].find((each) => each.scrollWidth > each.clientWidth)
  return table ? table.scrollWidth + ' of ' + table.clientWidth + ' px, ' + table.textContent.trim().slice(0, 40) : ''
})()`

/** A reader can still find their place on a page of this height, in pixels at a width of 1,280. */
const mostHeight = 12_000

/** The pages that may be higher, and why. */
const high: Readonly<Record<string, string>> = {
  'gaps.html': 'one list in the order of the interface, in which a reader searches for a word',
}

/** The layout of every page, which needs none of its scripts. */
async function measure(page: Page, origin: string): Promise<void> {
  for (const name of pages) {
    await page.goto(`${origin}/${name}`)
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 })
      const wide = await page.evaluate(overflow)
      if (wide !== '') faults.push(`${name} is wider than ${width} pixels: ${wide}`)
      if (width === 1280) {
        const height = await page.evaluate('document.documentElement.scrollHeight')
        const isHigh = typeof height !== 'number' || height > mostHeight
        if (isHigh && !high[name]) faults.push(`${name} is ${height} pixels high: split it, or fold a part`)
        if (!isHigh && high[name]) faults.push(`${name} is no longer too high: take it out of the exceptions`)
      }
      const cut = width === 1280 ? await page.evaluate(cutTable) : ''
      if (cut !== '') faults.push(`${name} hides a part of a table in ${width} pixels: ${cut}`)
    }
  }
}

async function use(page: Page, origin: string): Promise<void> {
  page.on('pageerror', (error) => faults.push(`a page throws ${error.message}`))
  page.on('request', (request) => {
    if (!/^(?:http:\/\/127\.0\.0\.1:|data:|blob:)/.test(request.url())) faults.push(`a page loads ${request.url()}`)
  })
  const background = 'getComputedStyle(document.body).backgroundColor'
  const shown: unknown[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.goto(`${origin}/concepts.html`)
    shown.push(await page.evaluate(background))
  }
  if (shown[0] === shown[1]) faults.push(`dark and light have the same background, ${shown[0]}`)
}

/** A page says its version, and leads to the file that a reader can change. Those that are generated don't. */
const { version } = JSON.parse(readFileSync(join(built, '../../../../package.json'), 'utf8')) as { readonly version: string }
const edits = (page: string): boolean => textOf.get(page)?.includes(`/edit/main/docs/${page.replace(/html$/, 'md')}`) ?? false
if (!edits('tutorial.html') || edits('options.html'))
  faults.push('the links to edit a page are not on the pages that people write')
for (const [page, text] of textOf) if (!text.includes(`>${version}<`)) faults.push(`${page} does not say its version`)

/** What a reader types into the search, and the section that is found first. */
const searches = {
  'ban a member': 'operations/space_members.html#space_membersban',
  'api key': 'security.html#api-keys',
  backup: 'security.html#backups',
  cors: 'hosts.html#from-a-browser',
  'create member': 'operations/members.html#memberscreate',
  'delete account': 'operations/members.html#membersdelete',
  docker: 'operating/install.html#in-containers',
  idempotency: 'errors.html#idempotency',
  'import csv': 'panel/pages.html#import-members',
  login: 'panel.html#access',
  postgres: 'storage.html#postgresql-in-production',
  prisma: 'host-transactions.html#with-prisma',
  'rate limit': 'embedding/limits.html#rate-limits',
  retry: 'webhooks/deliver.html#retries',
  'rotate secret': 'webhooks/verify.html#change-a-token-or-a-signing-secret',
  'sign in': 'panel.html#access',
  'upload file': 'embedding/limits.html#uploads',
  'webhook signature': 'webhooks/verify.html#signatures',
} as const

async function searchFor(page: Page, origin: string): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto(`${origin}/index.html`)
  await page.locator('.VPNavBarSearch button').first().click()
  for (const [words, section] of Object.entries(searches)) {
    await page.locator('#localsearch-input').fill(words)
    const first = page.locator('.VPLocalSearchBox #localsearch-item-0')
    const found = page.locator(`.VPLocalSearchBox #localsearch-item-0 .result[href$="/${section}"]`)
    await found.waitFor({ timeout: 5000 }).catch(async () => {
      const other = (await first.count()) === 0 ? 'nothing' : await first.locator('.result').getAttribute('href')
      faults.push(`the search for "${words}" finds ${other} first, in place of ${section}`)
    })
  }
}

/** Chooses a tab on one page, and finds it chosen on another one. */
async function chooseTab(page: Page, origin: string): Promise<void> {
  const shown = '.vp-code-group .blocks > .active'
  await page.goto(`${origin}/tutorial.html`)
  await page.locator('.vp-code-group label[data-title="pnpm"]').first().click()
  for (const name of ['tutorial', 'agents']) {
    if (name !== 'tutorial') await page.goto(`${origin}/${name}.html`)
    await page.locator(`${shown}:has-text("pnpm add")`).first().waitFor()
    if ((await page.locator(`${shown}:has-text("npm install")`).count()) > 0)
      faults.push(`${name}.html shows two tabs of one group`)
  }
}

/** Adds a member in the playground, and looks at the response and the webhook. */
async function play(page: Page, origin: string): Promise<void> {
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 })
    await page.goto(`${origin}/playground.html`)
    await page.getByRole('button', { name: 'Send' }).click()
    const form = page.locator('form.playground')
    await form.locator('h3:has-text("Response: 201")').waitFor()
    await form.locator('summary:has-text("MemberJoinedHook")').waitFor()
    const operations = await form.locator('option[value*="."]').count()
    // All but the upload, whose body is not JSON. Some have two methods, and previews are no operation of the registry.
    const all = [...registry, previews].length + registry.filter(({ also }) => also).length - 1
    if (operations !== all) faults.push(`the playground has ${operations} operations in place of ${all}`)
    const wide = await page.evaluate(overflow)
    if (wide !== '') faults.push(`the playground is wider than ${width} pixels: ${wide}`)
  }
}

if (isInstalled) {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://site').pathname).slice(1)
    const file = path === '' ? 'index.html' : path
    if (!files.includes(file)) {
      faults.push(`a page loads ${file}, which is not there`)
      return response.writeHead(404).end()
    }
    response
      .writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' })
      .end(readFileSync(join(built, file)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const browser = await launch()
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const still = await browser.newContext({ javaScriptEnabled: false })
  await measure(await still.newPage(), origin)
  const live = await browser.newContext({ reducedMotion: 'reduce' })
  const page = await live.newPage()
  await use(page, origin)
  await searchFor(page, origin)
  await chooseTab(page, origin)
  await play(page, origin)
  await browser.close()
  server.closeAllConnections()
  server.close()
} else process.stderr.write('Chromium is not installed: no page was looked at\n')

for (const fault of new Set(faults)) process.stderr.write(`${fault}\n`)
process.stdout.write(`${pages.length} pages, ${new Set(faults).size} faults\n`)
process.exitCode = faults.length > 0 ? 1 : 0
